//! Tokens of the server's own grants: what is requested, and how often.

use std::time::Duration;

use super::super::tests::CALL;
use super::super::{HttpAuth, HttpCall};
use super::*;
use crate::catalog::Tool;
use crate::host::HttpError;
use crate::principal::Principal;
use crate::settings::{Settings, ToolVariables};
use crate::testing::{FakeHost, SentRequest, echo, patient, respond};
use crate::tool::Variable;

const CLIENT: OAuthGrant = OAuthGrant {
    token_url: "AUTH_URL",
    client: Some(("CLIENT_ID", "CLIENT_SECRET")),
    user: None,
    scopes: &["read", "write"],
};
const USER: OAuthGrant = OAuthGrant { user: Some(("NAME", "PASSWORD")), scopes: &[], ..CLIENT };
static GRANTS: [OAuthGrant; 3] = [CLIENT, USER, OAuthGrant { scopes: &["other"], ..CLIENT }];

const VARIABLES: &[Variable] = &[
    Variable::new("AUTH_URL", "https://id.example/token/?v=1", crate::address::secure_address),
    Variable::new("WEB_URL", "https://web.example", crate::address::base_address),
    Variable::new("NAME", "ada", |_| Ok(())),
    Variable::secret("PASSWORD"),
    Variable::required("CLIENT_ID", |_| Ok(())).optional(),
    Variable::secret("CLIENT_SECRET").optional(),
];

/// A tool with these variables, and a host that answers.
struct Fixture {
    host: FakeHost,
    variables: ToolVariables,
    tool: Tool,
}

type Answer = fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError>;

