//! The page of an account: what a person has allowed, and how they take it back.

use super::harness::{
    Browser, Harness, KEY, encode, header, location, query, request, start_with, text,
};
use super::visitors::{
    MAIL, OTHER_KEY, access_token, call, challenge, get, grant, mail, mail_harness, sign_in,
};
use serde_json::Value;
use toolbooth::http::Response;
use toolbooth::testing::STALE_MS;

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

/// The account page after a sign-in with this key.
pub(super) fn account(harness: &Harness, browser: &Browser, key: &str) -> Response {
    let back = sign_in(harness, browser, &get(harness, browser, "/account"), key);
    assert_eq!(location(&back), "/account");
    let page = get(harness, browser, "/account");
    assert_eq!(page.status, 200, "{}", text(&page));
    page
}

/// The token of the forms on a page.
fn form_token(page: &Response) -> &str {
    text(page).split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap()
}

/// The id of the first client on a page.
fn client_id(page: &Response) -> &str {
    text(page).split("name=\"client\" value=\"").nth(1).unwrap().split('"').next().unwrap()
}

/// Sends a form of the page.
fn send(
    harness: &Harness,
    browser: &Browser,
    page: &Response,
    fields: &[(&str, &str)],
) -> Response {
    let fields: Vec<_> = [("form", form_token(page))].iter().chain(fields).copied().collect();
    browser.send(harness, ("POST", "/account"), &[FORM, OWN], &encode(&fields))
}

/// The tokens of a connected client.
fn tokens(harness: &Harness, client: &super::harness::Registered, key: &str) -> Value {
    let browser = Browser::default();
    let page = browser.open(harness, &request(&client.id));
    let response = browser.answer(harness, &page, &[("with", "key"), ("api_key", key)]);
    harness.exchange(client, &query(location(&response), "code").unwrap()).1
}

/// A refresh token of a connected client.
fn refresh_token(harness: &Harness, client: &super::harness::Registered, key: &str) -> String {
    tokens(harness, client, key)["refresh_token"].as_str().unwrap().to_owned()
}

