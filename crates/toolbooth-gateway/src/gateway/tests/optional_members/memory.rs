//! What later requests leave out at once.

use crate::gateway::tests::loops::say;
use crate::gateway::tests::optional_members::*;

/// Each: a request with its error, a later request, and whether the model gets the member then.
#[test]
fn what_is_remembered() {
    let unknown = openai("temperature", "unsupported_parameter");
    let effort = says_error(
        "Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `none`, expected `high`",
    );
    let only = says_error("invalid temperature: only 1 is allowed for this model");
    let both = says_error("`temperature` and `top_p` cannot both be specified for this model.");
    let long = "x".repeat(99);
    for (first, error, later, is_sent) in [
        (json!({"temperature": 0.5}), &unknown, json!({"temperature": 0.7}), false),
        (json!({"temperature": 0.5}), &only, json!({"temperature": 0.7}), false),
        (json!({"reasoning_effort": "none"}), &effort, json!({"reasoning_effort": "none"}), false),
        (json!({"reasoning_effort": "none"}), &effort, json!({"reasoning_effort": "high"}), true),
        (json!({"temperature": 0.5, "top_p": 0.5}), &both, json!({"top_p": 0.5}), true),
        (
            json!({"temperature": 0.5}),
            &unknown,
            json!({"temperature": 0.5, "model": "own/n"}),
            true,
        ),
        (
            json!({"temperature": 0.5}),
            &unknown,
            json!({"temperature": 0.5, "model": "openai/m"}),
            true,
        ),
        // A value that is like the words of the provider, or that is long.
        (
            json!({"user": "Only the default ("}),
            &says_error("user: Only the default (1)"),
            json!({"user": "u"}),
            true,
        ),
        (json!({"user": long}), &says_error("user: too long"), json!({"user": long}), true),
    ] {
        let gateway = gateway(CHAT);
        let server = gateway.server();
        let answers = vec![answer(400, error.to_string()), says("hi")];
        let reply = ask((&gateway, &server), answers, &request(CHAT, "own/m", &first));
        assert_eq!((reply.status, reply.sent.len()), (200, 2), "{error} {}", reply.text);
        let mut body = request(CHAT, "own/m", &later);
        body["model"] = later.get("model").cloned().unwrap_or_else(|| json!("own/m"));
        let reply = ask((&gateway, &server), vec![says("hi")], &body);
        for (name, value) in later.as_object().unwrap().iter().filter(|(name, _)| *name != "model")
        {
            let sent = reply.sent[0].body.get(name);
            assert_eq!(sent, Some(value).filter(|_| is_sent), "{first} {error} {later}");
        }
    }
}

/// Only what a request shows that was answered without it, and only for the account that it was sent with.
#[test]
fn what_is_not_remembered() {
    let error = || answer(400, openai("temperature", "unsupported_parameter").to_string());
    let body = request(CHAT, "own/m", &json!({"temperature": 0.5}));
    let gateway = gateway(CHAT);
    let server = gateway.server();
    for second in [answer(400, says_error("The content is blocked").to_string()), answer(500, "{}")]
    {
        let reply = ask((&gateway, &server), vec![error(), second], &body);
        assert_eq!(reply.sent.len(), 2, "{}", reply.text);
        let reply = ask((&gateway, &server), vec![says("hi")], &body);
        assert_eq!(reply.sent[0].body["temperature"], 0.5);
    }
    let with_key = |key: &str, answers| {
        let headers = [JSON, LOCAL, ("x-provider-key", key)];
        let body = request(CHAT, "openai/m", &json!({"temperature": 0.5}));
        gateway.send_to(&server, (Method::Post, CHAT), answers, &headers, &body).sent
    };
    for (key, answers, sent) in [
        ("sk-1", vec![error(), says("hi")], 2),
        ("sk-2", vec![says("hi")], 1),
        ("sk-1", vec![says("hi")], 1),
    ] {
        let requests = with_key(key, answers);
        let is_sent = requests.last().unwrap().body.get("temperature").is_some();
        assert_eq!((requests.len(), is_sent), (sent, key == "sk-2"), "{key}");
    }
}

/// Members that do not fit others are not remembered, but all rounds of a chat leave them out.
#[test]
fn further_rounds_leave_it_out() {
    let error = "`temperature` and `top_p` cannot both be specified for this model.";
    let own = json!({"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"});
    let body = request(CHAT, "own/m", &json!({"tools": [own], "temperature": 0.5, "top_p": 0.5}));
    for stream in [false, true] {
        let mut body = body.clone();
        body["stream"] = json!(stream);
        let rounds = [calls(&[say("1", "a")]), calls(&[say("2", "b")]), says("hi")];
        let rounds = rounds.map(|round| if stream { streamed(round) } else { round });
        let error = answer(400, says_error(error).to_string());
        let reply = gateway(CHAT).ask([vec![error], rounds.to_vec()].concat(), &body);
        assert_eq!((reply.status, reply.sent.len()), (200, 4), "{}", reply.text);
        let has = |sent: &Sent| sent.body.get("top_p").is_some();
        assert_eq!(reply.sent.iter().map(has).collect::<Vec<_>>(), [true, false, false, false]);
        assert_eq!(report(&reply)["dropped"], json!(["top_p"]));
    }
}

/// Claude Code sends betas that an account may not have, and with them what only they allow.
#[test]
fn betas_that_anthropic_rejects() {
    let gateway = gateway(MESSAGES);
    let server = gateway.server();
    let edits = json!({"context_management": {"edits": []}});
    let body = request(MESSAGES, "anthropic/m", &edits);
    let ask = |betas: &str, answers| {
        let headers = [JSON, LOCAL, ("anthropic-beta", betas), ("anthropic-version", "2023-06-01")];
        gateway.send_to(&server, (Method::Post, MESSAGES), answers, &headers, &body)
    };
    let says_error = |message: &str| answer(400, says_error(message).to_string());
    let rejected = says_error("Unexpected value(s) `b-2`, `c-3` for the `anthropic-beta` header.");
    let extra = says_error("context_management: Extra inputs are not permitted");
    let hello = || hello(MESSAGES, "anthropic/m", false);
    let reply = ask("a-1, b-2,c-3", vec![rejected, extra, hello()]);
    let betas: Vec<_> = reply.sent.iter().map(|sent| sent.header("anthropic-beta")).collect();
    assert_eq!(betas, ["a-1, b-2,c-3", "a-1", "a-1"], "{}", reply.text);
    assert!(reply.sent.iter().all(|it| it.header("anthropic-version") == "2023-06-01"));
    assert!(reply.sent[2].body.get("context_management").is_none());
    let warnings = report(&reply)["warnings"].to_string();
    assert!(warnings.contains("The beta b-2 was left out, because anthropic/m rejects it"));
    // Later requests leave out both.
    let reply = ask("b-2", vec![hello()]);
    assert_eq!((reply.sent.len(), reply.sent[0].header("anthropic-beta")), (1, ""));
    assert!(reply.sent[0].body.get("context_management").is_none());
}
