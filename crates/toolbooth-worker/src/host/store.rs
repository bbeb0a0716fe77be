//! The store: a KV namespace.

use std::time::Duration;

use js_sys::Promise;
use toolbooth::host::{KeyPage, SHORTEST_LIFE, Store, StoreError, async_trait};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{Bindings, reason, settled};

/// The name of the KV binding in `wrangler.toml`.
const KV: &str = "KV";

#[wasm_bindgen(module = "/js/kv.js")]
extern "C" {
    fn get(namespace: &JsValue, key: &str) -> Promise;
    fn put(namespace: &JsValue, key: &str, value: &str, life: Option<u32>) -> Promise;
    fn remove(namespace: &JsValue, key: &str) -> Promise;
    fn list(namespace: &JsValue, prefix: &str, cursor: Option<&str>) -> Promise;
}

impl Bindings {
    fn store(&self) -> Result<JsValue, StoreError> {
        let binding = self.binding(KV);
        if binding.is_object() {
            Ok(binding)
        } else {
            Err(StoreError(format!("the KV binding {KV} is missing")))
        }
    }
}

#[async_trait(?Send)]
impl Store for Bindings {
    async fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        let value = settled(get(&self.store()?, key)).await;
        value.map(|value| value.as_string()).map_err(|error| StoreError(reason(error)))
    }

    async fn put(&self, key: &str, value: &str, life: Option<Duration>) -> Result<(), StoreError> {
        let seconds = |life: Duration| life.max(SHORTEST_LIFE).as_secs();
        let life = life.map(|life| u32::try_from(seconds(life)).unwrap_or(u32::MAX));
        let put = settled(put(&self.store()?, key, value, life)).await;
        put.map(drop).map_err(|error| StoreError(reason(error)))
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let delete = settled(remove(&self.store()?, key)).await;
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
