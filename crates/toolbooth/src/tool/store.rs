//! Values that the tools of a toolkit keep in the server's key-value store.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ToolError;
use crate::catalog::Tool;
use crate::host::{Host, KeyPage, Level, StoreError};
use crate::json;

/// The values of a toolkit by key, as JSON. Each toolkit has its own keys, which all of its tools and all callers share:
/// put the user into the key of a user's value.
///
/// The store is made for values that are read often and written rarely. A read may return a value that is a minute old,
/// or miss one that was just written. A key accepts one write per second, and two calls that read, change and write the
/// same key can lose a change. Use a database for anything else.
///
/// ```
/// # use std::time::Duration;
/// # use toolbooth::tool::{Context, ToolError};
/// const HOUR: Duration = Duration::from_secs(3600);
///
/// async fn rate(currency: &str, context: &Context<'_>) -> Result<f64, ToolError> {
///     let (store, key) = (context.store(), format!("rate:{currency}"));
///     if let Some(rate) = store.get(&key).await? {
///         return Ok(rate);
///     }
///     let rate = fetch_rate(currency, context).await?;
///     store.put(&key, &rate, Some(HOUR)).await?;
///     Ok(rate)
/// }
/// # async fn fetch_rate(_: &str, _: &Context<'_>) -> Result<f64, ToolError> { Ok(1.0) }
/// ```
pub struct ToolStore<'a> {
    tool: &'a Tool,
    host: &'a dyn Host,
}

impl<'a> ToolStore<'a> {
    pub(super) fn new(tool: &'a Tool, host: &'a dyn Host) -> Self {
        Self { tool, host }
    }

