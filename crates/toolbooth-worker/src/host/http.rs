//! The HTTP client: `fetch`, with whole responses and with responses that are read in chunks.

use js_sys::Promise;
use toolbooth::host::{
    ByteStream, HttpClient, HttpError, HttpRequest, HttpResponse, StreamedResponse, async_trait,
};
use toolbooth::http::{KeepAlive, PipeError, Transform};
use wasm_bindgen::closure::ScopedClosure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{Bindings, milliseconds, reason, settled};

#[wasm_bindgen(module = "/js/send.js")]
extern "C" {
    fn send(
        binding: &JsValue,
        method: &str,
        url: &str,
        headers: &web_sys::Headers,
        body: Option<&[u8]>,
        timeout: u32,
        max_bytes: u32,
        cut: bool,
        text: bool,
    ) -> Promise;

    /// The result of `send`: a response, or an error code in `fault`.
    type Fetched;
    #[wasm_bindgen(method, getter)]
    fn fault(this: &Fetched) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Fetched) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Fetched) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = maxAge)]
    fn max_age(this: &Fetched) -> Option<u32>;
    #[wasm_bindgen(method, getter)]
    fn link(this: &Fetched) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    fn body(this: &Fetched) -> Vec<u8>;
    #[wasm_bindgen(method, getter, js_name = isCut)]
    fn is_cut(this: &Fetched) -> bool;
}

#[wasm_bindgen(module = "/js/download.js")]
extern "C" {
    /// A response whose body is read in chunks.
    type Download;
    fn open(
        binding: &JsValue,
        method: &str,
        url: &str,
        headers: &web_sys::Headers,
        body: Option<&[u8]>,
        timeout: u32,
    ) -> Promise;
    #[wasm_bindgen(method, getter)]
    fn status(this: &Download) -> u16;
    #[wasm_bindgen(method, getter, js_name = retryAfter)]
    fn retry_after(this: &Download) -> Option<String>;
    #[wasm_bindgen(method, getter, js_name = timedOut)]
    fn timed_out(this: &Download) -> bool;
    #[wasm_bindgen(method)]
    fn next(this: &Download) -> Promise;
    #[wasm_bindgen(method)]
    fn pipe(
        this: &Download,
        upload: &JsValue,
        transform: &ScopedClosure<'_, dyn FnMut(Vec<u8>) -> Option<Vec<u8>>>,
        patience: u32,
        keep_alive: Vec<u8>,
    ) -> Promise;
    #[wasm_bindgen(method)]
    fn cancel(this: &Download);
}

#[async_trait(?Send)]
impl HttpClient for Bindings {
    async fn send(&self, request: HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        let headers = headers_of(&request)?;
        let binding = self.binding_of(&request);
        let response = send(
            &binding,
            request.method,
            &request.url,
            &headers,
            request.body.as_deref(),
            milliseconds(request.timeout),
            u32::try_from(request.max_bytes).unwrap_or(u32::MAX),
            request.cut,
            request.text,
        );
        let response: Fetched = settled(response).await.map_err(unreachable)?.unchecked_into();
        match response.fault().as_deref() {
            None => {}
            Some("timeout") => return Err(HttpError::Timeout),
            Some(_) => return Err(HttpError::TooLarge),
        }
        let mut answer = HttpResponse::new(response.status(), response.body());
        answer.retry_after_ms = retry_after_ms(response.retry_after());
        answer.max_age_ms = response.max_age().map(|seconds| u64::from(seconds) * 1000);
        answer.link = response.link();
        answer.is_cut = response.is_cut();
        Ok(answer)
    }

    async fn open(&self, request: HttpRequest<'_>) -> Result<StreamedResponse, HttpError> {
        let headers = headers_of(&request)?;
        let body = request.body.as_deref();
        let timeout = milliseconds(request.timeout);
        let binding = self.binding_of(&request);
        let response = open(&binding, request.method, &request.url, &headers, body, timeout);
        let download: Download = settled(response).await.map_err(unreachable)?.unchecked_into();
        if download.timed_out() {
            return Err(HttpError::Timeout);
        }
        let (status, retry_after) = (download.status(), retry_after_ms(download.retry_after()));
        let mut answer = StreamedResponse::new(status, Box::new(JsByteStream(download)));
        answer.retry_after_ms = retry_after;
        Ok(answer)
    }
}

impl Bindings {
    /// The binding that answers a request; undefined for a server on the network.
    fn binding_of(&self, request: &HttpRequest<'_>) -> JsValue {
        request.binding.map_or(JsValue::UNDEFINED, |name| self.binding(name))
    }
}

/// The body of a response that is read in chunks.
pub(crate) struct JsByteStream(Download);

#[async_trait(?Send)]
impl ByteStream for JsByteStream {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        match settled(self.0.next()).await {
            Ok(chunk) if chunk.is_undefined() => Ok(None),
            Ok(chunk) => Ok(Some(js_sys::Uint8Array::new(&chunk).to_vec())),
            Err(error) => Err(self.error(error)),
        }
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
        let piped = self.0.pipe(upload, &transform, patience, keep_alive.bytes.to_vec());
        match settled(piped)
            .await
            .map_err(|error| PipeError::Source(self.error(error)))?
            .is_truthy()
        {
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

/// `Retry-After` in milliseconds, if it has seconds.
fn retry_after_ms(header: Option<String>) -> Option<u64> {
    let seconds = header.and_then(|seconds| seconds.trim().parse::<u64>().ok());
    seconds.map(|seconds| seconds.saturating_mul(1000))
}
