//! Implements the library's host traits with the Worker's bindings.
//!
//! - `http`: the HTTP client; `store`: Workers KV; `ledger` and `tasks`: Durable Objects; here: clock, random bytes, variables,
//!   signatures, limits and log.

mod http;
mod ledger;
mod store;
mod tasks;

use std::any::Any;
use std::time::Duration;

use js_sys::Promise;
use toolbooth::host::{
    BoxFuture, Clock, DataPoint, Level, Log, Metrics, NoRandomness, Platform, Random, RateLimit,
    SignatureAlgorithm, Signatures, Variables, async_trait,
};
use toolbooth::json::{self, Member, Value};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::Env;
use crate::js_value_cache::NAMES;

pub(crate) use http::JsByteStream;

/// The name of the Analytics Engine binding, which is optional.
const CALLS: &str = "CALLS";

#[wasm_bindgen(module = "/js/verify.js")]
extern "C" {
    fn verify(algorithm: &str, jwk: &str, message: &[u8], signature: &[u8]) -> Promise;
}

#[wasm_bindgen(module = "/js/measure.js")]
extern "C" {
    fn measure(binding: &JsValue, index: &str, blobs: &str, doubles: &[f64]);
}

#[wasm_bindgen(module = "/js/log.js")]
extern "C" {
    // One call into JS for each, with the text. Those of web-sys take a JS string, which is another.
    #[wasm_bindgen(js_name = log)]
    fn console_log(line: &str);
    #[wasm_bindgen(js_name = warn)]
    fn console_warn(line: &str);
    #[wasm_bindgen(js_name = error)]
    fn console_error(line: &str);
}

#[wasm_bindgen(module = "/js/variables.js")]
extern "C" {
    fn variables(env: &Env) -> String;
}

#[wasm_bindgen(module = "/js/limit.js")]
extern "C" {
    fn take(binding: &JsValue, key: &str, units: u32) -> Promise;
}

#[wasm_bindgen(module = "/js/timer.js")]
extern "C" {
    /// A timer that ends with the request.
    type Timer;
    #[wasm_bindgen(constructor)]
    fn new(milliseconds: u32) -> Timer;
    #[wasm_bindgen(method, getter)]
    fn promise(this: &Timer) -> Promise;
    #[wasm_bindgen(method)]
    fn stop(this: &Timer);
}

/// A timer that stops when nothing waits for it any more.
struct RunningTimer(Timer);

impl Drop for RunningTimer {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The bindings of one request.
pub(crate) struct Bindings {
    /// Its number.
    request: u32,
    env: Env,
}

impl Bindings {
    pub(crate) fn new(request: u32, env: Env) -> Self {
        Self { request, env }
    }

    /// The binding called `name`; undefined if there is none.
    fn binding(&self, name: &str) -> JsValue {
        let get = |name: &JsValue| js_sys::Reflect::get(&self.env, name).unwrap_or_default();
        NAMES.with(|cache| cache.with(name, true, JsValue::from_str, get))
    }
}

/// What a promise resolves to. The imports are functions that return promises, and this is the one place that waits for them:
/// an import that is an `async fn` would add the code that waits to each of its callers.
pub(crate) fn settled(promise: Promise) -> BoxFuture<'static, Result<JsValue, JsValue>> {
    Box::pin(JsFuture::from(promise))
}

/// The message of a JS error; empty for other values.
pub(crate) fn reason(error: JsValue) -> String {
    let error = error.dyn_into::<js_sys::Error>();
    error.map_or_else(|_| String::new(), |error| error.message().into())
}

pub(crate) fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

#[async_trait(?Send)]
impl Clock for Bindings {
    fn now_ms(&self) -> u64 {
        // `Date.now()` is a positive integer.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return js_sys::Date::now() as u64;
    }

    async fn sleep(&self, duration: Duration) {
        let timer = RunningTimer(Timer::new(milliseconds(duration)));
        // It does not fail.
        let _ = settled(timer.0.promise()).await;
    }
}

impl Random for Bindings {
    fn random_16(&self) -> Result<[u8; 16], NoRandomness> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map(|()| bytes).map_err(|_| NoRandomness)
    }
}

impl Variables for Bindings {
    fn variables(&self) -> Vec<(String, String)> {
        let texts = variables(&self.env);
        // It is what JavaScript writes.
        let Ok(Value::Object(texts)) = json::parse(&texts) else { return Vec::new() };
        let pair = |(name, text): &Member<'_>| Some((name.to_string(), text.as_str()?.to_owned()));
        texts.iter().filter_map(pair).collect()
    }

    fn has_binding(&self, name: &str) -> bool {
        self.binding(name).is_object()
    }
}

#[async_trait(?Send)]
impl Signatures for Bindings {
    async fn verify(
        &self,
        algorithm: SignatureAlgorithm,
        jwk: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        // The runtime throws if the key is invalid.
        let valid = settled(verify(algorithm.name(), jwk, message, signature)).await;
        valid.is_ok_and(|valid| valid.is_truthy())
    }
}

#[async_trait(?Send)]
impl RateLimit for Bindings {
    fn is_limited(&self, limiter: &str) -> bool {
        self.binding(limiter).is_object()
    }

    async fn take(&self, limiter: &str, key: &str, units: usize) -> Result<bool, String> {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let allowed = settled(take(&self.binding(limiter), key, units)).await;
        allowed.map(|allowed| allowed.is_truthy()).map_err(reason)
    }
}

impl Log for Bindings {
    fn write(&self, level: Level, line: &str) {
        match level {
            Level::Info => console_log(line),
            Level::Warn => console_warn(line),
            Level::Error => console_error(line),
        }
    }
}

impl Platform for Bindings {
    fn is_bound(&self, name: &str) -> bool {
        let binding = self.binding(name);
        binding.is_object() || binding.is_function()
    }

    /// The `env` of the Worker, as [`Env`].
    fn platform(&self) -> &dyn Any {
        &self.env
    }
}

impl Metrics for Bindings {
    fn is_measured(&self) -> bool {
        self.binding(CALLS).is_object()
    }

    fn measure(&self, point: &DataPoint<'_>) {
        // No text of a data point has a line break.
        measure(&self.binding(CALLS), point.index, &point.blobs.join("\n"), point.doubles);
    }
}
