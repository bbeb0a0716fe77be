//! Whether the calls and the results of a conversation match.

use crate::gateway::error::{GatewayError, Result};

/// The most calls in an assistant message, of a request or of a model. The limit of the gateway's settings is lower.
pub(in crate::gateway) const MAX_CALLS: usize = 1024;

/// The calls of an assistant message that have no result yet. By them, a front checks that every result answers a call and every
/// call has a result, whatever provider gets them.
#[derive(Debug, Default)]
pub(in crate::gateway) struct OpenCalls(Vec<OpenCall>);

#[derive(Debug)]
struct OpenCall {
    id: String,
    /// Where it is in the request.
    path: String,
}

impl OpenCalls {
    /// A call, which is at `path`. The error: there are too many.
    pub(in crate::gateway) fn add(&mut self, id: &str, path: String) -> Result<()> {
        if self.0.len() >= MAX_CALLS {
            let message = format!("{path}: a message may have at most {MAX_CALLS} calls");
            return Err(GatewayError::invalid(path, message));
        }
        self.0.push(OpenCall { id: id.to_owned(), path });
        Ok(())
    }

    /// A result, whose id is at `path`. The error: it answers no call.
    pub(in crate::gateway) fn answer(&mut self, id: &str, path: String) -> Result<()> {
        match self.0.iter().position(|call| call.id == id) {
            Some(at) => {
                self.0.remove(at);
                Ok(())
            }
            None => {
                let message = format!("{path} answers no call of the assistant message before it");
                Err(GatewayError::invalid(path, message))
            }
        }
    }

    pub(in crate::gateway) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::gateway) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|call| call.id == id)
    }

    /// No results may follow. The error: a call has none.
    pub(in crate::gateway) fn close(&self) -> Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some(OpenCall { path, .. }) => {
                let message = format!("{path} has no result: one with its id must follow");
                Err(GatewayError::invalid(path.as_str(), message))
            }
        }
    }
}
