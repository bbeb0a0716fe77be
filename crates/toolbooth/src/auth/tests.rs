//! Authentication methods, headers and API keys. Tokens have their own tables.

mod issuer;
mod tokens;

use super::*;
use crate::testing::Pairs;
use crate::testing::{FakeHost, ready};

/// The SHA-256 of "key-one" and of "key-two".
const ONE: &str = "9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a";
const TWO: &str = "c8df51469c308a59bfbd48a3e0bdd228ca922d6032035f5ef6e4ad45f473a9f3";

type Set<'a> = &'a [(&'a str, &'a str)];

fn authenticator(host: &FakeHost) -> Authenticator {
    Authenticator::new(&crate::testing::settings(crate::testing::CAPABILITIES, host), None)
}

/// Authenticates a request with these headers, with these variables set.
fn principal(variables: Set<'_>, headers: Set<'_>) -> Result<Principal, AuthError> {
    let host = FakeHost::with(variables);
    let sent = authenticator(&host);
    let sent = ready(sent.authenticate(Target::default(), &Pairs(headers), &host));
    sent.map(|it| match it.principal {
        // Without its hash, which `key` has not.
        Principal::Key { name, scopes, .. } => Principal::key(name, scopes),
        other => other,
    })
}

fn problems(variables: Set<'_>) -> Vec<String> {
    crate::testing::settings(crate::testing::CAPABILITIES, &FakeHost::with(variables)).problems
}

fn missing(expected: &'static str) -> AuthError {
    AuthError::Missing { expected }
}

fn invalid() -> AuthError {
    AuthError::INVALID
}

fn rejected(reason: &'static str) -> AuthError {
    AuthError::invalid(reason)
}

fn listed(scopes: &[&str]) -> Scopes {
    Scopes::Listed(scopes.iter().map(|scope| (*scope).to_owned()).collect())
}

fn key(name: &str, scopes: &[&str]) -> Result<Principal, AuthError> {
    Ok(Principal::key(name, listed(scopes)))
}

fn keys() -> String {
    format!(
        r#"[{{"name":"one","scopes":["a","b"],"hash":"{ONE}"}},{{"name":"two","scopes":[],"hash":"{}"}}]"#,
        TWO.to_uppercase()
    )
}