const TOKEN: Answer =
    |_| respond(200, r#"{"access_token":"t0ken","token_type":"bearer","expires_in":3600}"#);

impl Fixture {
    fn new(variables: &[(&str, &str)], upstream: Answer) -> Self {
        let mut all = vec![("PASSWORD", "p4ss"), ("CLIENT_ID", "c:1"), ("CLIENT_SECRET", "s3cret")];
        all.retain(|(name, _)| !variables.iter().any(|(other, _)| other == name));
        all.extend(variables.iter().filter(|(_, value)| !value.is_empty()));
        let host = FakeHost { upstream, tick_ms: 0, ..FakeHost::with(&all) };
        let variables = Settings::read(&host, &[], VARIABLES).tools;
        let names = &["AUTH_URL", "WEB_URL", "NAME", "PASSWORD", "CLIENT_ID", "CLIENT_SECRET"];
        Self { host, variables, tool: Tool { variables: names, ..echo::private() } }
    }

    fn with<T>(&self, run: impl FnOnce(&Context<'_>) -> T) -> T {
        let (credentials, dialogue) = Default::default();
        let principal = Principal::ANONYMOUS;
        let Self { host, variables, tool } = self;
        run(&Context::new(tool, &principal, &credentials, &dialogue, variables, host))
    }

    fn token(&self, grant: usize, refused: Option<&str>) -> Result<Option<String>, ToolError> {
        let refused = refused.map(|text| Secret::new(text.to_owned()));
        self.with(|context| {
            let token = patient(token(&GRANTS[grant], refused.as_ref(), context))?;
            Ok(token.map(|token| token.expose().to_owned()))
        })
    }

    fn requests(&self) -> Vec<SentRequest> {
        self.host.http.requests.borrow().clone()
    }

    fn advance(&self, duration: Duration) {
        let ms = u64::try_from(duration.as_millis()).unwrap();
        self.host.now_ms.update(|now| now + ms);
    }
}

#[test]
fn what_is_requested() {
    let basic = Some("Basic YyUzQTE6czNjcmV0");
    for (grant, variables, expected, header) in [
        (0, &[][..], "grant_type=client_credentials&scope=read%20write", basic),
        (1, &[], "grant_type=password&username=ada&password=p4ss", basic),
        (
            1,
            &[("CLIENT_SECRET", "")],
            "grant_type=password&username=ada&password=p4ss&client_id=c%3A1",
            None,
        ),
        (
            1,
            &[("CLIENT_ID", ""), ("CLIENT_SECRET", "")],
            "grant_type=password&username=ada&password=p4ss",
            None,
        ),
    ] {
        let fixture = Fixture::new(variables, TOKEN);
        assert_eq!(fixture.token(grant, None), Ok(Some("t0ken".to_owned())));
        let [request] = &fixture.requests()[..] else { panic!("one request") };
        assert_eq!(request.to_string(), "POST https://id.example/token/?v=1");
        assert_eq!(String::from_utf8_lossy(&request.body), expected);
        assert_eq!(request.header("authorization"), header, "{expected}");
        let kind = request.header("content-type");
        assert_eq!(kind, Some("application/x-www-form-urlencoded"));
    }
}

/// A server that takes the client's credentials in the body only is asked again, once.
#[test]
fn credentials_in_the_body() {
    let upstream: Answer =
        |request| match request.headers.iter().any(|(it, _)| *it == "authorization") {
            true => respond(401, r#"{"error":"invalid_client"}"#),
            false => respond(200, r#"{"access_token":"t0ken","expires_in":"100"}"#),
        };
    let fixture = Fixture::new(&[], upstream);
    assert_eq!(fixture.token(0, None), Ok(Some("t0ken".to_owned())));
    fixture.advance(Duration::from_secs(100));
    assert_eq!(fixture.token(0, None), Ok(Some("t0ken".to_owned())));
    let bodies = fixture.requests();
    let bodies: Vec<_> = bodies.iter().map(|it| String::from_utf8_lossy(&it.body)).collect();
    let plain = "grant_type=client_credentials&scope=read%20write";
    let named = format!("{plain}&client_id=c%3A1&client_secret=s3cret");
    assert_eq!(bodies, [plain, &named, &named]);
}

/// A token is requested when there is none, when it ends, and when the service refuses it.
#[test]
fn tokens_are_shared_until_they_end() {
    for (body, seconds, requests) in [
        (r#"{"access_token":"t0ken","expires_in":3600}"#, [3_569, 1], [1, 2]),
        (r#"{"access_token":"t0ken","expires_in":40}"#, [19, 1], [1, 2]),
        (r#"{"access_token":"t0ken"}"#, [269, 1], [1, 2]),
        (r#"{"access_token":"t0ken","expires_in":0}"#, [0, 0], [2, 3]),
        (
            r#"{"access_token":"t0ken","token_type":"Application Access Token","expires_in":60}"#,
            [29, 1],
            [1, 2],
        ),
    ] {
        let mut fixture = Fixture::new(&[], TOKEN);
        fixture.host.http.add("POST https://id.example/token/?v=1", respond(200, body));
        assert!(fixture.token(0, None).is_ok());
        for (seconds, requests) in seconds.into_iter().zip(requests) {
            fixture.advance(Duration::from_secs(seconds));
            assert_eq!(fixture.token(0, None), Ok(Some("t0ken".to_owned())));
            assert_eq!(fixture.requests().len(), requests, "{body}");
        }
        assert!(fixture.token(2, None).is_ok(), "other scopes");
        assert_eq!(fixture.requests().len(), requests[1] + 1, "{body}");
    }
    let fixture = Fixture::new(&[], TOKEN);
    assert!(fixture.token(0, None).is_ok());
    assert_eq!(fixture.token(0, Some("older")), Ok(Some("t0ken".to_owned())), "another has it");
    assert_eq!(fixture.token(0, Some("t0ken")), Ok(None), "a new one is refused too");
    assert_eq!(fixture.requests().len(), 1);
    fixture.advance(Duration::from_secs(60));
    assert_eq!(fixture.token(0, Some("t0ken")), Ok(Some("t0ken".to_owned())));
    assert_eq!(fixture.requests().len(), 2);
}

#[test]
fn calls_at_the_same_time_share_one_request() {
    let fixture = Fixture::new(&[], TOKEN);
    let host = FakeHost { tick_ms: 1, ..fixture.host };
    host.upstream_waits.set(true);
    let fixture = Fixture { host, ..fixture };
    fixture.with(|context| {
        let all = (0..5).map(|_| token(&GRANTS[0], None, context));
        let tokens = patient(crate::call::join_all(all));
        assert!(tokens.iter().all(|token| matches!(token, Ok(Some(_)))), "{tokens:?}");
    });
    assert_eq!(fixture.requests().len(), 1);
    // One that is cancelled leaves the next one free to ask.
    fixture.advance(Duration::from_secs(3_600));
    fixture.with(|context| {
        let mut cancelled = token(&GRANTS[0], None, context);
        let mut polling = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(cancelled.as_mut().poll(&mut polling).is_pending());
        drop(cancelled);
        let before = context.now_ms();
        assert!(patient(token(&GRANTS[0], None, context)).is_ok());
        assert!(context.now_ms() - before < 50, "it waits for nobody");
    });
    assert_eq!(fixture.requests().len(), 2);
}

/// No error and no line of the log has a secret, and a server that fails is not asked at every call.
#[test]
fn servers_that_issue_no_token() {
    let rejected = ToolError::new("The service rejected the credentials of the server")
        .developer_message("Its authorization server issues no token.");
    let down = ToolError::new("The service's authorization server did not respond").retryable();
    for (response, expected, logged) in [
        (respond(400, r#"{"error":"invalid_scope"}"#), &rejected, "invalid_scope"),
        (respond(401, r#"{"error":"s3cret"}"#), &rejected, "it rejects the request"),
        (respond(200, r#"{"error":"invalid_client"}"#), &rejected, "invalid_client"),
        (respond(403, "s3cret"), &rejected, "it rejects the request"),
        (respond(429, r#"{"error":"slow_down"}"#), &down, "its response contains no token"),
        (respond(500, "s3cret"), &down, "its response contains no token"),
        (respond(302, ""), &down, "its response contains no token"),
        (respond(200, "<html>"), &down, "its response contains no token"),
        (respond(200, r#"{"access_token":"a\r\nb"}"#), &down, "its token cannot be sent"),
        (
            respond(200, r#"{"access_token":"a","token_type":"DPoP"}"#),
            &down,
            "its token cannot be sent",
        ),
        (Err(HttpError::Timeout), &down, "no response in time"),
    ] {
        let mut fixture = Fixture::new(&[], TOKEN);
        let line = "POST https://id.example/token/?v=1";
        fixture.host.http.add(line, response.clone());
        fixture.host.http.add(line, response.clone());
        for _ in 0..2 {
            assert_eq!(fixture.token(0, None).as_ref(), Err(expected), "{response:?}");
        }
        let asked = if *expected == rejected { 2 } else { 1 };
        assert_eq!(fixture.requests().len(), asked, "{response:?}");
        let log = fixture.host.printed();
        assert!(log.contains(logged) && !log.contains("s3cret"), "{log}");
        fixture.advance(Duration::from_secs(5));
        assert!(fixture.token(0, None).is_err());
        assert!(fixture.requests().len() > asked, "asked again after a pause");
    }
    let fixture = Fixture::new(&[], TOKEN);
    assert!(fixture.token(0, None).is_ok());
    assert!(!format!("{:?} {}", fixture.variables, fixture.host.printed()).contains("t0ken"));
}

/// A token may be revoked before its end. Another one is requested, unless it would be refused as well.
#[test]
fn a_token_that_the_service_refuses_is_replaced_once() {
    const AUTH: &[HttpAuth] = &[HttpAuth::Grant(&GRANTS[0], token)];
    static CALLED: HttpCall = HttpCall { auth: AUTH, ..CALL };
    let refused = || respond(401, "t1 and t2 are not valid");
    let done = || respond(200, "7");
    for (pause, answers, sent, is_done) in [
        (61, [done(), refused(), done()], &["Bearer t1", "Bearer t1", "Bearer t2"][..], true),
        (61, [done(), refused(), refused()], &["Bearer t1", "Bearer t1", "Bearer t2"], false),
        (59, [done(), refused(), done()], &["Bearer t1", "Bearer t1"], false),
        (0, [done(), done(), done()], &["Bearer t1", "Bearer t1"], true),
    ] {
        let mut fixture = Fixture::new(&[], TOKEN);
        for number in 1..=2 {
            let body = format!(r#"{{"access_token":"t{number}","expires_in":3600}}"#);
            fixture.host.http.add("POST https://id.example/token/?v=1", respond(200, body));
        }
        for answer in answers {
            fixture.host.http.add("GET https://web.example/items", answer);
        }
        let call = || {
            fixture.with(|context| {
                let result = patient(super::super::run(&CALLED, &Value::Null, context));
                format!("{result:?}")
            })
        };
        assert!(call().contains("Number(7)"));
        fixture.advance(Duration::from_secs(pause));
        let result = call();
        assert_eq!(result.contains("Number(7)"), is_done, "{result}");
        let is_hidden = |text: &str| !text.contains("t1") && !text.contains("t2");
        assert!(is_hidden(&result) && is_hidden(&fixture.host.printed()), "{result}");
        let requests = fixture.requests();
        let headers = requests.iter().filter(|it| it.method == "GET");
        let headers: Vec<_> = headers.filter_map(|it| it.header("authorization")).collect();
        assert_eq!(headers, sent, "{pause}");
    }
}
