//! A tool that needs the user's authorization.

use std::sync::Arc;

use crate::GATEWAY;
use crate::gateway::tests::loops::{both, world};
use crate::gateway::tests::*;
use toolbooth::call::{Challenge, GrantRequest, Granted, Grants, Rejection, UsedGrant};
use toolbooth::capabilities::CORE;

/// No user has a grant: every user is asked to authorize the call.
struct NoGrants;

#[async_trait(?Send)]
impl Grants for NoGrants {
    async fn token(&self, request: GrantRequest<'_>) -> Result<Granted, Rejection> {
        let provider = request.required.id.to_owned();
        let address = |path: &str| format!("http://localhost:8787/auth/{path}?c=a");
        let (id, title) = ("a".to_owned(), "Mail".to_owned());
        let (url, check_url) = (address("start"), address("check"));
        let challenge = Challenge { id, url, check_url, provider, title };
        Ok(Granted::Challenged(challenge))
    }

    fn has_provider(&self, _: &str) -> bool {
        true
    }

    fn renew(&self, _: GrantRequest<'_>, _: &UsedGrant) -> Result<Challenge, Rejection> {
        Err(Rejection::Internal)
    }
}

#[test]
fn a_challenge_ends_the_loop() {
    static GRANTS: Capability = Capability {
        start: Some(|startup| startup.grants = Some(Arc::new(NoGrants))),
        ..Capability::new("grants")
    };
    static SERVED: &[&Capability] = &[&CORE, &GATEWAY, &GRANTS];
    let own =
        json!({"type": "toolbooth", "allowed": ["Echo.Private"], "require_approval": "never"});
    let body = chat(json!({"tools": [own], "user": "u"}));
    let private = call("1", "Echo_Private", r#"{"text":"a"}"#);
    let world = TestGateway { capabilities: SERVED, ..world(&[]) };
    let (result, sent) = both(&world, &[calls(std::slice::from_ref(&private)), says("x")], &body);
    assert_eq!(sent.len(), 1);
    assert!(
        result["text"].as_str().unwrap().contains("http://localhost:8787/auth/start?"),
        "{result}"
    );
    assert_eq!(result["finish_reason"], "stop");
    let challenge = &world.ask(vec![calls(&[private])], &body).json()["_2api"]["challenge"];
    assert_eq!(challenge["provider"], "mail");
    assert!(challenge["check_url"].as_str().unwrap().contains("/auth/check?"), "{challenge}");
}
