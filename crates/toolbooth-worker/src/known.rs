//! What is said to JS again and again: a text or a set of headers is made a JS value once, for to
//! decode it costs more than to find it.

use std::cell::RefCell;

use wasm_bindgen::JsValue;

/// At most so many of a kind are kept. The code and the definitions name fewer; what goes beyond
/// repeats a caller's words, such as an echoed origin.
const MOST: usize = 64;

thread_local! {
    /// Names of headers, variables and bindings.
    pub(crate) static NAMES: Known = const { Known::new() };
}

/// JS values by the texts that they are made of.
pub(crate) struct Known(RefCell<Vec<(String, JsValue)>>);

impl Known {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Gives `run` the value of `text`; it is made, and then kept if `keep`, where it is not known.
    pub(crate) fn with<T>(
        &self,
        text: &str,
        keep: bool,
        make: impl FnOnce(&str) -> JsValue,
        run: impl FnOnce(&JsValue) -> T,
    ) -> T {
        if let Some((_, value)) = self.0.borrow().iter().find(|(known, _)| known == text) {
            return run(value);
        }
        let value = make(text);
        let result = run(&value);
        let mut known = self.0.borrow_mut();
        if keep && known.len() < MOST {
            known.push((text.to_owned(), value));
        }
        result
    }
}
