//! Caches JS values (names, headers, lists): creating one costs more than finding it here.

use std::borrow::Borrow;
use std::cell::RefCell;

use toolbooth::names;
use wasm_bindgen::JsValue;

/// The maximum size of a cache. The code and the definitions need fewer entries; the rest contain input
/// from callers, such as an echoed origin.
const MAX_ENTRIES: usize = 64;

thread_local! {
    /// Names of headers, variables, bindings and functions.
    pub(crate) static NAMES: JsValueCache<String> = const { JsValueCache::new() };
}

/// The Rust value that a JS value is created from.
pub(crate) trait Key: ToOwned {
    fn is_equal(&self, other: &Self) -> bool;
}

impl Key for str {
    fn is_equal(&self, other: &Self) -> bool {
        names::is_equal(self, other)
    }
}

/// An address and a length.
impl Key for (usize, usize) {
    fn is_equal(&self, other: &Self) -> bool {
        self == other
    }
}

/// JS values by the Rust values they were created from.
pub(crate) struct JsValueCache<K>(RefCell<Vec<(K, JsValue)>>);

impl<K> JsValueCache<K> {
    pub(crate) const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Calls `run` with the value of `key`. A missing value is created, and cached if `keep` is true.
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
        if let Some((_, value)) =
            self.0.borrow().iter().find(|(cached, _)| cached.borrow().is_equal(key))
        {
            return run(value);
        }
        let value = make(key);
        let result = run(&value);
        let mut entries = self.0.borrow_mut();
        if keep && entries.len() < MAX_ENTRIES {
            entries.push((key.to_owned(), value));
        }
        result
    }
}
