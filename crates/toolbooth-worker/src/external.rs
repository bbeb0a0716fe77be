//! Calls functions of tools in JavaScript: `js/tools.js` has their side.

use js_sys::Promise;
use toolbooth::Context;
use toolbooth::catalog::{RunError, ToolFuture};
use toolbooth::json::Value;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::Env;
use crate::host::{milliseconds, settled};
use crate::js_value_cache::NAMES;

#[wasm_bindgen]
extern "C" {
    /// A promise of the report of a function, which runs after this has returned, or a [`Run`] if `is_heard`. It does not throw.
    #[wasm_bindgen(js_namespace = ["globalThis", "__toolbooth_tools"], js_name = call, catch)]
    fn call(
        name: &JsValue,
        input: &str,
        given: &str,
        limit: u32,
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
        let (is_heard, limit) = (context.is_heard(), milliseconds(context.time_limit()));
        let called = NAMES.with(|names| {
            let call = |name: &JsValue| call(name, &input, &given, limit, env, is_heard);
            names.with(name, true, JsValue::from_str, call)
        });
        // Without a report, the bundle lacks the function.
        let called = called.map_err(|_| RunError::Crashed)?;
        let text = |report: JsValue| report.as_string().ok_or(RunError::Crashed);
        let called = match called.dyn_into::<Promise>() {
            Err(run) => run.unchecked_into::<Run>(),
            Ok(promise) => {
                let report = settled(promise).await.map_err(|_| RunError::Crashed)?;
                return context.read_external(&text(report)?).unwrap_or(Err(RunError::Crashed));
            }
        };
        loop {
            let report = settled(called.next()).await.map_err(|_| RunError::Crashed)?;
            if let Some(end) = context.read_external(&text(report)?) {
                return end;
            }
        }
    })
}