#[test]
fn each_way_in_alone() {
    let keys = keys();
    let by_key = [("AUTH", "api-key"), ("API_KEYS", &*keys)];
    let by_token = [("AUTH", "jwt"), ("JWT_SECRET", tokens::SECRET)];
    let open = [("AUTH", "none"), ("API_KEYS", &*keys)];
    let token = format!("Bearer {}", tokens::good());
    let user = tokens::user(Some("alice"), &["a"]);
    let (no_key, no_token) = (
        Err(missing("send an API key: Authorization: Bearer … or X-API-Key")),
        Err(missing("send a token: Authorization: Bearer …")),
    );
    for (what, variables, headers, expected) in [
        // X35, T36
        ("none", &open[..], &[][..], Ok(Principal::ANONYMOUS)),
        ("none, a good key", &open, &[("oxp-api-key", "key-one")], Ok(Principal::ANONYMOUS)),
        ("none, a bad bearer", &open, &[("authorization", "Bearer x")], Ok(Principal::ANONYMOUS)),
        ("none, nonsense", &open, &[("authorization", "?")], Ok(Principal::ANONYMOUS)),
        // X36, X37, T37
        ("OXP-API-Key", &by_key, &[("oxp-api-key", "key-one")], key("one", &["a", "b"])),
        ("OTC-API-Key", &by_key, &[("otc-api-key", "key-two")], key("two", &[])),
        ("X-API-Key", &by_key, &[("x-api-key", "key-two")], key("two", &[])),
        ("X-Auth-Token", &by_key, &[("x-auth-token", "key-two")], key("two", &[])),
        ("a wrong X-API-Key", &by_key, &[("x-api-key", "key-three")], Err(invalid())),
        ("a wrong X-Auth-Token", &by_key, &[("x-auth-token", "")], Err(invalid())),
        (
            "Authorization counts before X-API-Key",
            &by_key,
            &[("x-api-key", "key-one"), ("authorization", "Bearer key-two")],
            key("two", &[]),
        ),
        ("bearer key", &by_key, &[("authorization", "Bearer key-one")], key("one", &["a", "b"])),
        ("scheme in capitals", &by_key, &[("authorization", "BEARER key-two")], key("two", &[])),
        ("no key", &by_key, &[], no_key),
        ("another key", &by_key, &[("oxp-api-key", "key-three")], Err(invalid())),
        ("an empty key", &by_key, &[("oxp-api-key", "")], Err(invalid())),
        ("a beginning of a key", &by_key, &[("oxp-api-key", "key-on")], Err(invalid())),
        ("a key and more", &by_key, &[("oxp-api-key", "key-one ")], Err(invalid())),
        ("the hash itself", &by_key, &[("oxp-api-key", ONE)], Err(invalid())),
        ("the name of a key", &by_key, &[("oxp-api-key", "one")], Err(invalid())),
        ("two keys in one header", &by_key, &[("oxp-api-key", "key-one, key-two")], Err(invalid())),
        ("another scheme", &by_key, &[("authorization", "Basic key-one")], Err(invalid())),
        ("no scheme", &by_key, &[("authorization", "key-one")], Err(invalid())),
        ("a scheme alone", &by_key, &[("authorization", "Bearer")], Err(invalid())),
        ("an empty bearer", &by_key, &[("authorization", "Bearer ")], Err(invalid())),
        ("a token where keys count", &by_key, &[("authorization", &*token)], Err(invalid())),
        (
            "of two the first counts, good or bad",
            &by_key,
            &[("oxp-api-key", "key-three"), ("authorization", "Bearer key-one")],
            Err(invalid()),
        ),
        // X40, X41, T38
        ("token", &by_token, &[("authorization", &*token)], user.clone()),
        ("no token", &by_token, &[], no_token.clone()),
        ("a key where tokens count", &by_token, &[("oxp-api-key", "key-one")], no_token.clone()),
        ("such a key, too", &by_token, &[("x-api-key", "key-one")], no_token),
        ("a bearer key", &by_token, &[("authorization", "Bearer key-one")], Err(invalid())),
        (
            "the token counts where keys do not",
            &by_token,
            &[("oxp-api-key", "key-one"), ("authorization", &*token)],
            user,
        ),
    ] {
        assert_eq!(principal(variables, headers), expected, "{what}");
    }
    for variables in [&by_key[..], &by_token] {
        let huge = format!("Bearer {}", "k".repeat(MAX_CREDENTIAL + 1));
        assert_eq!(principal(variables, &[("authorization", &huge)]), Err(invalid()), "too long");
    }
}

#[test]
fn several_ways_in() {
    let keys = keys();
    let both = [("AUTH", " api-key , jwt"), ("API_KEYS", &*keys), ("JWT_SECRET", tokens::SECRET)];
    let token = format!("Bearer {}", tokens::good());
    assert_eq!(principal(&both, &[("otc-api-key", "key-two")]), key("two", &[]));
    assert_eq!(principal(&both, &[("authorization", "Bearer key-two")]), key("two", &[]));
    assert!(matches!(principal(&both, &[("authorization", &token)]), Ok(Principal::User { .. })));
    assert_eq!(principal(&both, &[("authorization", "Bearer key-three")]), Err(invalid()));
    let wanted = "send an API key or a token: Authorization: Bearer …";
    assert_eq!(principal(&both, &[]), Err(missing(wanted)));

    let also_open = [("AUTH", "none,api-key"), ("API_KEYS", &*keys)];
    assert_eq!(principal(&also_open, &[]), Ok(Principal::ANONYMOUS));
    assert_eq!(principal(&also_open, &[("oxp-api-key", "key-two")]), key("two", &[]));
    assert_eq!(principal(&also_open, &[("oxp-api-key", "key-three")]), Err(invalid()));
    assert_eq!(principal(&also_open, &[("authorization", "Basic x")]), Err(invalid()));
}

