//! Tasks: Durable Objects (`js/tasks.js`).

use js_sys::Promise;
use toolbooth::host::{BoxFuture, TASKS, Tasks};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{Bindings, reason, settled};

#[wasm_bindgen(module = "/js/task.js")]
extern "C" {
    /// Runs an operation, which is JSON, in an object. Resolves to the task as JSON.
    fn task(namespace: &JsValue, name: &str, operation: &str) -> Promise;
}

impl Tasks for Bindings {
    fn operate<'a>(
        &'a self,
        name: &'a str,
        operation: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let found = settled(task(&self.binding(TASKS), name, operation)).await;
            Ok(found.map_err(reason)?.as_string().unwrap_or_default())
        })
    }
}
