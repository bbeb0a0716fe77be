//! Gives tools the Worker's bindings, in the types of the `worker` crate.

use toolbooth::Context;
use wasm_bindgen::{JsCast, JsValue};

use crate::Env;

/// What the context of a tool offers on Workers.
///
/// ```
/// use toolbooth::{Context, ToolError};
/// use toolbooth_worker::ContextExt;
///
/// async fn count(context: &Context<'_>) -> Result<Option<u32>, ToolError> {
///     let count = async {
///         let database = context.env().d1("NOTES")?;
///         database.prepare("SELECT count(*) AS notes FROM notes").first(Some("notes")).await
///     };
///     count.await.map_err(|error| context.platform_error(&error))
/// }
/// ```
pub trait ContextExt {
    /// The Worker's environment: KV, D1, R2, Queues, Workers AI, Durable Objects, service bindings and others. List
    /// those that the tool uses in `bindings` of its definition.
    ///
    /// In a native test there is none; the methods of the result panic there.
    fn env(&self) -> worker::Env;
}

impl ContextExt for Context<'_> {
    fn env(&self) -> worker::Env {
        let env = self.platform().downcast_ref::<Env>();
        env.map_or(JsValue::UNDEFINED, |env| env.into()).unchecked_into()
    }
}