#[test]
fn the_page_shows_what_somebody_has_allowed_and_nobody_elses() {
    let harness = mail_harness();
    let token = access_token(&harness, KEY);
    let browser = Browser::default();
    let url = challenge(&harness, &token);
    sign_in(&harness, &browser, &get(&harness, &browser, &url), KEY);
    grant(&harness, &browser, &url);
    harness.wait(STALE_MS);
    let page = get(&harness, &browser, "/account");
    for part in [
        "You are signed in as <strong><bdi>Calendar</bdi></strong>",
        "<h3>Your account at <bdi>mail</bdi></h3>",
        "<li><bdi>send</bdi></li>",
        "<li><bdi>Use an account (Echo.Private)</bdi></li>",
        "Access granted on <time datetime=\"2025-03-11\">2025-03-11</time>",
        "Connected on <time datetime=\"2025-03-11T",
        "<h3><bdi>Client</bdi></h3>",
        "<bdi>client.example</bdi>",
        "Revoke access to <bdi>mail</bdi>",
        "Disconnect <bdi>Client</bdi>",
        "Sign out",
    ] {
        assert!(text(&page).contains(part), "{part}: {}", text(&page));
    }
    for (name, value) in [
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(header(&page, name), Some(value));
    }
    let policy = header(&page, "content-security-policy").unwrap();
    assert!(policy.contains("; frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("form-action"), "Cloudflare Access may redirect to its own page");
    let page = account(&harness, &Browser::default(), OTHER_KEY);
    assert!(text(&page).contains("You have not granted access to any account."), "{}", text(&page));
    assert!(text(&page).contains("No application is connected."), "{}", text(&page));
}

#[test]
fn a_grant_is_revoked_here_and_at_the_provider() {
    let harness = mail_harness();
    let token = access_token(&harness, KEY);
    let browser = Browser::default();
    let url = challenge(&harness, &token);
    sign_in(&harness, &browser, &get(&harness, &browser, &url), KEY);
    grant(&harness, &browser, &url);
    harness.wait(STALE_MS);
    assert_eq!(call(&harness, &token).0, 200);
    let page = get(&harness, &browser, "/account");
    harness.wait(1_500);
    let done = send(&harness, &browser, &page, &[("do", "revoke"), ("provider", "mail")]);
    assert_eq!((done.status, location(&done)), (303, "/account?done=revoked"));
    let after = get(&harness, &browser, location(&done));
    assert!(text(&after).contains("<p role=\"status\">Access was revoked"), "{}", text(&after));
    let log = format!("{:?}", harness.host.lines.borrow());
    for event in ["grant_deleted", "grant_revoked"] {
        assert!(log.contains(event), "{log}");
    }
    assert_eq!(call(&harness, &token).0, 400, "the next call asks again");
    assert!(!text(&get(&harness, &browser, "/account")).contains("<h3><bdi>mail</bdi></h3>"));
    // Going back and sending it again does no harm.
    harness.wait(1_500);
    assert_eq!(
        send(&harness, &browser, &page, &[("do", "revoke"), ("provider", "mail")]).status,
        303
    );
}

#[test]
fn a_client_is_disconnected_and_another_installation_stays() {
    let harness = mail_harness();
    let client = harness.client();
    let both = [(); 2].map(|()| tokens(&harness, &client, KEY));
    let [first, second] = both.each_ref().map(|it| it["refresh_token"].as_str().unwrap());
    let access = both.each_ref().map(|it| it["access_token"].as_str().unwrap());
    harness.wait(STALE_MS);
    let browser = Browser::default();
    let page = account(&harness, &browser, KEY);
    assert_eq!(access.map(|token| harness.call(token)), [200, 200]);
    for name in ["<bdi>Client</bdi> (1 of 2)</", "<bdi>Client</bdi> (2 of 2)</"] {
        let labels = ["<h3>", "Disconnect "].map(|before| format!("{before}{name}"));
        assert!(labels.iter().all(|label| text(&page).contains(label)), "{}", text(&page));
    }
    // The newest comes first.
    let done =
        send(&harness, &browser, &page, &[("do", "disconnect"), ("client", client_id(&page))]);
    assert_eq!((done.status, location(&done)), (303, "/account?done=disconnected"));
    let after = get(&harness, &browser, location(&done));
    assert!(text(&after).contains("The application was disconnected."), "{}", text(&after));
    assert_eq!(text(&after).matches("Disconnect <bdi>Client</bdi><").count(), 1);
    assert_eq!(harness.refresh(&client, second).0, 400);
    assert_eq!(harness.refresh(&client, first).0, 200);
    let again =
        send(&harness, &browser, &page, &[("do", "disconnect"), ("client", client_id(&page))]);
    assert_eq!(again.status, 303, "the record can still be read");
    harness.wait(STALE_MS);
    assert_eq!(access.map(|token| harness.call(token)), [200, 401]);
    let again =
        send(&harness, &browser, &page, &[("do", "disconnect"), ("client", client_id(&page))]);
    assert_eq!(again.status, 410);
    // A client that revokes its own tokens is gone too.
    let fields = [("token", first), ("client_id", &*client.id)];
    assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, 200);
    assert!(text(&get(&harness, &browser, "/account")).contains("No application is connected."));
}

/// The browser seems to do nothing, so the person clicks again.
#[test]
fn a_second_click_on_a_consent_page_is_the_same_connection() {
    let harness = mail_harness();
    let client = harness.client();
    let browser = Browser::default();
    let page = browser.open(&harness, &request(&client.id));
    let code_with = |key: &str| {
        harness.wait(1_500);
        let response = browser.answer(&harness, &page, &[("with", "key"), ("api_key", key)]);
        query(location(&response), "code").unwrap()
    };
    let exchanged = |code: &str| {
        harness.wait(1_500);
        let (status, tokens) = harness.exchange(&client, code);
        assert_eq!(status, 200, "{tokens}");
        tokens
    };
    let refreshes = |tokens: &Value| {
        harness.wait(1_500);
        harness.refresh(&client, tokens["refresh_token"].as_str().unwrap()).0
    };
    let codes = [KEY, KEY, OTHER_KEY].map(code_with);
    let [first, second, other] = codes.each_ref().map(|code| exchanged(code));
    harness.wait(STALE_MS);
    let account = account(&harness, &Browser::default(), KEY);
    assert_eq!(text(&account).matches("Disconnect <bdi>Client</bdi><").count(), 1);
    assert_eq!([&first, &second, &first].map(refreshes), [200, 200, 200], "both go on");
    // It ends as one, and a new answer is a new connection.
    let access = first["access_token"].as_str().unwrap();
    let fields = [("token", access), ("client_id", &*client.id)];
    harness.wait(1_500);
    assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, 200);
    assert_eq!([&first, &second, &other].map(refreshes), [400, 400, 200]);
    let again = exchanged(&code_with(KEY));
    assert_eq!(harness.call(again["access_token"].as_str().unwrap()), 200);
    assert_eq!(refreshes(&again), 200);
    // A code is used once, whatever other codes of the page there are.
    assert_eq!(harness.exchange(&client, &codes[0]).0, 400);
}