    /// The value of `key`; `None` if it does not exist, has expired, or is not visible yet.
    ///
    /// # Errors
    /// The store failed, or the value is not a `T`. Like those of the other methods, the error can be retried, and the
    /// operator's log has the reason.
    pub async fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        let text = self.host.get(&self.stored(key)).await;
        let Some(text) = text.map_err(|error| self.failed(&error))? else { return Ok(None) };
        let value = json::read(text.as_bytes());
        let unreadable = || self.failed(&StoreError("the value has another type".to_owned()));
        value.ok_or_else(unreadable).map(Some)
    }

    /// Stores a value under `key` for `life`, at least a minute, or without a limit. On Cloudflare, a key may have up
    /// to 500 bytes, and a value up to 25 MiB.
    ///
    /// # Errors
    /// The store failed, or rejected the key or the value; or the value cannot be written as JSON.
    pub async fn put<T: Serialize>(
        &self,
        key: &str,
        value: &T,
        life: Option<Duration>,
    ) -> Result<(), ToolError> {
        let unwritable = |_| self.failed(&StoreError("the value is not JSON".to_owned()));
        let text = json::to_string(&serde_json::to_value(value).map_err(unwritable)?);
        let put = self.host.put(&self.stored(key), &text, life).await;
        put.map_err(|error| self.failed(&error))
    }

    /// Deletes the value of `key`, if it exists. Reads may return it for another minute.
    ///
    /// # Errors
    /// The store failed.
    pub async fn delete(&self, key: &str) -> Result<(), ToolError> {
        let delete = self.host.delete(&self.stored(key)).await;
        delete.map_err(|error| self.failed(&error))
    }

    /// Up to 1,000 keys that begin with `prefix`, sorted. `cursor` is that of the previous page; `None` is the first
    /// page.
    ///
    /// # Errors
    /// The store failed, or rejected the cursor.
    pub async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<KeyPage, ToolError> {
        let page = self.host.list(&self.stored(prefix), cursor).await;
        let mut page = page.map_err(|error| self.failed(&error))?;
        let toolkit = self.stored("").len();
        for key in &mut page.keys {
            *key = key.split_off(toolkit.min(key.len()));
        }
        Ok(page)
    }

    /// The key in the host's store, which the server itself uses too.
    fn stored(&self, key: &str) -> String {
        ["tool:", self.tool.toolkit, ":", key].concat()
    }

    fn failed(&self, StoreError(problem): &StoreError) -> ToolError {
        let details = [("tool", &*self.tool.id()), ("problem", problem)];
        self.host.log(Level::Warn, "store", &details);
        ToolError::new("The tool's storage failed").retryable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::echo::private;
    use crate::testing::{FakeHost, STALE_MS, ready};

    fn on<'a>(tool: &'a Tool, host: &'a FakeHost) -> ToolStore<'a> {
        ToolStore::new(tool, host)
    }

    #[test]
    fn values_of_a_toolkit() {
        let host = FakeHost::default();
        let (tool, other) = (private(), Tool { toolkit: "Other", ..private() });
        let store = on(&tool, &host);
        ready(store.put("a", &(1, "x"), None)).unwrap();
        assert_eq!(ready(store.get("a")).unwrap(), Some((1, "x".to_owned())));
        assert_eq!(ready(on(&other, &host).get::<u8>("a")).unwrap(), None, "another toolkit");
        assert_eq!(host.store.values()["tool:Echo:a"], r#"[1,"x"]"#);

        host.now_ms.set(host.now_ms.get() + 2_000);
        ready(store.delete("a")).unwrap();
        assert!(host.store.values().is_empty());
        host.now_ms.set(host.now_ms.get() + STALE_MS);
        assert_eq!(ready(store.get::<(u8, String)>("a")).unwrap(), None);
    }

    #[test]
    fn a_life_ends() {
        let (host, tool) = (FakeHost::default(), private());
        let store = on(&tool, &host);
        ready(store.put("short", &1, Some(Duration::from_secs(60)))).unwrap();
        ready(store.put("long", &2, None)).unwrap();
        host.now_ms.set(host.now_ms.get() + 60_001);
        assert_eq!(ready(store.get::<u8>("short")).unwrap(), None);
        assert_eq!(ready(store.get::<u8>("long")).unwrap(), Some(2));
    }

    #[test]
    fn lists_in_pages() {
        let (host, tool) = (FakeHost::default(), private());
        let store = on(&tool, &host);
        let other = Tool { toolkit: "Echo2", ..private() };
        ready(on(&other, &host).put("n:0000", &0, None)).unwrap();
        ready(store.put("m", &0, None)).unwrap();
        for number in 0..1_001 {
            ready(store.put(&format!("n:{number:04}"), &number, None)).unwrap();
        }
        let first = ready(store.list("n:", None)).unwrap();
        assert_eq!((first.keys.len(), &*first.keys[0]), (1_000, "n:0000"));
        let second = ready(store.list("n:", first.cursor.as_deref())).unwrap();
        assert_eq!(second, KeyPage { keys: vec!["n:1000".to_owned()], cursor: None });
    }

    #[test]
    fn failures_are_logged_without_keys_and_values() {
        let (host, tool) = (FakeHost::default(), private());
        let store = on(&tool, &host);
        ready(store.put("key", &"value", None)).unwrap();
        let expected = ToolError::new("The tool's storage failed").retryable();
        assert_eq!(ready(store.get::<u8>("key")).unwrap_err(), expected);
        assert_eq!(ready(store.put("key", &1, None)).unwrap_err(), expected, "twice in a second");
        let host = FakeHost { store_works: false, ..host };
        let store = on(&tool, &host);
        assert_eq!(ready(store.get::<u8>("key")).unwrap_err(), expected);
        assert_eq!(ready(store.delete("key")).unwrap_err(), expected);
        assert_eq!(ready(store.list("key", None)).unwrap_err(), expected);
        let log = host.log.borrow();
        assert_eq!(log.len(), 5);
        for (line, problem) in log.iter().zip(["another type", "429", "down", "down", "down"]) {
            assert!(line.starts_with("Warn store") && line.contains(problem), "{line}");
            assert!(!line.contains("key") && !line.contains("\"value\""), "{line}");
        }
    }
}
