//! The store: a KV namespace.

use std::time::Duration;

use js_sys::Promise;
use toolbooth::host::{KeyPage, SHORTEST_LIFE, Store, StoreError, async_trait};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{Bindings, reason, settled};

/// The name of the KV binding in `wrangler.toml`.
const KV: &str = "KV";

#[wasm_bindgen(module = "/js/list.js")]
extern "C" {
    fn list(namespace: &Namespace, prefix: &str, cursor: Option<&str>) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// A KV namespace.
    type Namespace;
    #[wasm_bindgen(method)]
    fn get(this: &Namespace, key: &str) -> Promise;
    #[wasm_bindgen(method)]
    fn put(this: &Namespace, key: &str, value: &str, options: &js_sys::Object) -> Promise;
    #[wasm_bindgen(method)]
    fn delete(this: &Namespace, key: &str) -> Promise;
}

impl Bindings {
    fn store(&self) -> Result<Namespace, StoreError> {
        let binding = self.binding(KV);
        if binding.is_object() {
            Ok(binding.unchecked_into())
        } else {
            Err(StoreError(format!("the KV binding {KV} is missing")))
        }
    }
}

#[async_trait(?Send)]
impl Store for Bindings {
    async fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        let value = settled(self.store()?.get(key)).await;
        value.map(|value| value.as_string()).map_err(|error| StoreError(reason(error)))
    }

    async fn put(&self, key: &str, value: &str, life: Option<Duration>) -> Result<(), StoreError> {
        let options = js_sys::Object::new();
        if let Some(life) = life {
            let seconds = u32::try_from(life.max(SHORTEST_LIFE).as_secs()).unwrap_or(u32::MAX);
            // Setting a property of a plain object cannot fail.
            let _ = js_sys::Reflect::set(&options, &"expirationTtl".into(), &seconds.into());
        }
        let put = settled(self.store()?.put(key, value, &options)).await;
        put.map(drop).map_err(|error| StoreError(reason(error)))
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let delete = settled(self.store()?.delete(key)).await;
        delete.map(drop).map_err(|error| StoreError(reason(error)))
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<KeyPage, StoreError> {
        let page = settled(list(&self.store()?, prefix, cursor)).await;
        let page: js_sys::Array = page.map_err(|error| StoreError(reason(error)))?.unchecked_into();
        // The first element is the cursor, which is undefined on the last page.
        let mut texts = page.iter().map(|text| text.as_string());
        let cursor = texts.next().flatten();
        Ok(KeyPage { keys: texts.flatten().collect(), cursor })
    }
}
