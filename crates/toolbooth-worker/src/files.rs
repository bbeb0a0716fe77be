//! Reads files that are deployed with the Worker, its static assets: `js/file.js` does it.

use std::any::Any;

use js_sys::Promise;
use toolbooth::host::BoxFuture;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Env;
use crate::host::{reason, settled};

#[wasm_bindgen(module = "/js/file.js")]
extern "C" {
    fn file(env: &Env, path: &str) -> Promise;
}

/// The text of the file at `path`. The error is for the log.
pub fn read_file(path: String, platform: &dyn Any) -> BoxFuture<'_, Result<String, String>> {
    Box::pin(async move {
        let env = platform.downcast_ref::<Env>().ok_or("there is no environment")?;
        let text = settled(file(env, &path)).await.map_err(reason)?;
        text.as_string().ok_or_else(|| "the file is no text".to_owned())
    })
}
