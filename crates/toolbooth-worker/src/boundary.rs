//! Converts JS requests to Rust and Rust responses to JS.

use std::any::Any;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::OnceLock;

use js_sys::Promise;
use toolbooth::catalog::Catalog;
use toolbooth::host::{ByteStream, HttpError, StepReport, async_trait, boxed};
use toolbooth::http::{
    self, Answer, Body, BodyError, BodySink, BodyStream, BodyWriter, ClientGone, KeepAlive,
    PipeError, Request, Response, Transform,
};
use toolbooth::{Capability, Server};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::Env;
use crate::executor;
use crate::host::{Bindings, JsByteStream, settled};
use crate::js_value_cache::{JsValueCache, NAMES};

#[wasm_bindgen(module = "/js/respond.js")]
extern "C" {
    fn headers(lines: &str) -> JsValue;
    fn respond(status: u16, headers: &JsValue, body: &[u8]) -> JsValue;
    fn copy(body: &[u8]) -> JsValue;
    #[wasm_bindgen(js_name = respondWith)]
    fn respond_with(status: u16, headers: &JsValue, body: &JsValue) -> JsValue;
}

#[wasm_bindgen]
extern "C" {
    /// The `BodyReader` of `js/body.js`.
    type BodyReader;
    #[wasm_bindgen(method)]
    fn read(this: &BodyReader, limit: u32) -> Promise;
    #[wasm_bindgen(method)]
    fn start(this: &BodyReader, limit: u32) -> Promise;
}

#[wasm_bindgen(module = "/js/upload.js")]
extern "C" {
    /// A response whose body is written in chunks.
    type Upload;
    #[wasm_bindgen(constructor)]
    fn new(status: u16, headers: &JsValue) -> Upload;
    #[wasm_bindgen(method, getter)]
    fn response(this: &Upload) -> JsValue;
    #[wasm_bindgen(method, js_name = writeView)]
    fn write(this: &Upload, bytes: &[u8]) -> Promise;
    #[wasm_bindgen(method)]
    fn close(this: &Upload);
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Headers)]
    type HeadersByName;
    // Throws if the name is invalid; every name here is a constant or was checked at build time.
    #[wasm_bindgen(method)]
    fn get(this: &HeadersByName, name: &JsValue) -> Option<String>;
}

#[wasm_bindgen]
extern "C" {
    /// A promise with what resolves it.
    type Resolvers;
    #[wasm_bindgen(js_namespace = Promise, js_name = withResolvers)]
    fn with_resolvers() -> Resolvers;
    #[wasm_bindgen(method, getter)]
    fn promise(this: &Resolvers) -> Promise;
    #[wasm_bindgen(method)]
    fn resolve(this: &Resolvers, value: &JsValue);
}

thread_local! {
    /// `Headers` objects of responses, by their lines.
    static HEADERS: JsValueCache<String> = const { JsValueCache::new() };
    /// Bodies rendered at build time, by address and length.
    static BODIES: JsValueCache<(usize, usize)> = const { JsValueCache::new() };
}

/// The server of this instance. Variables do not change during an instance's lifetime, so it reads
/// them once; after a panic, the new instance reads them again.
static SERVER: OnceLock<Server> = OnceLock::new();

/// The number of no request: for what claims nothing in the ledger.
const NO_REQUEST: u32 = 0;

/// What a Worker serves.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// The tools.
    pub catalog: &'static Catalog,
    /// The capabilities.
    pub capabilities: &'static [&'static Capability],
    /// [`run_step`] if it keeps tasks, otherwise [`end_task`].
    pub run_step: fn(Served, Invocation, String) -> JsValue,
}

/// A request, or a step of a task.
#[derive(Debug)]
pub struct Invocation {
    /// Its number, which no other one has in this isolate.
    pub id: u32,
    /// The environment of the Worker.
    pub env: Env,
}

fn server(served: Served, host: &Bindings) -> &'static Server {
    let Served { catalog, capabilities, .. } = served;
    SERVER.get_or_init(|| Server::new(catalog, capabilities, host))
}

