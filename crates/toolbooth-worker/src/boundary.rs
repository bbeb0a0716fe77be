//! The crossing: JS in, JS out.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use toolbooth::Server;
use toolbooth::catalog::Catalog;
use toolbooth::host::BoxFuture;
use toolbooth::http::{self, Body, BodyError, BodyStream, Request, Response};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::future_to_promise;

use crate::Env;
use crate::host::Bindings;
use crate::known::{Known, NAMES};

#[wasm_bindgen(module = "/js/respond.js")]
extern "C" {
    fn headers(lines: &str) -> JsValue;
    fn respond(status: u16, headers: &JsValue, body: &[u8]) -> JsValue;
    fn copy(body: &[u8]) -> JsValue;
    fn lend(status: u16, headers: &JsValue, body: &JsValue) -> JsValue;
}

#[wasm_bindgen]
extern "C" {
    /// That of `js/body.js`.
    type BodyReader;
    #[wasm_bindgen(method, catch)]
    async fn read(this: &BodyReader, limit: u32) -> Result<JsValue, JsValue>;
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Headers)]
    type HeadersByName;
    // A header whose name is none would throw: every name here is the code's or was checked at build time.
    #[wasm_bindgen(method)]
    fn get(this: &HeadersByName, name: &JsValue) -> Option<String>;
}

thread_local! {
    /// Sets of headers, by their lines.
    static HEADS: Known<String> = const { Known::new() };
    /// What was rendered at build time, by its place and length.
    static BODIES: Known<(usize, usize)> = const { Known::new() };
}

/// The server of this instance. Variables do not change while an instance lives, so what is read
/// from them is kept; after a panic the new instance reads them again.
static BOOTH: OnceLock<Server> = OnceLock::new();

fn server(catalog: &'static Catalog, host: &Bindings) -> &'static Server {
    BOOTH.get_or_init(|| Server::new(catalog, host))
}

/// Answers a request. `body` holds all of its bytes; without it, `reader` (a `BodyReader` of `js/body.js`) reads
/// them when they are needed.
///
/// Gives a `Response`, or a promise of one if the answer has to wait for I/O.
pub fn answer(
    catalog: &'static Catalog,
    method: &str,
    url: String,
    headers: web_sys::Headers,
    body: Option<Vec<u8>>,
    reader: JsValue,
    env: Env,
) -> JsValue {
    let method = http::Method::from(method);
    let host = Bindings::new(env);
    let server = server(catalog, &host);
    let mut future = Box::pin(async move {
        let headers = JsHeaders(headers.unchecked_into());
        let (path, query) = path_and_query(&url);
        let stream = JsBody(reader.unchecked_into());
        let body = body.map_or(Body::Unread(&stream), Body::Read);
        server.answer(Request { method, path, query, headers: &headers, body }, &host).await
    });
    // Without I/O the first poll is the last, and no waker is ever used. With I/O, the promise
    // polls again at once and puts its own waker in the place of this one.
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => into_js(&response),
        Poll::Pending => future_to_promise(async move { Ok(into_js(&future.await)) }).into(),
    }
}

/// What to answer to a request that something crashed on; the instance must be a fresh one.
pub fn failed(
    catalog: &'static Catalog,
    url: &str,
    headers: web_sys::Headers,
    env: Env,
) -> JsValue {
    let (path, _) = path_and_query(url);
    let server = server(catalog, &Bindings::new(env));
    into_js(&server.failed(path, &JsHeaders(headers.unchecked_into())))
}

/// The path and the query of an absolute address. The runtime has parsed it already: it has a
/// scheme and a host.
fn path_and_query(url: &str) -> (&str, &str) {
    // Two slashes end the scheme; the path begins with the next one.
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

fn into_js(response: &Response) -> JsValue {
    let mut head = String::with_capacity(160);
    for (name, value) in &response.headers {
        if !head.is_empty() {
            head.push('\n');
        }
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
    }
    // A cookie is a secret, and no two are the same.
    let keep = !response.headers.iter().any(|(name, _)| *name == "set-cookie");
    let status = response.status;
    let respond = |headers: &_| match response.body {
        Cow::Borrowed(body) if !body.is_empty() => {
            let place = (body.as_ptr().addr(), body.len());
            let lend = |body: &_| lend(status, headers, body);
            BODIES.with(|known| known.with(&place, true, |_| copy(body), lend))
        }
        ref body => respond(status, headers, body),
    };
    HEADS.with(|known| known.with(&*head, keep, headers, respond))
}

/// The body of a `Request`.
struct JsBody(BodyReader);

impl BodyStream for JsBody {
    fn read(&self, limit: usize) -> BoxFuture<'_, Result<Vec<u8>, BodyError>> {
        Box::pin(async move {
            let limit = u32::try_from(limit).unwrap_or(u32::MAX);
            let bytes = self.0.read(limit).await.map_err(|_| BodyError::Incomplete)?;
            let bytes = bytes.dyn_into::<js_sys::Uint8Array>().map_err(|_| BodyError::TooLarge)?;
            Ok(bytes.to_vec())
        })
    }
}

struct JsHeaders(HeadersByName);

impl http::Headers for JsHeaders {
    fn get(&self, name: &str) -> Option<String> {
        NAMES.with(|known| known.with(name, true, JsValue::from_str, |name| self.0.get(name)))
    }
}
