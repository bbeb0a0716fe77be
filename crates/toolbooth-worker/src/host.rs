//! Implements the library's host traits (storage, HTTP, clock, log) with the Worker's bindings.

use std::any::Any;
use std::time::Duration;

use toolbooth::host::{
    BoxFuture, ByteStream, Clock, DataPoint, HttpClient, HttpError, HttpRequest, HttpResponse,
    KeyPage, Level, Log, Metrics, NoRandomness, Platform, Random, RateLimit, SHORTEST_LIFE,
    SignatureAlgorithm, Signatures, Store, StoreError, StreamedResponse, Variables,
};
use toolbooth::http::{KeepAlive, PipeError, Transform};
use wasm_bindgen::closure::ScopedClosure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::Env;
use crate::js_value_cache::NAMES;

/// The name of the KV binding in `wrangler.toml`.
const KV: &str = "KV";
/// The name of the Analytics Engine binding, which is optional.
const CALLS: &str = "CALLS";

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

#[wasm_bindgen(module = "/js/measure.js")]
extern "C" {
    fn measure(binding: &JsValue, index: &str, blobs: &str, doubles: &[f64]);
}

#[wasm_bindgen]
extern "C" {
    // One call into JS for each, with the text. Those of web-sys take a JS string, which is another.
    #[wasm_bindgen(js_namespace = console, js_name = log)]
    fn console_log(line: &str);
    #[wasm_bindgen(js_namespace = console, js_name = warn)]
    fn console_warn(line: &str);
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(line: &str);
}

#[wasm_bindgen(module = "/js/limit.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn take(binding: &JsValue, key: &str, units: u32) -> Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/list.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn list(
        namespace: &Namespace,
        prefix: &str,
        cursor: Option<&str>,
    ) -> Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/send.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn send(
        method: &str,
        url: &str,
        headers: &web_sys::Headers,
        body: Option<&[u8]>,
        timeout: u32,
        max_bytes: u32,
    ) -> Result<JsValue, JsValue>;

    /// The result of `send`: a response, or an error code in `fault`.
    type Fetched;
    #[wasm_bindgen(method, getter)]
    fn fault(this: &Fetched) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Fetched) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Fetched) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn body(this: &Fetched) -> Vec<u8>;
}

#[wasm_bindgen(module = "/js/download.js")]
extern "C" {
    /// A response whose body is read in chunks.
    type Download;
    #[wasm_bindgen(catch)]
    async fn open(
        method: &str,
        url: &str,
        headers: &web_sys::Headers,
        body: Option<&[u8]>,
        timeout: u32,
    ) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Download) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Download) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = timedOut)]
    fn timed_out(this: &Download) -> bool;
    #[wasm_bindgen(method, catch)]
    async fn next(this: &Download) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn pipe(
        this: &Download,
        upload: &JsValue,
        transform: &ScopedClosure<'_, dyn FnMut(Vec<u8>) -> Option<Vec<u8>>>,
        patience: u32,
        keep_alive: Vec<u8>,
    ) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method)]
    fn cancel(this: &Download);
}

#[wasm_bindgen]
extern "C" {
    /// A timer that ends with the request.
    #[wasm_bindgen(js_namespace = scheduler, js_name = wait, catch)]
    async fn wait(milliseconds: u32) -> Result<JsValue, JsValue>;

    /// A KV namespace.
    type Namespace;
    #[wasm_bindgen(method, catch)]
    async fn get(this: &Namespace, key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn put(
        this: &Namespace,
        key: &str,
        value: &str,
        options: &js_sys::Object,
    ) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    async fn delete(this: &Namespace, key: &str) -> Result<JsValue, JsValue>;
}

/// The bindings of one request.
pub(crate) struct Bindings {
    env: Env,
}

impl Bindings {
    pub(crate) fn new(env: Env) -> Self {
        Self { env }
    }

    /// The binding called `name`; undefined if there is none.
    fn binding(&self, name: &str) -> JsValue {
        let get = |name: &JsValue| js_sys::Reflect::get(&self.env, name).unwrap_or_default();
        NAMES.with(|cache| cache.with(name, true, JsValue::from_str, get))
    }

    fn store(&self) -> Result<Namespace, StoreError> {
        let binding = self.binding(KV);
        if binding.is_object() {
            Ok(binding.unchecked_into())
        } else {
            Err(StoreError(format!("the KV binding {KV} is missing")))
        }
    }
}

/// The message of a JS error; empty for other values.
fn reason(error: JsValue) -> String {
    let error = error.dyn_into::<js_sys::Error>();
    error.map_or_else(|_| String::new(), |error| error.message().into())
}

impl Clock for Bindings {
    fn now_ms(&self) -> u64 {
        // `Date.now()` is a positive integer.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return js_sys::Date::now() as u64;
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // It fails only if the request was cancelled; then nothing waits for it.
            let _ = wait(milliseconds(duration)).await;
        })
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
        // An unquoted value in wrangler.toml is a number or a boolean. Format numbers in JS, because
        // Rust's float formatting would add to the bundle.
        let number =
            || Some(value.dyn_ref::<js_sys::Number>()?.to_string_with_radix(10).ok()?.into());
        let boolean = || value.as_bool().map(|boolean| boolean.to_string());
        value.as_string().or_else(number).or_else(boolean)
    }
}