/// Answers a request. `body` is the complete body; without it, `reader` (a `BodyReader` of `js/body.js`)
/// reads it on demand.
///
/// Returns a `Response`, or a promise of one if the request waits for I/O.
pub fn answer(
    served: Served,
    Invocation { id, env }: Invocation,
    method: &str,
    url: String,
    headers: web_sys::Headers,
    body: Option<Vec<u8>>,
    reader: JsValue,
) -> JsValue {
    let method = http::Method::from(method);
    let host = Bindings::new(id, env);
    let server = server(served, &host);
    let later = LaterValue::default();
    let (early, sender) = (later.clone(), later.clone());
    let future = Box::pin(async move {
        let headers = JsHeaders(headers.unchecked_into());
        let (path, query) = path_and_query(&url);
        let stream = JsBody(reader.unchecked_into());
        let body = body.map_or(Body::Unread(&stream), Body::Read);
        let own_origin = own_origin(&url);
        let request = Request { method, path, query, own_origin, headers: &headers, body };
        let Answer { head, rest } = server.answer(request, &host).await;
        let Some(write) = rest else { return into_js(&head) };
        // The request is not over: this future goes on as the writer of the body.
        boxed(send_stream(head, write, &early)).await;
        early.promise()
    });
    // Without I/O, the first poll completes.
    let response = executor::run(id, future, move |response| sender.send(&response));
    response.unwrap_or_else(|| later.promise())
}

/// Sends a response whose body is written in chunks.
async fn send_stream(head: Response, write: BodyWriter<'_>, early: &LaterValue) {
    let sink = JsSink(Upload::new(head.status, &headers(&header_lines(&head))));
    early.send(&sink.0.response());
    if head.body.is_empty() || sink.write(&head.body).await.is_ok() {
        write(Box::new(sink)).await;
    }
}

/// A promise, which may be resolved before it is asked for.
#[derive(Clone, Default)]
struct LaterValue(Rc<OnceCell<Resolvers>>);

impl LaterValue {
    fn promise(&self) -> JsValue {
        self.0.get_or_init(with_resolvers).promise().into()
    }

    /// Resolves the promise. Only the first value counts.
    fn send(&self, value: &JsValue) {
        self.0.get_or_init(with_resolvers).resolve(value);
    }
}

/// The body of a streamed `Response`. It ends when this is dropped.
struct JsSink(Upload);

#[async_trait(?Send)]
impl BodySink for JsSink {
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone> {
        settled(self.0.write(bytes)).await.map(drop).map_err(|_| ClientGone)
    }

    async fn pipe<'a>(
        &self,
        source: &mut dyn ByteStream,
        transform: &'a mut Transform<'a>,
        keep_alive: KeepAlive,
    ) -> Result<(), PipeError> {
        let source: &mut dyn Any = source;
        match source.downcast_mut::<JsByteStream>() {
            Some(source) => source.pipe(&self.0, transform, keep_alive).await,
            // Never: this host has no other streams.
            None => Err(PipeError::Source(HttpError::Unreachable("unknown stream".to_owned()))),
        }
    }
}