#[test]
fn the_page_leads_back_to_where_its_visitor_came_from() {
    let harness = mail_harness();
    refresh_token(&harness, &harness.client(), KEY);
    harness.wait(STALE_MS);
    let browser = Browser::default();
    account(&harness, &browser, KEY);
    let link = |page: &Response| text(page).contains("href=\"/playground#A.B\">Back to the play");
    let page = get(&harness, &browser, "/account?from=%2Fplayground%23A.B");
    assert!(link(&page), "{}", text(&page));
    let from = [("from", "/playground#A.B")];
    let disconnect = [("do", "disconnect"), ("client", client_id(&page))];
    assert!(text(&page).contains("name=\"from\" value=\"/playground#A.B\""), "{}", text(&page));
    let done = send(&harness, &browser, &page, &[&disconnect[..], &from].concat());
    assert!(link(&get(&harness, &browser, location(&done))), "{}", location(&done));
    let page = get(&harness, &browser, "/account?from=https%3A%2F%2Fevil.example");
    assert!(!text(&page).contains("Back to") && !text(&page).contains("evil"), "{}", text(&page));
}

#[test]
fn the_newest_clients_are_listed() {
    let harness = mail_harness();
    for at in 0..103 {
        let (_, client) = harness.register(&serde_json::json!({
            "client_name": format!("Client {at}"), "redirect_uris": [super::REDIRECT],
            "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
        }));
        let id = client["client_id"].as_str().unwrap().to_owned();
        let client = super::harness::Registered { id, secret: None };
        refresh_token(&harness, &client, KEY);
    }
    harness.wait(STALE_MS);
    let page = account(&harness, &Browser::default(), KEY);
    let names = text(&page).split("Disconnect <bdi>Client ").skip(1);
    let names: Vec<_> = names.map(|rest| rest.split('<').next().unwrap()).collect();
    let newest: Vec<_> = (3..103).rev().map(|at| at.to_string()).collect();
    assert_eq!(names, newest);
}

#[test]
fn nobody_disconnects_the_client_of_somebody_else() {
    let harness = mail_harness();
    let client = harness.client();
    let token = refresh_token(&harness, &client, KEY);
    harness.wait(STALE_MS);
    let (ada, owner) = (Browser::default(), Browser::default());
    let id = client_id(&account(&harness, &owner, KEY)).to_owned();
    let page = account(&harness, &ada, OTHER_KEY);
    for id in [&*id, "", "x", &"x".repeat(1_000), "../.."] {
        let response = send(&harness, &ada, &page, &[("do", "disconnect"), ("client", id)]);
        assert_eq!(response.status, 410, "{id}");
    }
    assert_eq!(harness.refresh(&client, &token).0, 200);
}

#[test]
fn only_the_page_itself_sends_its_forms() {
    let harness = mail_harness();
    let browser = Browser::default();
    let page = account(&harness, &browser, KEY);
    let token = form_token(&page);
    let fields = [("form", token), ("do", "revoke"), ("provider", "mail")];
    for (headers, fields, status) in [
        (&[FORM, OWN][..], &fields[..], 303),
        (&[FORM, ("sec-fetch-site", "cross-site")], &fields, 403),
        (&[FORM, ("sec-fetch-site", "same-site")], &fields, 403),
        (&[FORM, ("origin", "https://evil.example")], &fields, 403),
        (&[FORM], &fields, 403),
        (&[OWN], &fields, 400),
        (&[FORM, OWN], &fields[1..], 400),
        (&[FORM, OWN], &[("form", &token[1..]), ("do", "sign-out")], 403),
        (&[FORM, OWN], &[("form", token), ("do", "other")], 400),
        (&[FORM, OWN], &[("form", token)], 400),
        (&[FORM, OWN], &[("form", token), ("do", "revoke"), ("provider", "other")], 410),
    ] {
        let response = browser.send(&harness, ("POST", "/account"), headers, &encode(fields));
        assert_eq!(response.status, status, "{headers:?} {fields:?} {}", text(&response));
        assert!(!text(&response).contains("Try again"), "it would fail again: {}", text(&response));
        let is_account_error = status >= 400 && headers.contains(&FORM);
        let has_link = text(&response).contains("href=\"/account\">Back to your account</a>");
        assert_eq!(has_link, is_account_error, "{}", text(&response));
    }
    // The form of another browser, and of another person in this one.
    let other = account(&harness, &Browser::default(), KEY);
    assert_eq!(send(&harness, &browser, &other, &[("do", "sign-out")]).status, 403);
    let back = get(&harness, &browser, "/oauth/authorize/sign-in");
    browser.answer(&harness, &back, &[("with", "key"), ("api_key", OTHER_KEY)]);
    assert_eq!(send(&harness, &browser, &page, &[("do", "sign-out")]).status, 403);
}

