//! Calls functions of tools in JavaScript: `js/tools.js` has their side.

use js_sys::Promise;
use toolbooth::Context;
use toolbooth::catalog::{RunError, ToolFuture};
use toolbooth::json::Value;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::Env;
use crate::host::settled;
use crate::js_value_cache::NAMES;

#[wasm_bindgen]
extern "C" {
    /// The report of a function, a promise of one, or a [`Run`] if `is_heard` and it waits. It does not throw.
    #[wasm_bindgen(js_namespace = ["globalThis", "__toolbooth_tools"], js_name = call, catch)]
    fn call(
        name: &JsValue,
        input: &str,
        given: &str,
        env: Option<&Env>,
        is_heard: bool,
    ) -> Result<JsValue, JsValue>;

    /// A function that runs, and whose client hears what it reports meanwhile.
    type Run;
    /// A promise of its next report.
    #[wasm_bindgen(method)]
    fn next(this: &Run) -> Promise;
}

/// Calls the function `name` in one call across the boundary, unless it reports something while it runs.
pub fn call_external<'a>(
    name: &'static str,
    input: &'a Value<'a>,
    context: &'a Context<'a>,
) -> ToolFuture<'a> {
    Box::pin(async move {
        let env = context.platform().downcast_ref();
        let (input, given) = (input.text(), context.for_external());
        let is_heard = context.is_heard();
        let called = NAMES.with(|names| {
            let call = |name: &JsValue| call(name, &input, &given, env, is_heard);
            names.with(name, true, JsValue::from_str, call)
        });
        // Without a report, the bundle lacks the function.
        let called = called.map_err(|_| RunError::Crashed)?;
        let next = || match called.dyn_ref::<Promise>() {
            Some(promise) => promise.clone(),
            None => called.unchecked_ref::<Run>().next(),
        };
        let mut report = called.as_string();
        loop {
            let text = match report.take() {
                Some(text) => Some(text),
                None => settled(next()).await.ok().and_then(|report| report.as_string()),
            };
            if let Some(end) = context.read_external(&text.ok_or(RunError::Crashed)?) {
                return end;
            }
        }
    })
}