impl Drop for JsSink {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Ends a request that waits, and whose client has gone: nothing would ever wake it.
pub fn cancel(id: u32) {
    executor::cancel(id);
}

/// Runs a step of a task, which is JSON. Returns a promise of JSON: what follows it.
pub fn run_step(served: Served, Invocation { id, env }: Invocation, step: String) -> JsValue {
    let host = Bindings::new(id, env);
    let server = server(served, &host);
    let later = LaterValue::default();
    let sender = later.clone();
    let run = Box::pin(async move { server.run_step(&step, &host).await.into() });
    let done = move |text| sender.send(&text);
    if let Some(text) = executor::run(id, run, done) {
        later.send(&text);
    }
    later.promise()
}

/// Like [`run_step`], for a Worker that keeps no tasks any more since an update: the task ends.
pub fn end_task(_: Served, _: Invocation, _: String) -> JsValue {
    Promise::resolve(&JsValue::from_str(StepReport::FAILED)).into()
}

/// Logs what the operator should know about the configuration.
pub fn log_warnings(served: Served, env: Env) {
    let host = Bindings::new(NO_REQUEST, env);
    server(served, &host).log_warnings(&host);
}

/// Returns the `Response` to a request that crashed the previous instance. Call it in a new instance, with the
/// body if it was short enough to be read first.
pub fn failed(
    served: Served,
    url: &str,
    headers: web_sys::Headers,
    body: Option<Vec<u8>>,
    env: Env,
) -> JsValue {
    let (path, _) = path_and_query(url);
    let server = server(served, &Bindings::new(NO_REQUEST, env));
    let headers = JsHeaders(headers.unchecked_into());
    into_js(&server.failed(path, &headers, &body.unwrap_or_default()))
}

/// Splits an absolute URL into path and query. The runtime has validated it: it has a scheme and a host.
fn path_and_query(url: &str) -> (&str, &str) {
    // The path begins at the third slash, after `scheme://host`.
    let mut slashes = 0;
    let path = url.bytes().position(|byte| {
        slashes += u8::from(byte == b'/');
        slashes == 3
    });
    let path = path.and_then(|at| url.get(at..)).unwrap_or("/");
    let end = path.bytes().position(|byte| byte == b'?' || byte == b'#').unwrap_or(path.len());
    let (path, rest) = path.split_at_checked(end).unwrap_or((path, ""));
    let query = rest.strip_prefix('?').unwrap_or_default();
    (path, query.split_once('#').map_or(query, |(query, _)| query))
}

/// The origin of a URL, if it is `https`.
fn own_origin(url: &str) -> Option<&str> {
    let host = url.strip_prefix("https://")?;
    url.get(..url.len() - host.len() + host.find(['/', '?', '#']).unwrap_or(host.len()))
}

/// The headers of a response, as lines.
fn header_lines(response: &Response) -> String {
    let mut lines = String::with_capacity(160);
    for (name, value) in &response.headers {
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str(name);
        lines.push_str(": ");
        lines.push_str(value);
    }
    lines
}

fn into_js(response: &Response) -> JsValue {
    let lines = header_lines(response);
    // Do not cache cookies, which are secrets, and other headers that hardly ever repeat.
    let unique = |name| matches!(name, "set-cookie" | "server-timing");
    let cacheable = !response.headers.iter().any(|(name, _)| unique(*name));
    let status = response.status;
    let respond = |headers: &_| match response.body {
        Cow::Borrowed(body) if !body.is_empty() => {
            let key = (body.as_ptr().addr(), body.len());
            let respond = |body: &_| respond_with(status, headers, body);
            BODIES.with(|cache| cache.with(&key, true, |_| copy(body), respond))
        }
        ref body => respond(status, headers, body),
    };
    HEADERS.with(|cache| cache.with(&*lines, cacheable, headers, respond))
}

/// The body of a JS `Request`.
struct JsBody(BodyReader);

#[async_trait(?Send)]
impl BodyStream for JsBody {
    async fn read(&self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let bytes = settled(self.0.read(limit)).await.map_err(|_| BodyError::Incomplete)?;
        let bytes = bytes.dyn_into::<js_sys::Uint8Array>().map_err(|_| BodyError::TooLarge)?;
        Ok(bytes.to_vec())
    }

    async fn start(&self, limit: usize) -> Vec<u8> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let bytes = settled(self.0.start(limit)).await.ok();
        let bytes = bytes.and_then(|bytes| bytes.dyn_into::<js_sys::Uint8Array>().ok());
        bytes.map(|bytes| bytes.to_vec()).unwrap_or_default()
    }
}

struct JsHeaders(HeadersByName);

impl http::Headers for JsHeaders {
    fn get(&self, name: &str) -> Option<String> {
        NAMES.with(|cache| cache.with(name, true, JsValue::from_str, |name| self.0.get(name)))
    }
}
