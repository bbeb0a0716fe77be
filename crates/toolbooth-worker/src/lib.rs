//! Runs the server on Cloudflare Workers: converts requests and responses, and implements the [`host`].
//!
//! Each request is one call from JS to WebAssembly, with method, URL and body; headers are read one by
//! one on demand. A request without I/O is answered within that call, without a promise. A body that is
//! long or of unknown length is read later, after authentication.

#[cfg(feature = "bindings")]
mod bindings;
mod boundary;
#[cfg(not(feature = "bindings"))]
mod crash;
mod executor;
mod external;
mod files;
mod host;
mod js_value_cache;

#[cfg(feature = "bindings")]
pub use bindings::ContextExt;
pub use boundary::{Invocation, Served, answer, cancel, end_task, failed, log_warnings, run_step};
/// The environment of a Worker: variables, secrets and bindings.
pub use js_sys::Object as Env;

/// Exports the functions that `js/entry.js` calls, for a catalogue of tools and the capabilities of the Worker: those of
/// [`capabilities`] by their names, others by their paths.
///
/// ```ignore
/// toolbooth_worker::serve!(my_tools::CATALOG, [MCP, REST, my_protocol::CAPABILITY]);
/// ```
#[macro_export]
macro_rules! serve {
    ($catalog:path, [$($capability:path),* $(,)?]) => {
        const SERVED: $crate::Served = {
            #[allow(unused_imports)]
            use $crate::capabilities::*;
            $crate::Served {
            // Only the lists of the capabilities that are served.
            catalog: &$crate::Catalog {
                lists: &[
                    $crate::Lists::of($catalog.lists, CORE.lists),
                    $($crate::Lists::of($catalog.lists, $capability.lists)),*
                ],
                // Only linked if a tool has a function in JavaScript.
                external: if $catalog.has_external() { Some($crate::call_external) } else { None },
                // Only linked if there are views.
                views: $crate::Views {
                    read: if $catalog.views.all.is_empty() { None } else { Some($crate::read_file) },
                    ..$catalog.views
                },
                ..$catalog
            },
            // Tasks are linked if a tool can run as one, and if the Worker lists them, for requests in the background.
            capabilities: if $catalog.has_tasks() && !TASKS.is_among(&[$($capability.name),*]) {
                &[&CORE, &TASKS, $(&$capability),*]
            } else {
                &[&CORE, $(&$capability),*]
            },
            // Only linked with tasks; without them, a step that is left from an earlier version ends its task.
            run_step: if $catalog.has_tasks() || TASKS.is_among(&[$($capability.name),*]) {
                $crate::run_step
            } else {
                $crate::end_task
            },
            }
        };

        /// Answers the request `id` with a `Response`, or a promise of one. Without a `body`, `reader` reads
        /// it on demand.
        #[$crate::wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::wasm_bindgen)]
        pub fn answer(
            id: u32,
            method: &str,
            url: String,
            headers: $crate::Headers,
            body: Option<Vec<u8>>,
            reader: $crate::wasm_bindgen::JsValue,
            env: $crate::Env,
        ) -> $crate::wasm_bindgen::JsValue {
            $crate::answer(SERVED, $crate::Invocation { id, env }, method, url, headers, body, reader)
        }

        /// Ends the request `id`, if it waits.
        #[$crate::wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::wasm_bindgen)]
        pub fn cancel(id: u32) {
            $crate::cancel(id);
        }

        /// Runs a step of a task: a promise of JSON for JSON.
        #[$crate::wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::wasm_bindgen)]
        pub fn run_step(id: u32, step: String, env: $crate::Env) -> $crate::wasm_bindgen::JsValue {
            (SERVED.run_step)(SERVED, $crate::Invocation { id, env }, step)
        }

        /// Logs what the operator should know about the configuration, after the first response.
        #[$crate::wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::wasm_bindgen)]
        pub fn log_warnings(env: $crate::Env) {
            $crate::log_warnings(SERVED, env)
        }

        /// Returns the `Response` to a request that crashed the previous instance.
        #[$crate::wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::wasm_bindgen)]
        pub fn failed(
            url: &str,
            headers: $crate::Headers,
            body: Option<Vec<u8>>,
            env: $crate::Env,
        ) -> $crate::wasm_bindgen::JsValue {
            $crate::failed(SERVED, url, headers, body, env)
        }
    };
}

/// The capabilities that a Worker can list by name. What it does not list is not linked: docs/SIZE.md says how large each is.
pub mod capabilities {
    pub use toolbooth::capabilities::*;
    pub use toolbooth_gateway::{GATEWAY, PROVIDERS};
    pub use toolbooth_sign_in::{ACCOUNT, CHALLENGES, SIGN_IN};
}
// For the code of `serve!`.
#[doc(hidden)]
pub use external::call_external;
#[doc(hidden)]
pub use files::read_file;
#[doc(hidden)]
pub use toolbooth::catalog::{Catalog, Lists, Views};
#[doc(hidden)]
pub use wasm_bindgen;
/// The headers of a request, as [`answer`] gets them.
pub use web_sys::Headers;
/// The types of the bindings, in the version that [`ContextExt`] uses.
#[cfg(feature = "bindings")]
pub use worker;
