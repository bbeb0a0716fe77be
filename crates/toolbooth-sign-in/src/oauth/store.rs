//! The store, whose failures are logged.

use std::time::Duration;

use toolbooth::host::{Host, Level, StoreError};

pub(crate) type Result<T> = std::result::Result<T, StoreError>;

pub(crate) async fn get(key: &str, host: &dyn Host) -> Result<Option<String>> {
    host.get(key).await.inspect_err(|error| log(error, host))
}

pub(crate) async fn put(key: &str, value: &str, life: Duration, host: &dyn Host) -> Result<()> {
    host.put(key, value, Some(life)).await.inspect_err(|error| log(error, host))
}

pub(crate) async fn delete(key: &str, host: &dyn Host) -> Result<()> {
    host.delete(key).await.inspect_err(|error| log(error, host))
}

/// The first page of the keys that begin with a prefix.
pub(crate) async fn list(prefix: &str, host: &dyn Host) -> Result<Vec<String>> {
    let page = host.list(prefix, None).await.inspect_err(|error| log(error, host))?;
    Ok(page.keys)
}

fn log(error: &StoreError, host: &dyn Host) {
    host.log(Level::Error, "store", &[("problem", &error.0)]);
}

/// How far the store may be behind.
pub(crate) const STALE_MS: u64 = 60_000;