#[test]
fn every_page_renews_the_cookie_of_its_forms() {
    const HOUR_MS: u64 = 3_600_000;
    let harness = mail_harness();
    let client = harness.client();
    let browser = Browser::default();
    browser.open(&harness, &request(&client.id));
    harness.wait(24 * HOUR_MS - 300_000);
    let page = browser.open(&harness, &request(&client.id));
    harness.wait(600_000);
    let agree = [("with", "key"), ("api_key", KEY)];
    assert_eq!(browser.answer(&harness, &page, &agree).status, 303);
    // The form of an account is valid for as long as a session.
    let browser = Browser::default();
    get(&harness, &browser, "/oauth/authorize/sign-in");
    harness.wait(13 * HOUR_MS);
    let page = account(&harness, &browser, KEY);
    harness.wait(12 * HOUR_MS - 1000);
    let done = send(&harness, &browser, &page, &[("do", "sign-out")]);
    assert!(text(&done).contains("<h1>You are signed out</h1>"), "{}", text(&done));
}

#[test]
fn whoever_signs_out_has_no_session_and_no_copy_of_it_works() {
    let mut harness = mail_harness();
    let (browser, thief) = (Browser::default(), Browser::default());
    let page = account(&harness, &browser, KEY);
    thief.copy(&browser);
    assert_eq!(get(&harness, &thief, "/account").status, 200);
    let done = send(&harness, &browser, &page, &[("do", "sign-out")]);
    assert!(text(&done).contains("<h1>You are signed out</h1>"), "{}", text(&done));
    assert_eq!(get(&harness, &browser, "/account").status, 303);
    assert_eq!(send(&harness, &browser, &page, &[("do", "sign-out")]).status, 303, "sent again");
    assert_eq!(get(&harness, &thief, "/account").status, 303);
    // Elsewhere, after a minute.
    harness.restart(&[]);
    harness.wait(STALE_MS);
    assert_eq!(get(&harness, &thief, "/account").status, 303);
}

#[test]
fn a_session_needs_a_store_that_responds() {
    let mut harness = mail_harness();
    let browser = Browser::default();
    let page = account(&harness, &browser, KEY);
    harness.host.store.fails_writes.set(true);
    let failed = send(&harness, &browser, &page, &[("do", "sign-out")]);
    assert_eq!(failed.status, 503);
    assert!(text(&failed).contains("href=\"/account\">Try again</a>"), "{}", text(&failed));
    assert_eq!(get(&harness, &browser, "/account").status, 200, "nothing has changed");
    harness.host.store.fails_writes.set(false);
    harness.host.store_works = false;
    assert_eq!(get(&harness, &browser, "/account").status, 303, "it may have ended");
}

#[test]
fn the_record_of_a_client_lives_as_long_as_its_tokens() {
    let variables = [MAIL, &[("SIGN_IN_CONNECTION_DAYS", "365")]].concat();
    let harness = start_with(&variables, mail);
    let client = harness.client();
    let mut token = refresh_token(&harness, &client, KEY);
    let mut days = Vec::new();
    for _ in 0..4 {
        harness.wait(80 * 86_400_000);
        let (status, tokens) = harness.refresh(&client, &token);
        assert_eq!(status, 200, "{tokens}");
        token = tokens["refresh_token"].as_str().unwrap().to_owned();
        harness.wait(STALE_MS);
        let page = account(&harness, &Browser::default(), KEY);
        assert!(text(&page).contains("Disconnect <bdi>Client</bdi>"), "{}", text(&page));
        let (_, used) = text(&page).split_once("last used on ").unwrap();
        days.push(used.split('"').nth(1).unwrap().to_owned());
    }
    assert_eq!(days, ["2025-05-30", "2025-08-18", "2025-11-06", "2026-01-25"]);
    harness.wait(93 * 86_400_000);
    let page = account(&harness, &Browser::default(), KEY);
    assert!(text(&page).contains("No application is connected."), "{}", text(&page));
    let operations = harness.host.store.operations.borrow();
    let records = operations.iter().filter(|operation| *operation == "put connection").count();
    assert_eq!(records, 5, "one for the code, one for each day with a refresh");
}

#[test]
fn without_sign_in_there_is_no_account() {
    let mut harness = mail_harness();
    harness.restart(&[("AUTH", "api-key")]);
    for (method, path) in
        [("GET", "/account"), ("POST", "/account"), ("GET", "/oauth/authorize/sign-in")]
    {
        assert_eq!(harness.send((method, path), &[], "").status, 404, "{method} {path}");
    }
}
