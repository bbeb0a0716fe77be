//! Cloudflare: the one place that knows Workers. JS requests become plain data, plain data becomes
//! JS responses, and the Worker's bindings become a [`host`].
//!
//! A request crosses from JS to WebAssembly once, with method, address and body; headers are asked
//! for one by one when something needs them; the response crosses back once. A call that waits for
//! nothing is answered within that crossing, without a promise. Only a long body, or one of unknown
//! length, is read later, once the caller is known.

mod boundary;
mod crash;
mod host;
mod known;

pub use boundary::{answer, failed};
/// The variables, secrets and bindings of a Worker.
pub use js_sys::Object as Env;

/// Exports what `js/entry.js` calls, for a catalogue of tools.
///
/// ```ignore
/// toolbooth_worker::serve!(my_tools::CATALOG);
/// ```
#[macro_export]
macro_rules! serve {
    ($catalog:expr) => {
        /// Answers a request with a `Response`, or a promise of one. Without a `body`, `reader` reads
        /// it when it is needed.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub fn answer(
            method: &str,
            url: String,
            headers: $crate::Headers,
            body: Option<Vec<u8>>,
            reader: wasm_bindgen::JsValue,
            env: $crate::Env,
        ) -> wasm_bindgen::JsValue {
            $crate::answer(&$catalog, method, url, headers, body, reader, env)
        }

        /// The `Response` to a request that crashed an instance before this one.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub fn failed(
            url: &str,
            headers: $crate::Headers,
            env: $crate::Env,
        ) -> wasm_bindgen::JsValue {
            $crate::failed(&$catalog, url, headers, env)
        }
    };
}

pub use web_sys::Headers;
