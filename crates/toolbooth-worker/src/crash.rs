//! Notes a panic, so that the next request gets a fresh instance.
//!
//! This is the part of the `worker` crate that worker-build counts on. The crate itself is not
//! linked: its bindings for every product of the platform are exported whether they are used or
//! not, which takes more room than all of authentication.

use std::panic;

use wasm_bindgen::JsValue;
use wasm_bindgen::handler::{schedule_reinit, set_on_abort};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/js/crash.js")]
extern "C" {
    type Crash;
    #[wasm_bindgen(thread_local_v2, js_name = crash)]
    static CRASH: Crash;
    #[wasm_bindgen(method)]
    fn started(this: &Crash);
    #[wasm_bindgen(method)]
    fn panicked(this: &Crash, message: &str);
}

#[wasm_bindgen(start, private)]
fn start() {
    // In the place of the standard hook, which has nowhere to write.
    panic::set_hook(Box::new(|info| CRASH.with(|crash| crash.panicked(&info.to_string()))));
    // What ends an instance without a panic, such as a stack overflow.
    set_on_abort(schedule_reinit);
    CRASH.with(Crash::started);
}

/// The note, for the shim.
#[allow(unreachable_pub)] // What is exported to JS must be public.
#[wasm_bindgen(js_name = "__worker_init_state")]
pub fn worker_init_state() -> JsValue {
    CRASH.with(|crash| crash.into())
}
