//! Records a panic, so that the next request gets a new instance.
//!
//! The `worker` crate does the same. It is only linked with the feature `bindings`: it exports its bindings for every
//! Cloudflare product even if they are unused, which adds more to the bundle than all of authentication.

use std::panic;

use wasm_bindgen::handler::{schedule_reinit, set_on_abort};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(module = "/js/crash.js")]
extern "C" {
    type Crash;
    #[wasm_bindgen(thread_local_v2, js_name = crash)]
    static CRASH: Crash;
    #[wasm_bindgen(method)]
    fn panicked(this: &Crash, message: &str);
}

#[wasm_bindgen(start, private)]
fn start() {
    // The standard hook writes to stderr, which does not exist here.
    panic::set_hook(Box::new(|info| CRASH.with(|crash| crash.panicked(&info.to_string()))));
    // For a crash without a panic, such as a stack overflow.
    set_on_abort(schedule_reinit);
}
