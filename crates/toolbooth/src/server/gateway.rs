//! The routes of the chat gateway.

use super::{Received, Server};
use crate::call::{self, Rejection};
use crate::gateway::{self, Sender};
use crate::host::Host;
use crate::http::{self, Answer, Headers};
use crate::log::CallRecorder;
use crate::protocol::{GatewayHandler, Protocol};

impl Server {
    /// Serves one of these routes.
    pub(super) async fn gateway<'a>(
        &'a self,
        protocol: &Protocol,
        handler: GatewayHandler,
        headers: &'a dyn Headers,
        body: &mut Received<'_>,
        host: &'a dyn Host,
    ) -> Result<Answer<'a>, Rejection> {
        let pipeline = &self.pipeline;
        let principal = self.authenticate(protocol, headers, host).await?;
        match handler {
            GatewayHandler::Models => {
                Ok(gateway::models(&pipeline.settings.gateway, &principal).into())
            }
            GatewayHandler::Chat => {
                let calls = CallRecorder::default();
                let sender = Sender { headers, principal, pipeline, host, calls };
                let started_ms = host.now_ms();
                match self.admit(&sender, body).await {
                    Ok(body) => Ok(gateway::chat(sender, body).await),
                    Err(rejection) => {
                        gateway::log_rejected(&sender, &rejection, started_ms);
                        Err(rejection)
                    }
                }
            }
        }
    }

    /// Reads the body of a chat request, and counts the request against the rate limit of calls.
    async fn admit<'b>(
        &self,
        sender: &Sender<'_>,
        body: &'b mut Received<'_>,
    ) -> Result<&'b str, Rejection> {
        self.receive(body).await?;
        if !http::is_json(sender.headers) {
            return Err(Rejection::UnsupportedMediaType);
        }
        let text = str::from_utf8(&body.bytes)
            .map_err(|_| Rejection::InvalidJson("the body is not UTF-8".to_owned()))?;
        sender.context().count(1).await?;
        if !self.pipeline.settings.problems.is_empty() {
            return Err(call::misconfigured());
        }
        Ok(text)
    }
}
