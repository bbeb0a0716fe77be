//! What is said to JS again and again: a text, a set of headers or a list is made a JS value once, for
//! to make it costs more than to find it.

use std::borrow::Borrow;
use std::cell::RefCell;

use toolbooth::names;
use wasm_bindgen::JsValue;

/// At most so many of a kind are kept. The code and the definitions name fewer; what goes beyond
/// repeats a caller's words, such as an echoed origin.
const MOST: usize = 64;

thread_local! {
    /// Names of headers, variables and bindings.
    pub(crate) static NAMES: Known<String> = const { Known::new() };
}

/// What a JS value is made of.
pub(crate) trait Key: ToOwned {
    fn same(&self, other: &Self) -> bool;
}

impl Key for str {
    fn same(&self, other: &Self) -> bool {
        names::same(self, other)
    }
}

/// A place in memory, and a length.
impl Key for (usize, usize) {
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// JS values by what they are made of.
pub(crate) struct Known<K>(RefCell<Vec<(K, JsValue)>>);

impl<K> Known<K> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Gives `run` the value of `key`; it is made, and then kept if `keep`, where it is not known.
    pub(crate) fn with<Q: Key<Owned = K> + ?Sized, T>(
        &self,
        key: &Q,
        keep: bool,
        make: impl FnOnce(&Q) -> JsValue,
        run: impl FnOnce(&JsValue) -> T,
    ) -> T
    where
        K: Borrow<Q>,
    {
        if let Some((_, value)) = self.0.borrow().iter().find(|(known, _)| known.borrow().same(key))
        {
            return run(value);
        }
        let value = make(key);
        let result = run(&value);
        let mut known = self.0.borrow_mut();
        if keep && known.len() < MOST {
            known.push((key.to_owned(), value));
        }
        result
    }
}
