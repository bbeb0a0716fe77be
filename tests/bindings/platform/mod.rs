//! Tools that use bindings, each in the simplest way.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolbooth::host::HttpRequest;
use toolbooth::tool::{Secret, Variable};
use toolbooth::{Context, ToolError};
use toolbooth_worker::ContextExt;
use toolbooth_worker::worker::{Delay, Error};

/// The key of a service.
pub(crate) const KEY: Variable = Variable::secret("PLATFORM_KEY");

#[derive(Deserialize)]
pub(crate) struct Nothing {}

#[derive(Deserialize)]
pub(crate) struct Entry {
    key: String,
    value: String,
}

/// Writes to a KV namespace and reads it.
pub(crate) async fn cache(
    Entry { key, value }: Entry,
    context: &Context<'_>,
) -> Result<Option<String>, ToolError> {
    let cached = async {
        let cache = context.env().kv("CACHE")?;
        cache.put(&key, value)?.execute().await?;
        Ok::<_, Error>(cache.get(&key).text().await?)
    };
    cached.await.map_err(|error| context.platform_error(&error))
}

/// Sends a message to a queue.
pub(crate) async fn enqueue(entry: Value, context: &Context<'_>) -> Result<(), ToolError> {
    let sent = async { context.env().queue("JOBS")?.send(&entry).await };
    sent.await.map_err(|error| context.platform_error(&error))
}

/// Calls another Worker.
pub(crate) async fn call(_: Nothing, context: &Context<'_>) -> Result<String, ToolError> {
    let called = async {
        let mut response = context.env().service("ECHO")?.fetch("https://echo/hello", None).await?;
        response.text().await
    };
    called.await.map_err(|error| context.platform_error(&error))
}

/// Needs a binding that is missing.
pub(crate) async fn absent(_: Nothing, _: &Context<'_>) -> Result<(), ToolError> {
    Ok(())
}

/// Returns whether a binding exists that it does not need.
pub(crate) async fn optional(_: Nothing, context: &Context<'_>) -> Result<bool, ToolError> {
    Ok(context.env().d1("ABSENT").is_ok())
}

/// Uses a binding as another kind.
pub(crate) async fn mistaken(_: Nothing, context: &Context<'_>) -> Result<(), ToolError> {
    context.env().d1("CACHE").map(drop).map_err(|error| context.platform_error(&error))
}

/// Waits for a timer of the `worker` crate, which only remembers the waker of the first poll.
pub(crate) async fn wait(_: Nothing, context: &Context<'_>) -> Result<&'static str, ToolError> {
    context.progress(1.0, None, "");
    Delay::from(Duration::from_millis(5)).await;
    Ok("waited")
}

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Operation {
    Get { key: String },
    Put { key: String, value: Value, seconds: Option<u64> },
    Delete { key: String },
    List { key: String, cursor: Option<String> },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Stored {
    Value { value: Option<Value> },
    Page { keys: Vec<String>, cursor: Option<String> },
}

/// Uses the store.
pub(crate) async fn store(
    operation: Operation,
    context: &Context<'_>,
) -> Result<Stored, ToolError> {
    let store = context.store();
    match operation {
        Operation::Get { key } => Ok(Stored::Value { value: store.get(&key).await? }),
        Operation::Put { key, value, seconds } => {
            store.put(&key, &value, seconds.map(Duration::from_secs)).await?;
            Ok(Stored::Value { value: None })
        }
        Operation::Delete { key } => {
            store.delete(&key).await?;
            Ok(Stored::Value { value: None })
        }
        Operation::List { key, cursor } => {
            let page = store.list(&key, cursor.as_deref()).await?;
            Ok(Stored::Page { keys: page.keys, cursor: page.cursor })
        }
    }
}

/// Sends a request with a secret.
pub(crate) async fn send(_: Nothing, context: &Context<'_>) -> Result<String, ToolError> {
    let key = context.server_secret("PLATFORM_KEY").map(Secret::expose).unwrap_or_default();
    let headers = vec![("authorization", format!("Bearer {key}").into())];
    let request = HttpRequest { headers, ..HttpRequest::get("https://service.example/ping") };
    let response = context.send(request).await?;
    response
        .json()
        .ok_or_else(|| ToolError::new(format!("The service returned {}", response.status)))
}

/// Crashes the instance.
#[allow(clippy::panic)]
pub(crate) async fn panic(_: Nothing, _: &Context<'_>) -> Result<(), ToolError> {
    panic!("a tool panics")
}

/// Crashes the instance after I/O, when its caller is no longer on the stack.
#[allow(clippy::panic)]
pub(crate) async fn late_panic(_: Nothing, _: &Context<'_>) -> Result<(), ToolError> {
    Delay::from(Duration::from_millis(5)).await;
    panic!("a tool panics late")
}

/// Crashes the instance by infinite recursion.
pub(crate) async fn overflow(_: Nothing, _: &Context<'_>) -> Result<u64, ToolError> {
    #[allow(unconditional_recursion)]
    fn deeper(n: u64) -> u64 {
        std::hint::black_box(std::hint::black_box(n) + deeper(n + 1))
    }
    Ok(deeper(0))
}
