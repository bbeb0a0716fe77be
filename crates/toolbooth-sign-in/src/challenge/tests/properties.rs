//! Whatever comes to the addresses of challenges: an answer in form, no panic, and nothing written but
//! that a grant is deleted.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::tests::contract;

fn path() -> impl Strategy<Value = String> {
    let known =
        select(vec!["/auth/start", "/auth/callback/mail", "/auth/check", "/auth/grants/mail"]);
    prop_oneof![6 => known.prop_map(str::to_owned), 1 => "/auth/[a-z/%]{0,12}"]
}

/// A query of a few fields; `GOOD` is replaced by a value that is valid in one of them.
fn query() -> impl Strategy<Value = String> {
    let name = select(vec!["c", "state", "code", "error", "iss", "user_id", ""]);
    let value = prop_oneof![
        2 => Just("TOKEN".to_owned()),
        2 => Just("STATE".to_owned()),
        1 => Just("access_denied".to_owned()),
        1 => ".{0,12}",
        1 => "[A-Za-z0-9_-]{0,9}\\.[A-Za-z0-9_-]{0,9}",
    ];
    prop::collection::vec((name, value), 0..5).prop_map(|fields| {
        fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_request_has_an_answer_and_changes_nothing(
        method in select(vec!["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT"]),
        path in path(),
        query in query(),
        cookie in ".{0,24}",
        own in any::<bool>(),
    ) {
        let harness = start();
        let asked = harness.challenge();
        let location = Browser::default().leave(&harness, &asked);
        let state = field(location.split_once('?').unwrap().1, "state").unwrap();
        let token = asked.url.split_once("?c=").unwrap().1;
        let query = query.replace("TOKEN", token).replace("STATE", &state);
        let site = if own { "same-origin" } else { "cross-site" };
        let headers = [("cookie", &*cookie), ("sec-fetch-site", site), ("origin", "https://a.example")];
        let answer = harness.ask((method, &format!("{path}?{query}")), &headers, "");
        let headers: Vec<_> =
            answer.headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let (status, body) = (answer.status, &answer.body);
        let form = contract::check(&contract::Answer { method, path: &path, status, headers: &headers, body });
        prop_assert_eq!(form, Ok(()), "{} {}?{} {:?}", method, path, query, headers);
        let deletes = (method, status) == ("DELETE", 204);
        let may = |key: &String| deletes && key.starts_with("deleted:");
        prop_assert!(harness.host.store.values().keys().all(may), "{} {}?{}", method, path, query);
    }
}
