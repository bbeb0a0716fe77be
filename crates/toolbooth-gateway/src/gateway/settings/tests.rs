//! Tests of the gateway's settings.

use crate::gateway::dialect::Dialect;
use crate::gateway::format::adapter::Format;
use crate::gateway::settings::*;
use toolbooth::json;
use toolbooth::settings::{KeyLimits, Settings};
use toolbooth::testing::FakeHost;

const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "sk-canary");
const KEYS: &[(&str, &str)] = &[
    ("AUTH", "api-key"),
    (
        "API_KEYS",
        r#"[{"name":"a","scopes":["*"],"hash":"0000000000000000000000000000000000000000000000000000000000000000"}]"#,
    ),
];

fn read(variables: &[(&str, &str)]) -> Settings {
    toolbooth::testing::settings(
        crate::tests::CAPABILITIES,
        &FakeHost::with(&[KEYS, variables].concat()),
    )
}

fn gateway(settings: &Settings) -> &GatewaySettings {
    settings.extensions.get().unwrap()
}

#[test]
fn providers() {
    for (variables, expected) in [
        (&[][..], ""),
        (&[OPENAI], "openai https://api.openai.com/v1 key"),
        (&[("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")], "openai http://127.0.0.1:9/v1"),
        (
            &[("ANTHROPIC_API_KEY", "a"), ("GEMINI_API_KEY", "g")],
            "anthropic https://api.anthropic.com key, \
             google https://generativelanguage.googleapis.com key",
        ),
        (
            &[
                ("PROVIDERS", "my-groq"),
                ("MY_GROQ_BASE_URL", "https://g.example/v1"),
                ("MY_GROQ_API_KEY", "k"),
            ],
            "my-groq https://g.example/v1 key",
        ),
        (
            &[("GATEWAY_CALLER_KEYS", "true")],
            "openai https://api.openai.com/v1, anthropic https://api.anthropic.com, \
             google https://generativelanguage.googleapis.com",
        ),
    ] {
        let settings = read(variables);
        assert_eq!(settings.problems, [""; 0], "{variables:?}");
        let describe = |it: &ModelProvider| {
            format!("{} {}{}", it.id, it.base_url, if it.key.is_some() { " key" } else { "" })
        };
        let got: Vec<_> = gateway(&settings).providers.iter().map(describe).collect();
        assert_eq!(got.join(", "), expected);
        assert!(!format!("{settings:?}").contains("canary"), "a key is never shown");
    }
}

#[test]
fn each_wrong_value_is_named() {
    const ALIAS: &str = r#"{"fast":{"targets":[{"provider":"openai","model":"m","weight":2}],
        "mode":"loadbalance","retry":{"attempts":2,"status_codes":[429]},"timeout_ms":5}}"#;
    for (name, value, problem) in [
        ("MODELS", ALIAS, ""),
        ("MODELS", "", ""),
        ("MODELS", "[]", "MODELS must be"),
        ("GATEWAY_CALLER_KEYS", "yes", "GATEWAY_CALLER_KEYS must be true or false"),
        ("GATEWAY_TIMEOUT_MS", "0", "GATEWAY_TIMEOUT_MS must be"),
        ("GATEWAY_MAX_SUBREQUESTS", "1001", "GATEWAY_MAX_SUBREQUESTS must be"),
        ("MAX_TOOL_DESCRIPTION", "4097", "MAX_TOOL_DESCRIPTION must be"),
        ("GATEWAY_TOOL_ALLOWLIST_MODE", "on", "GATEWAY_TOOL_ALLOWLIST_MODE must be"),
        ("AUTH", "none", "AUTH must not contain none if OPENAI_API_KEY is set"),
        ("AUTH", "none, api-key", "AUTH must not contain none if OPENAI_API_KEY is set"),
    ] {
        let problems = read(&[OPENAI, (name, value)]).problems;
        let names = |found: &String| !problem.is_empty() && found.starts_with(problem);
        assert!(problems.iter().all(names), "{name}={value}: {problems:?}");
        assert_eq!(problems.is_empty(), problem.is_empty(), "{name}={value}: {problems:?}");
    }
}

