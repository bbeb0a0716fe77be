//! Calls functions of tools in JavaScript: `js/tools.js` has their side.

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
    /// The report of a function, or a promise of one. It does not throw.
    #[wasm_bindgen(js_namespace = ["globalThis", "__toolbooth_tools"], js_name = call, catch)]
    fn call(
        name: &JsValue,
        input: &str,
        given: &str,
        env: Option<&Env>,
    ) -> Result<JsValue, JsValue>;
}

/// Calls the function `name` in one call across the boundary.
pub fn call_external<'a>(
    name: &'static str,
    input: &'a Value<'a>,
    context: &'a Context<'a>,
) -> ToolFuture<'a> {
    Box::pin(async move {
        let env = context.platform().downcast_ref();
        let (input, given) = (input.text(), context.for_external());
        let mut report = NAMES.with(|names| {
            names.with(name, true, JsValue::from_str, |name| call(name, &input, &given, env))
        });
        if let Some(promise) = report.as_ref().ok().and_then(JsCast::dyn_ref::<js_sys::Promise>) {
            report = settled(promise.clone()).await;
        }
        // Without a report, the bundle lacks the function.
        let report = report.ok().and_then(|report| report.as_string());
        report.map_or(Err(RunError::Crashed), |report| context.end_external(&report))
    })
}