impl Store for Bindings {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move {
            let value = self.store()?.get(key).await;
            value.map(|value| value.as_string()).map_err(|error| StoreError(reason(error)))
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        value: &'a str,
        life: Option<Duration>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let options = js_sys::Object::new();
            if let Some(life) = life {
                let seconds = u32::try_from(life.max(SHORTEST_LIFE).as_secs()).unwrap_or(u32::MAX);
                // Setting a property of a plain object cannot fail.
                let _ = js_sys::Reflect::set(&options, &"expirationTtl".into(), &seconds.into());
            }
            let put = self.store()?.put(key, value, &options).await;
            put.map(drop).map_err(|error| StoreError(reason(error)))
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let delete = self.store()?.delete(key).await;
            delete.map(drop).map_err(|error| StoreError(reason(error)))
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<KeyPage, StoreError>> {
        Box::pin(async move {
            let page = list(&self.store()?, prefix, cursor).await;
            let page: js_sys::Array =
                page.map_err(|error| StoreError(reason(error)))?.unchecked_into();
            // The first element is the cursor, which is undefined on the last page.
            let mut texts = page.iter().map(|text| text.as_string());
            let cursor = texts.next().flatten();
            Ok(KeyPage { keys: texts.flatten().collect(), cursor })
        })
    }
}

impl HttpClient for Bindings {
    fn send<'a>(
        &'a self,
        request: HttpRequest<'a>,
    ) -> BoxFuture<'a, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            let headers = headers_of(&request)?;
            let response = send(
                request.method,
                &request.url,
                &headers,
                request.body.as_deref(),
                milliseconds(request.timeout),
                u32::try_from(request.max_bytes).unwrap_or(u32::MAX),
            );
            let response: Fetched = response.await.map_err(unreachable)?.unchecked_into();
            match response.fault().as_deref() {
                None => {}
                Some("timeout") => return Err(HttpError::Timeout),
                Some(_) => return Err(HttpError::TooLarge),
            }
            let mut answer = HttpResponse::new(response.status(), response.body());
            answer.retry_after_ms = retry_after_ms(response.retry_after());
            Ok(answer)
        })
    }

    fn open<'a>(
        &'a self,
        request: HttpRequest<'a>,
    ) -> BoxFuture<'a, Result<StreamedResponse, HttpError>> {
        Box::pin(async move {
            let headers = headers_of(&request)?;
            let body = request.body.as_deref();
            let timeout = milliseconds(request.timeout);
            let response = open(request.method, &request.url, &headers, body, timeout);
            let download: Download = response.await.map_err(unreachable)?.unchecked_into();
            if download.timed_out() {
                return Err(HttpError::Timeout);
            }
            let (status, retry_after) = (download.status(), retry_after_ms(download.retry_after()));
            let mut answer = StreamedResponse::new(status, Box::new(JsByteStream(download)));
            answer.retry_after_ms = retry_after;
            Ok(answer)
        })
    }
}

/// The body of a response that is read in chunks.
pub(crate) struct JsByteStream(Download);

impl ByteStream for JsByteStream {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, HttpError>> {
        Box::pin(async move {
            match self.0.next().await {
                Ok(chunk) if chunk.is_undefined() => Ok(None),
                Ok(chunk) => Ok(Some(js_sys::Uint8Array::new(&chunk).to_vec())),
                Err(error) => Err(self.error(error)),
            }
        })
    }
}

impl JsByteStream {
    fn error(&self, error: JsValue) -> HttpError {
        if self.0.timed_out() { HttpError::Timeout } else { unreachable(error) }
    }

    /// Writes what `transform` makes of each chunk to `upload`, the class of `js/upload.js`.
    pub(crate) async fn pipe<'a>(
        &mut self,
        upload: &JsValue,
        transform: &'a mut Transform<'a>,
        keep_alive: KeepAlive,
    ) -> Result<(), PipeError> {
        let patience = milliseconds(keep_alive.after);
        let mut transform = |chunk: Vec<u8>| transform(chunk);
        let transform = ScopedClosure::borrow_mut_assert_unwind_safe(&mut transform);
        let piped = self.0.pipe(upload, &transform, patience, keep_alive.bytes.to_vec()).await;
        match piped.map_err(|error| PipeError::Source(self.error(error)))?.is_truthy() {
            true => Err(PipeError::ClientGone),
            false => Ok(()),
        }
    }
}

impl Drop for JsByteStream {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn headers_of(request: &HttpRequest<'_>) -> Result<web_sys::Headers, HttpError> {
    let headers = web_sys::Headers::new().map_err(unreachable)?;
    for (name, value) in &request.headers {
        headers.set(name, value).map_err(unreachable)?;
    }
    Ok(headers)
}

fn unreachable(error: JsValue) -> HttpError {
    HttpError::Unreachable(reason(error))
}

fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

/// `Retry-After` in milliseconds, if it has seconds.
fn retry_after_ms(header: Option<String>) -> Option<u64> {
    let seconds = header.and_then(|seconds| seconds.trim().parse::<u64>().ok());
    seconds.map(|seconds| seconds.saturating_mul(1000))
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
            // The runtime throws if the key is invalid.
            let valid = verify(algorithm.name(), jwk, message, signature).await;
            valid.is_ok_and(|valid| valid.is_truthy())
        })
    }
}

impl RateLimit for Bindings {
    fn is_limited(&self, limiter: &str) -> bool {
        self.binding(limiter).is_object()
    }

    fn take<'a>(
        &'a self,
        limiter: &'a str,
        key: &'a str,
        units: usize,
    ) -> BoxFuture<'a, Result<bool, String>> {
        Box::pin(async move {
            let units = u32::try_from(units).unwrap_or(u32::MAX);
            let allowed = take(&self.binding(limiter), key, units).await;
            allowed.map(|allowed| allowed.is_truthy()).map_err(reason)
        })
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
