//! The host: the Worker's bindings behind the library's traits.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::{Map, Value};
use toolbooth::host::{
    BoxFuture, Clock, HttpClient, HttpError, HttpRequest, HttpResponse, Level, Log, NoRandomness,
    Random, RateLimit, SHORTEST_LIFE, SignatureAlgorithm, Signatures, Store, StoreError, Variables,
};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::{
    AbortSignal, Env, Fetch, Headers, Method, Request, RequestInit, RequestRedirect, console_error,
    console_warn,
};

/// The name of the KV binding in `wrangler.toml`.
const KV: &str = "KV";
/// The name of the rate limit binding, which need not be there.
const RATE_LIMIT: &str = "RATE_LIMIT";

#[wasm_bindgen(module = "/js/verify.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn verify(
        algorithm: &str,
        jwk: &str,
        message: &[u8],
        signature: &[u8],
    ) -> Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/limit.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn take(binding: &JsValue, key: &str, units: u32) -> Result<JsValue, JsValue>;
}

/// The bindings of one request.
pub(crate) struct Bindings {
    env: Env,
}

impl Bindings {
    pub(crate) fn new(env: Env) -> Self {
        Self { env }
    }

    /// What is bound under `name`; undefined if nothing is.
    fn binding(&self, name: &str) -> JsValue {
        js_sys::Reflect::get(&self.env, &JsValue::from_str(name)).unwrap_or_default()
    }
}

impl Clock for Bindings {
    fn now_ms(&self) -> u64 {
        // Whole and positive until long after this code is gone.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return js_sys::Date::now() as u64;
    }
}

impl Random for Bindings {
    fn random_16(&self) -> Result<[u8; 16], NoRandomness> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map(|()| bytes).map_err(|_| NoRandomness)
    }
}

impl Variables for Bindings {
    fn variable(&self, name: &str) -> Option<String> {
        let value = self.binding(name);
        // wrangler.toml makes a number or a boolean of what stands there without quotes.
        let number = || value.as_f64().map(|number| number.to_string());
        let boolean = || value.as_bool().map(|boolean| boolean.to_string());
        value.as_string().or_else(number).or_else(boolean)
    }
}

impl Store for Bindings {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move {
            let store = self.env.kv(KV).map_err(|error| StoreError(error.to_string()))?;
            store.get(key).text().await.map_err(|error| StoreError(error.to_string()))
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        value: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let seconds = life.max(SHORTEST_LIFE).as_secs();
            let store = self.env.kv(KV).map_err(|error| StoreError(error.to_string()))?;
            let put = store.put(key, value).map_err(|error| StoreError(error.to_string()))?;
            let put = put.expiration_ttl(seconds).execute().await;
            put.map_err(|error| StoreError(error.to_string()))
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let store = self.env.kv(KV).map_err(|error| StoreError(error.to_string()))?;
            store.delete(key).await.map_err(|error| StoreError(error.to_string()))
        })
    }
}

impl HttpClient for Bindings {
    fn send<'a>(
        &'a self,
        request: HttpRequest<'a>,
    ) -> BoxFuture<'a, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            let timeout = u32::try_from(request.timeout.as_millis()).unwrap_or(u32::MAX);
            let signal = AbortSignal::from(web_sys::AbortSignal::timeout_with_u32(timeout));
            match exchange(request, &signal).await {
                Err(HttpError::Unreachable(_)) if signal.aborted() => Err(HttpError::Timeout),
                result => result,
            }
        })
    }
}

/// Sends the request and reads the answer, as long as the signal does not stop it.
async fn exchange(
    request: HttpRequest<'_>,
    signal: &AbortSignal,
) -> Result<HttpResponse, HttpError> {
    let unreachable = |error: worker::Error| HttpError::Unreachable(error.to_string());
    let headers = Headers::new();
    for (name, value) in &request.headers {
        headers.set(name, value).map_err(unreachable)?;
    }
    let mut init = RequestInit::new();
    init.with_method(Method::from(request.method.to_owned()))
        .with_headers(headers)
        .with_redirect(RequestRedirect::Manual);
    if let Some(body) = request.body {
        init.with_body(Some(js_sys::Uint8Array::from(body.as_slice()).unchecked_into()));
    }
    let outgoing = Request::new_with_init(&request.url, &init).map_err(unreachable)?;
    let mut answer =
        Fetch::Request(outgoing).send_with_signal(signal).await.map_err(unreachable)?;
    let retry_after = answer.headers().get("retry-after").map_err(unreachable)?;
    let mut body = Vec::new();
    if let Ok(mut chunks) = answer.stream() {
        while let Some(chunk) = chunks.next().await {
            body.extend_from_slice(&chunk.map_err(unreachable)?);
            if body.len() > request.max_bytes {
                return Err(HttpError::TooLarge);
            }
        }
    }
    let seconds = retry_after.and_then(|seconds| seconds.trim().parse::<u64>().ok());
    Ok(HttpResponse {
        status: answer.status_code(),
        retry_after_ms: seconds.map(|seconds| seconds.saturating_mul(1000)),
        body,
    })
}

impl Signatures for Bindings {
    fn verify<'a>(
        &'a self,
        algorithm: SignatureAlgorithm,
        jwk: &'a str,
        message: &'a [u8],
        signature: &'a [u8],
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            // The runtime throws at a key that is none.
            let good = verify(algorithm.name(), jwk, message, signature).await;
            good.is_ok_and(|good| good.is_truthy())
        })
    }
}

impl RateLimit for Bindings {
    fn is_limited(&self) -> bool {
        self.binding(RATE_LIMIT).is_object()
    }

    fn take<'a>(&'a self, key: &'a str, units: usize) -> BoxFuture<'a, Result<bool, String>> {
        Box::pin(async move {
            let units = u32::try_from(units).unwrap_or(u32::MAX);
            match take(&self.binding(RATE_LIMIT), key, units).await {
                Ok(within) => Ok(within.is_truthy()),
                Err(error) => {
                    let error = error.dyn_into::<js_sys::Error>();
                    Err(error.map_or_else(|_| String::new(), |error| error.message().into()))
                }
            }
        })
    }
}

impl Log for Bindings {
    fn log(&self, level: Level, event: &'static str, details: &[(&'static str, &str)]) {
        let mut line = Map::new();
        line.insert("event".to_owned(), event.into());
        for (name, value) in details {
            line.insert((*name).to_owned(), (*value).into());
        }
        let line = Value::Object(line);
        match level {
            Level::Warn => console_warn!("{line}"),
            Level::Error => console_error!("{line}"),
        }
    }
}