#[test]
fn what_is_not_configured_is_shut() {
    let keys = keys();
    let wanted =
        "AUTH must be api-key, jwt, sign-in or none, or several of them separated by commas";
    let unset = "AUTH is not set, so every call is rejected with 401; it can be api-key, jwt, sign-in or none, or several of them separated by commas";
    for ways in ["", " ", ",", "None", "apikey", "api-key;jwt", "none,", "api-key,oauth"] {
        let variables = [("AUTH", ways), ("API_KEYS", &*keys)];
        let wanted = if ways.trim().is_empty() { unset } else { wanted };
        assert_eq!(problems(&variables), [wanted], "AUTH={ways:?}");
        for headers in [&[][..], &[("oxp-api-key", "key-one")]] {
            assert_eq!(principal(&variables, headers), Err(missing(CLOSED)), "AUTH={ways:?}");
        }
    }
    let form = "API_KEYS must be a JSON array of objects with name, scopes and hash; \
                `make key` prints one";
    let members = "API_KEYS[0] must be an object with name, scopes and hash (or jwks, or jwks_uri), and nothing else but previous_hash, tools, gateway, tenant_settings, budgets, verify_url, host and may_act";
    let members_of_one = &*members.replace("[0]", "[0] of \"one\"");
    let with_key = &*format!("{members_of_one}; there is no member \"key\"");
    let misspelled = &*format!("{members_of_one}; there is no member \"scops\"");
    let hash = "API_KEYS[0].hash of \"one\" must be 64 hexadecimal digits";
    let jwks = "API_KEYS[0].jwks of \"one\" must be a JSON Web Key Set with a public key for RS256, ES256 or EdDSA";
    let jwks_uri =
        "API_KEYS[0].jwks_uri of \"one\" must be an https URL; http is allowed for localhost only";
    let may_act = "API_KEYS[0].may_act of \"one\" must be an array of words without spaces";
    let both = "API_KEYS[0] of \"one\" must not have both jwks and jwks_uri";
    let scopes = "API_KEYS[0].scopes of \"one\" must be words without spaces";
    let name = "API_KEYS[0].name must be 1 to 64 visible characters";
    let entry = |name: &str, scopes: &str, hash: &str| {
        format!(r#"{{"name":{name},"scopes":{scopes},"hash":"{hash}"}}"#)
    };
    let one = |name: &str, scopes: &str, hash: &str| format!("[{}]", entry(name, scopes, hash));
    for (text, problem) in [
        (String::new(), form),
        ("[]".to_owned(), form),
        ("{}".to_owned(), form),
        ("key-one".to_owned(), form),
        (r#"["key-one"]"#.to_owned(), members),
        (r#"[{"name":"one","scopes":["a"]}]"#.to_owned(), members_of_one),
        (r#"[{"name":"one","key":"key-one"}]"#.to_owned(), with_key),
        (format!(r#"[{{"name":"one","scops":["a"],"hash":"{ONE}"}}]"#), misspelled),
        // What could be a key in a wrong place is not repeated.
        (format!(r#"[{{"name":"one","scopes":[],"hash":"{ONE}","Key-1":1}}]"#), members_of_one),
        (one("7", "[]", ONE), members),
        (one(r#""one","key":"key-one""#, "[]", ONE), with_key),
        (one(r#""one","name":"two""#, "[]", ONE), form),
        (one(r#""one","jwks":{"keys":[]}"#, "[]", ONE), jwks),
        (one(r#""one","jwks":[]"#, "[]", ONE), jwks),
        (one(r#""one","may_act":"a""#, "[]", ONE), may_act),
        (one(r#""one","may_act":["a b"]"#, "[]", ONE), may_act),
        (one(r#""one","jwks_uri":"http://a.example/keys""#, "[]", ONE), jwks_uri),
        (one(r#""one","jwks":{},"jwks_uri":"https://a.example/""#, "[]", ONE), both),
        (
            r#"[{"name":"one","scopes":[],"previous_hash":"x","jwks_uri":"https://a.example/"}]"#
                .to_owned(),
            members_of_one,
        ),
        (one(r#""one""#, "[]", &ONE[1..]), hash),
        (one(r#""one""#, "[]", &format!("{ONE}0")), hash),
        (one(r#""one""#, "[]", &ONE.replace('d', "g")), hash),
        (one(r#""one""#, "[]", &ONE.replace("d2", "é")), hash),
        (one(r#""one""#, r#"["a b"]"#, ONE), scopes),
        (one(r#""one""#, r#"["a",""]"#, ONE), scopes),
        (one(r#"" ""#, "[]", ONE), name),
        (one(&format!("{:?}", "é".repeat(65)), "[]", ONE), name),
        (one(r#""a\nb""#, "[]", ONE), name),
        (one(r#""a\u0085b""#, "[]", ONE), name),
        (one(r#""a\u202eb""#, "[]", ONE), name),
        (one(r#""a\u2066b""#, "[]", ONE), name),
        (one(r#""a\u200fb""#, "[]", ONE), name),
        (one(r#""a\u200bb""#, "[]", ONE), name),
        (one(r#""a\u2028b""#, "[]", ONE), name),
        (one(r#""\ufeffab""#, "[]", ONE), name),
        (one(r#""a\udb40\udc41b""#, "[]", ONE), name),
    ] {
        let variables = [("AUTH", "api-key"), ("API_KEYS", &*text)];
        assert_eq!(problems(&variables), [problem], "{text}");
        for header in [("oxp-api-key", "key-one"), ("oxp-api-key", "")] {
            assert_eq!(principal(&variables, &[header]), Err(invalid()), "{text}");
        }
    }
    for good in ["Ada's calendar, №1", "日程 😀", &"é".repeat(64)] {
        let text = one(&format!("{good:?}"), "[]", ONE);
        assert_eq!(problems(&[("AUTH", "api-key"), ("API_KEYS", &text)]), [""; 0], "{good}");
    }
    assert_eq!(problems(&[("AUTH", "api-key")]), [form]);
    assert_eq!(problems(&[("AUTH", "api-key"), ("API_KEYS", &keys)]), [""; 0]);
}

#[test]
fn an_invalid_entry_is_rejected_alone() {
    let good = format!(r#"{{"name":"one","scopes":["a"],"hash":"{ONE}"}}"#);
    for (second, problem) in [
        (r#""name":"two","scopes":[],"hash":"TWO0""#, ".hash of \"two\" must be 64 hex"),
        (r#""name":"two","scopes":"a","hash":"TWO""#, " of \"two\" must be an object"),
        (r#""name":"","scopes":[],"hash":"TWO""#, ".name must be 1 to 64"),
        (r#""name":"one","scopes":["*"],"hash":"TWO""#, ".name of \"one\" must be unique"),
        (
            r#""name":"two","scopes":["*"],"hash":"ONE""#,
            " of \"two\" must not have a hash of another",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","previous_hash":"ONE""#,
            " of \"two\" must not have a hash of another",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","previous_hash":"TWO""#,
            ".previous_hash of \"two\" must not be that of hash",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","previous_hash":null"#,
            ".previous_hash of \"two\" must be 64 hex",
        ),
        // What restricts a key must not be lost.
        (
            r#""name":"two","scopes":[],"hash":"TWO","tools":"Echo.*""#,
            ".tools of \"two\" must be an",
        ),
        (r#""name":"two","scopes":[],"hash":"TWO","tools":[1]"#, ".tools of \"two\" must be an"),
        (
            r#""name":"two","scopes":[],"hash":"TWO","tool":["Echo.*"]"#,
            " of \"two\" must be an object",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","gateway":{"max_tool_calls":0}"#,
            ".gateway of \"two\" must be an object",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","gateway":{"models":"fast"}"#,
            ".gateway.models of \"two\" must be a non-empty array",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","gateway":{"max_output_tokens":0}"#,
            ".gateway.max_output_tokens of \"two\" must be a whole number",
        ),
        (
            r#""name":"two","scopes":[],"hash":"TWO","gateway":{"service_tiers":[1]}"#,
            ".gateway.service_tiers of \"two\" must be an array",
        ),
    ] {
        let second = second.replace("ONE", ONE).replace("TWO", TWO);
        for (at, entries) in
            [(1, format!("[{good},{{{second}}}]")), (0, format!("[{{{second}}},{good}]"))]
        {
            // The first of two counts.
            if at == 0 && (problem.contains("unique") || problem.contains("another")) {
                continue;
            }
            let variables = [("AUTH", "api-key"), ("API_KEYS", &*entries)];
            let settings =
                crate::testing::settings(crate::testing::CAPABILITIES, &FakeHost::with(&variables));
            assert_eq!(settings.problems, [""; 0], "{entries}");
            let [rejected] = &*settings.rejected else { panic!("{:?}", settings.rejected) };
            assert!(rejected.starts_with(&format!("API_KEYS[{at}]{problem}")), "{rejected}");
            let with = |key| principal(&variables, &[("oxp-api-key", key)]);
            assert_eq!(with("key-one"), key("one", &["a"]), "{entries}");
            assert_eq!(with("key-two"), Err(invalid()), "{entries}");
        }
    }
}

#[test]
fn a_key_and_the_one_before_it() {
    let entry =
        format!(r#"[{{"name":"one","scopes":["a"],"hash":"{TWO}","previous_hash":"{ONE}"}}]"#);
    let variables = [("AUTH", "api-key"), ("API_KEYS", &*entry)];
    assert_eq!(problems(&variables), [""; 0]);
    for (sent, expected) in [
        ("key-one", key("one", &["a"])),
        ("key-two", key("one", &["a"])),
        ("key-three", Err(invalid())),
    ] {
        assert_eq!(principal(&variables, &[("oxp-api-key", sent)]), expected, "{sent}");
    }
    let shown = format!(
        "{:?}",
        crate::testing::settings(crate::testing::CAPABILITIES, &FakeHost::with(&variables))
    );
    assert!(!shown.contains("155, 52"), "a hash is never shown: {shown}");
}

#[test]
fn scopes_of_callers_without_credentials() {
    let keys = keys();
    let anonymous = |words: &[&str]| Some(Principal::Anonymous { scopes: listed(words) });
    let wrong = "ANONYMOUS_SCOPES must be * or scopes separated by commas";
    for (value, expected) in [
        ("", anonymous(&[])),
        (" ", anonymous(&[])),
        ("a", anonymous(&["a"])),
        (" a:b , c", anonymous(&["a:b", "c"])),
        ("*", Some(Principal::Anonymous { scopes: Scopes::All })),
        ("a,*", Some(Principal::Anonymous { scopes: Scopes::All })),
        ("a b", None),
        ("a,", None),
        (",", None),
        ("é", None),
    ] {
        let set = ("ANONYMOUS_SCOPES", value);
        let problem = if expected.is_some() { vec![] } else { vec![wrong] };
        for ways in ["none", "none,api-key"] {
            let variables = [("AUTH", ways), ("API_KEYS", &*keys), set];
            assert_eq!(problems(&variables), problem, "{ways} {value:?}");
            assert_eq!(principal(&variables, &[]).ok(), expected, "{ways} {value:?}");
        }
        // It opens nothing, for any caller.
        let variables = [("AUTH", "api-key"), ("API_KEYS", &*keys), set];
        assert_eq!(problems(&variables), [""; 0], "{value:?}");
        assert!(principal(&variables, &[]).is_err(), "{value:?}");
        assert_eq!(principal(&variables, &[("oxp-api-key", "key-two")]), key("two", &[]));
    }
}

#[test]
fn nothing_of_a_key_or_secret_can_be_printed() {
    let keys = keys();
    let variables = [("AUTH", "api-key,jwt"), ("API_KEYS", &*keys), ("JWT_SECRET", tokens::SECRET)];
    let host = FakeHost::with(&variables);
    let shown = format!(
        "{:?} {:?}",
        authenticator(&host),
        crate::testing::settings(crate::testing::CAPABILITIES, &host)
    );
    for secret in [ONE, TWO, tokens::SECRET, "210"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn scopes() {
    for (has, required, expected) in [
        (&[][..], &[][..], true),
        (&["a"], &[], true),
        (&["a"], &["a"], true),
        (&["b", "a"], &["a", "b"], true),
        (&["a"], &["a", "b"], false),
        (&[], &["a"], false),
        (&["a:b"], &["a"], false),
        (&["A"], &["a"], false),
        (&["*"], &["a"], false),
    ] {
        assert_eq!(listed(has).cover(required), expected, "{has:?} {required:?}");
        assert!(Scopes::All.cover(required));
    }
    let all = format!(r#"[{{"name":"dev","scopes":["a","*"],"hash":"{ONE}"}}]"#);
    let got = principal(&[("AUTH", "api-key"), ("API_KEYS", &all)], &[("oxp-api-key", "key-one")]);
    assert_eq!(got, Ok(Principal::key("dev", Scopes::All)));
}