#[test]
fn an_invalid_entry_is_rejected_alone() {
    const GOOD: &str = r#""fast":{"targets":[{"provider":"openai","model":"m","weight":2}],
        "mode":"loadbalance","retry":{"attempts":2,"status_codes":[429]},"timeout_ms":5}"#;
    let changed = |old, new| format!("{{{GOOD},{}}}", GOOD.replace("fast", "a").replace(old, new));
    for (name, value, problem, providers) in [
        ("MODELS", &*format!(r#"{{{GOOD},"a":1}}"#), "MODELS.a must be an object", "openai"),
        ("MODELS", &changed("targets", "target"), "MODELS.a must be an object with", "openai"),
        ("MODELS", &changed("model", "name"), "MODELS.a.targets[0] must be", "openai"),
        (
            "MODELS",
            &changed("openai", "x"),
            "MODELS.a.targets[0].provider is x, which is none of",
            "openai",
        ),
        (
            "MODELS",
            &changed("openai", "google"),
            "MODELS.a.targets[0].provider is google, which needs the secret GEMINI_API_KEY",
            "openai",
        ),
        ("MODELS", &changed("loadbalance", "random"), "MODELS.a.mode must be", "openai"),
        ("MODELS", &changed("s\":2", "s\":9"), "MODELS.a.retry.attempts must be", "openai"),
        ("MODELS", &changed("429", "200"), "MODELS.a.retry.status_codes must be", "openai"),
        ("MODELS", &changed("timeout_ms", "timeout"), "MODELS.a must be an object", "openai"),
        (
            "MODELS",
            &changed(r#""timeout_ms":5"#, r#""price":{"input":1,"output":1,"cache_write":-1}"#),
            "MODELS.a.price must be",
            "openai",
        ),
        (
            "MODELS",
            &changed(r#""timeout_ms":5"#, r#""price":{"input":1,"output":1,"includes_extras":1}"#),
            "MODELS.a.price must be",
            "openai",
        ),
        (
            "MODELS",
            &changed(r#""timeout_ms":5"#, r#""facts":{"effort":"low"}"#),
            "MODELS.a.facts must be an object with like, api,",
            "openai",
        ),
        (
            "MODELS",
            &changed(r#""weight":2"#, r#""facts":{"efforts":["low","huge"]}"#),
            "MODELS.a.targets[0].facts.efforts must be an array of none, minimal,",
            "openai",
        ),
        (
            "MODELS",
            &changed(r#""timeout_ms":5"#, r#""facts":{"api":"messages"}"#),
            "MODELS.a.facts.api must be chat, responses,",
            "openai",
        ),
        (
            "MODELS",
            &changed(r#""timeout_ms":5"#, r#""facts":{"budgets":[9,1]}"#),
            "MODELS.a.facts.budgets must be",
            "openai",
        ),
        (
            "MODELS",
            &changed(r#""timeout_ms":5"#, r#""facts":{"prefill":"no"}"#),
            "MODELS.a.facts.prefill must be true or false",
            "openai",
        ),
        ("PROVIDERS", "openai,own", "PROVIDERS[0] must be", "openai own"),
        ("PROVIDERS", "gemini, own", "PROVIDERS[0] must be", "openai own"),
        ("PROVIDERS", "own,Groq,", "PROVIDERS[1] must be", "openai own"),
        ("PROVIDERS", "own,own", "PROVIDERS[1] must be", "openai own"),
        (
            "PROVIDERS",
            "groq,own",
            "GROQ_BASE_URL is not set: it must be the address of the API of groq",
            "openai own",
        ),
        // Nothing goes elsewhere, or without the key.
        ("OWN_BASE_URL", "http://a.example/v1", "OWN_BASE_URL must be an https URL", "openai"),
        ("OWN_API_KEY", "a b", "OWN_API_KEY must be visible", "openai"),
        ("ANTHROPIC_BASE_URL", "a.example", "ANTHROPIC_BASE_URL must be", "openai own"),
        ("ANTHROPIC_API_KEY", "a b", "ANTHROPIC_API_KEY must be visible", "openai own"),
        // Its other target serves it.
        (
            "MODELS",
            r#"{"fast":{"targets":[{"provider":"anthropic","model":"m"},{"provider":"openai","model":"m"}]}}"#,
            "MODELS.fast.targets[0].provider is anthropic, which needs the secret ANTHROPIC_API_KEY; its other",
            "openai",
        ),
    ] {
        let own = match name {
            "MODELS" => ("PROVIDERS", ""),
            _ => ("PROVIDERS", "own"),
        };
        let url = ("OWN_BASE_URL", "https://own.example/v1");
        let settings = read(&[OPENAI, own, url, (name, value)]);
        assert_eq!(settings.problems, [""; 0], "{name}={value}");
        let [rejected] = &*settings.rejected else { panic!("{value}: {:?}", settings.rejected) };
        assert!(rejected.starts_with(problem), "{name}={value}: {rejected}");
        let ids: Vec<_> = gateway(&settings).providers.iter().map(|it| &*it.id).collect();
        assert_eq!(ids.join(" "), providers, "{name}={value}");
        let aliases: Vec<_> = gateway(&settings).aliases.iter().map(|it| &*it.name).collect();
        assert_eq!(aliases, if name == "MODELS" { &["fast"][..] } else { &[] }, "{value}");
    }
}

/// What writing into a cache costs, in thousandths of a dollar, if the price does not say so: Anthropic charges more for it than for other input.
#[test]
fn prices_of_writing_into_a_cache() {
    for (provider, more, expected) in [
        ("openai", "", [1000, 1000]),
        ("anthropic", "", [1250, 2000]),
        ("own", "", [1250, 2000]),
        ("openai", r#","cache_write":3"#, [3000, 3000]),
        ("anthropic", r#","cache_write":3"#, [3000, 3000]),
        ("anthropic", r#","cache_write":1.25"#, [1250, 2000]),
        ("own", r#","cache_write":1.25"#, [1250, 2000]),
        ("openai", r#","cache_write":1.25"#, [1250, 1250]),
        ("anthropic", r#","cache_write":0"#, [0, 0]),
    ] {
        let price = format!(r#"{{"input":1,"output":2{more}}}"#);
        let target = format!(r#"{{"provider":"{provider}","model":"m"}}"#);
        let of_alias = format!(r#"{{"a":{{"targets":[{target}],"price":{price}}}}}"#);
        let of_target = of_alias
            .replace(&format!(r#","price":{price}}}"#), "}")
            .replace(r#""m"}"#, &format!(r#""m","price":{price}}}"#));
        for models in [&of_alias, &of_target] {
            let settings = read(&[
                OPENAI,
                ("ANTHROPIC_API_KEY", "a"),
                ("PROVIDERS", "own"),
                ("OWN_BASE_URL", "https://own.example"),
                ("OWN_API", "messages"),
                ("MODELS", models),
            ]);
            let alias = gateway(&settings).aliases.first();
            let price = alias.and_then(|alias| alias.targets.first()?.price).unwrap();
            let found = [price.cache_write, price.long_cache_write].map(|it| it / 1_000_000);
            assert_eq!(found, expected, "{models}");
        }
    }
}

#[test]
fn callers_without_credentials_chat_on_this_machine_only() {
    for (variables, local_only, good) in [
        (&[OPENAI, ("AUTH", "none"), ("DEVELOPMENT", "true")][..], true, true),
        (&[OPENAI, ("AUTH", "none")], true, false),
        (&[("AUTH", "none"), ("GATEWAY_CALLER_KEYS", "true")], false, true),
        (&[OPENAI], false, true),
    ] {
        let settings = read(variables);
        assert_eq!(gateway(&settings).local_only, local_only, "{variables:?}");
        assert_eq!(settings.problems.is_empty(), good, "{variables:?}");
    }
}

#[test]
fn limits_of_a_key() {
    for (text, good) in [
        ("{}", true),
        (
            r#"{"tool_allowlist":["a"],"tool_allowlist_mode":"warn","max_tool_calls":50,
              "max_argument_bytes":262144,"max_tool_description":4096,"tool_call_limiter":"B"}"#,
            true,
        ),
        (
            r#"{"models":["fast","openai/m"],"max_output_tokens":10000000,"service_tiers":["flex"]}"#,
            true,
        ),
        (r#"{"service_tiers":[]}"#, true),
        (r#"{"models":[]}"#, false),
        (r#"{"models":"fast"}"#, false),
        (r#"{"models":[""]}"#, false),
        (r#"{"max_output_tokens":0}"#, false),
        (r#"{"max_output_tokens":1.5}"#, false),
        (r#"{"max_output_tokens":10000001}"#, false),
        (r#"{"service_tiers":"flex"}"#, false),
        (r#"{"service_tiers":[1]}"#, false),
        (r#"{"max_tool_calls":51}"#, false),
        (r#"{"max_tool_calls":"5"}"#, false),
        (r#"{"tool_allowlist":[1]}"#, false),
        (r#"{"tool_allowlist_mode":"on"}"#, false),
        (r#"{"tool_call_limiter":""}"#, false),
        (r#"{"other":1}"#, false),
        ("[]", false),
    ] {
        assert_eq!(KeyLimits::parse(&json::parse(text).unwrap()).is_ok(), good, "{text}");
    }
}

/// A provider whose format is unknown is not available: nothing may go there in a different one.
#[test]
fn formats_of_providers() {
    const PROVIDER: [(&str, &str); 2] =
        [("PROVIDERS", "own"), ("OWN_BASE_URL", "https://o.example")];
    for (api, expected) in [
        ("", Some(Format::OpenAiCompatible)),
        ("chat", Some(Format::OpenAiCompatible)),
        ("responses", Some(Format::Responses)),
        ("messages", Some(Format::Anthropic)),
        ("openai", None),
    ] {
        let settings = read(&[PROVIDER.as_slice(), &[("OWN_API", api)]].concat());
        let found = gateway(&settings).providers.first().map(|it| it.formats);
        assert_eq!(found, expected.as_ref().map(std::slice::from_ref), "{api}");
        let problem = "OWN_API must be chat, responses or messages";
        let has_problem = settings.rejected.iter().any(|it| it == problem);
        assert_eq!(has_problem, expected.is_none(), "{:?}", settings.rejected);
    }
}

/// A provider whose dialect is unknown is not available. The address decides if the variable does not.
#[test]
fn dialects_of_providers() {
    for (url, variable, expected) in [
        ("https://o.example", "", Some("default")),
        ("https://o.example", "qwen", Some("qwen")),
        ("https://openrouter.ai/api/v1", "", Some("openrouter")),
        ("https://openrouter.ai/api/v1", "openai", Some("openai")),
        ("https://o.example", "Qwen", None),
    ] {
        let settings =
            read(&[("PROVIDERS", "own"), ("OWN_BASE_URL", url), ("OWN_DIALECT", variable)]);
        let dialect = gateway(&settings).providers.first().map(|it| it.dialect);
        let expected = expected.and_then(Dialect::named);
        assert_eq!(
            dialect.map(std::ptr::from_ref),
            expected.map(std::ptr::from_ref),
            "{url} {variable}"
        );
        let problem = "OWN_DIALECT must be one of default, openai, deepseek";
        let has_problem = settings.rejected.iter().any(|it| it.starts_with(problem));
        assert_eq!(has_problem, expected.is_none(), "{:?}", settings.rejected);
    }
    let doc = models::DOCS.iter().find(|row| row.name == "<ID>_DIALECT").unwrap().doc;
    for name in Dialect::names() {
        assert!(doc.contains(&format!("`{name}`")), "{name}");
    }
}
