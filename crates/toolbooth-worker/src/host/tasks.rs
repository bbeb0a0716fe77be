//! Tasks: Durable Objects (`js/tasks.js`).

use js_sys::Promise;
use toolbooth::host::{BoxFuture, TASKS, TaskOperation, TaskRecord, Tasks};
use toolbooth::json;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{Bindings, reason, settled};

#[wasm_bindgen(module = "/js/task.js")]
extern "C" {
    /// Runs an operation, which is JSON, in an object. Resolves to the task as JSON.
    fn task(namespace: &JsValue, name: &str, operation: &str) -> Promise;
}

impl Tasks for Bindings {
    fn task<'a>(
        &'a self,
        name: &'a str,
        operation: &'a TaskOperation,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, String>> {
        Box::pin(async move {
            let namespace = self.binding(TASKS);
            let found = settled(task(&namespace, name, &json::to_string(operation))).await;
            let found = found.map_err(reason)?.as_string().unwrap_or_default();
            json::read(found.as_bytes()).ok_or_else(|| "its answer is malformed".to_owned())
        })
    }
}
