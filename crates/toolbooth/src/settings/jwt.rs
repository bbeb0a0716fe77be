//! Which tokens are accepted: `JWT_SECRET`, `JWKS_URL`, and the rules for claims.

use super::key_limits::{KeyLimits, LIMITS, parse_limits};
use super::reader::{Row, VariableDoc, VariableReader, list};
use crate::address::is_secure;
use crate::budget::Budget;
use crate::json::{self, Value};
use crate::secret::Secret;
use crate::text::excerpt;

/// Which tokens are accepted.
#[derive(Debug, Clone)]
pub struct JwtSettings {
    /// `JWT_SECRET`, and `JWT_SECRET_PREVIOUS` while it is being replaced.
    pub secrets: Vec<Secret>,
    /// `JWKS_URL`: where the issuer publishes its keys; absent unless `issuer` and `audiences` are
    /// known.
    pub jwks_url: Option<String>,
    /// `JWT_AUDIENCE` and the MCP resource: the names of this server in a token's `aud`.
    pub audiences: Vec<String>,
    /// `JWT_ISSUER`: the `iss` of all tokens, if it is set.
    pub issuer: Option<String>,
    /// `JWT_LEEWAY`: how many seconds clocks may differ.
    pub leeway: u64,
    /// `JWT_TENANT_CLAIM`: the claim that names the tenant of a token, if there are tenants.
    pub tenant_claim: Option<String>,
    /// `TENANTS`.
    pub tenants: Vec<TenantSettings>,
}

/// A tenant whose tokens an issuer signs (2api.ai, 7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantSettings {
    /// Its name in tokens.
    pub name: String,
    /// Its limits in the chat gateway.
    pub limits: KeyLimits,
    /// How much all its callers may use together.
    pub budgets: Vec<Budget>,
}

/// RFC 7518, 3.2: a key of HS256 is at least as long as its hash.
const MIN_SECRET: usize = 32;
/// A longer leeway would defeat short lifetimes.
const MAX_LEEWAY: u64 = 300;

static JWT_SECRET: Row<Option<Secret>> = Row::new(
    "JWT_SECRET",
    "the HS256 secret, at least 32 bytes | this or `JWKS_URL` is required if `AUTH` includes `jwt` \
     | the secret is ignored",
    None,
    parse_secret,
);
static JWT_SECRET_PREVIOUS: Row<Option<Secret>> = Row::new(
    "JWT_SECRET_PREVIOUS",
    "the HS256 secret before the current one, accepted while you replace it. At least 32 bytes, \
     not equal to `JWT_SECRET`, and only together with it | not set | the secret is ignored",
    None,
    |text| if text.is_empty() { Ok(None) } else { parse_secret(text) },
);
static JWKS_URL: Row<Option<String>> = Row::new(
    "JWKS_URL",
    "the address of an issuer's keys: `https`, or `http` on this machine. Requires `JWT_ISSUER`, \
     and `JWT_AUDIENCE` or `PUBLIC_URL` | not set | the issuer's tokens are rejected",
    None,
    |text| match is_secure(text) {
        true => Ok(Some(text.to_owned())),
        false => Err("must be an https URL; http is allowed for localhost only".to_owned()),
    },
);
static JWT_AUDIENCE: Row<Vec<String>> = Row::new(
    "JWT_AUDIENCE",
    "the names of this server, separated by commas; a token's `aud` must contain one of them; only \
     HS256 tokens may omit `aud`. `<PUBLIC_URL>/mcp` is always one | none: HS256 tokens must not \
     have `aud` |",
    Vec::new(),
    |text| Ok(list(text).map(str::to_owned).collect()),
);
static JWT_ISSUER: Row<Option<String>> = Row::new(
    "JWT_ISSUER",
    "the `iss` that every token must have, also an HS256 token. If it is an address, and `AUTH` \
     includes `jwt` and `PUBLIC_URL` is set, MCP clients sign in there | any `iss` is accepted |",
    None,
    |text| Ok(Some(text.to_owned()).filter(|text| !text.is_empty())),
);
static JWT_LEEWAY: Row<u64> = Row::new(
    "JWT_LEEWAY",
    "the clock difference to tolerate, in whole seconds from 0 to 300 | `30` | the default applies",
    30,
    |text| match text.parse() {
        Ok(seconds) if seconds <= MAX_LEEWAY => Ok(seconds),
        _ => Err("must be a whole number of seconds from 0 to 300".to_owned()),
    },
);

static JWT_TENANT_CLAIM: Row<Option<String>> = Row::new(
    "JWT_TENANT_CLAIM",
    "the claim of tokens that names their tenant, if `TENANTS` is set | `tenant` |",
    None,
    |text| Ok(Some(text.to_owned()).filter(|text| !text.is_empty())),
);
const TENANTS: &str = "TENANTS";

pub(super) static DOCS: &[VariableDoc] = &[
    VariableDoc::new(
        TENANTS,
        "limits of the tokens of `jwt`, by the tenant that they name: a JSON object such as `{\"acme\": {\"tenant_settings\": {…}}}`, \
         with what [`gateway`](#chat-gateway) of a key may have, and perhaps `budgets`, which all callers of the tenant share. A \
         token that names another tenant gets 401; one that names none has the limits of all callers | none | the tokens of the \
         invalid tenant get 401; the others may call",
    ),
    JWT_TENANT_CLAIM.doc(),
    JWT_SECRET.doc(),
    JWT_SECRET_PREVIOUS.doc(),
    JWKS_URL.doc(),
    JWT_AUDIENCE.doc(),
    JWT_ISSUER.doc(),
    JWT_LEEWAY.doc(),
];

impl JwtSettings {
    /// Reads the variables. `audience` is a further name of this server in the `aud` of tokens.
    // A function of its own, so that a Worker compiles it only if `AUTH` lists the method.
    #[inline(never)]
    pub(super) fn read(reader: &mut VariableReader<'_>, audience: Option<&str>) -> Self {
        let has_secret = reader.text(JWT_SECRET.name).is_some();
        let has_url = reader.text(JWKS_URL.name).is_some();
        if !has_secret && !has_url {
            let expected = "or JWKS_URL must be set if AUTH contains jwt";
            reader.problem(JWT_SECRET.name, expected);
        }
        let secrets = read_secrets(reader, has_secret);
        let leeway = reader.get(&JWT_LEEWAY);
        let mut audiences = reader.get(&JWT_AUDIENCE);
        audiences.extend(audience.map(str::to_owned));
        let issuer = reader.get(&JWT_ISSUER);
        // An issuer signs for other servers too, and a key set may belong to several issuers.
        if has_url && audiences.is_empty() {
            reader.problem(JWT_AUDIENCE.name, "or PUBLIC_URL must be set if JWKS_URL is");
        }
        if has_url && issuer.is_none() {
            reader.problem(JWT_ISSUER.name, "must be set if JWKS_URL is");
        }
        let is_complete = !audiences.is_empty() && issuer.is_some();
        let jwks_url = reader.get(&JWKS_URL).filter(|_| is_complete);
        let claim = reader.get(&JWT_TENANT_CLAIM).unwrap_or_else(|| "tenant".to_owned());
        let tenant_claim = reader.non_empty(TENANTS).map(|_| claim);
        let tenants = read_tenants(reader);
        Self { secrets, jwks_url, audiences, issuer, leeway, tenant_claim, tenants }
    }
}

fn read_tenants(reader: &mut VariableReader<'_>) -> Vec<TenantSettings> {
    let Some(text) = reader.non_empty(TENANTS) else { return Vec::new() };
    let Ok(Value::Object(entries)) = json::parse(&text) else {
        reader.problem(TENANTS, "must be a JSON object of tenants, each with tenant_settings");
        return Vec::new();
    };
    let mut tenants = Vec::new();
    for (name, entry) in entries.iter() {
        let members = entry.as_object().filter(|members| members.has_only(&LIMITS));
        let parsed = match members {
            Some(_) => parse_limits(entry),
            None => Err(
                " must be an object with tenant_settings (or gateway), perhaps budgets, and nothing else",
            ),
        };
        match parsed {
            Ok((limits, budgets)) => {
                reader.has_budgets(&budgets, || format!("{TENANTS}.{}", excerpt(name)));
                let (name, limits) = (name.to_string(), limits.unwrap_or_default());
                tenants.push(TenantSettings { name, limits, budgets });
            }
            Err(expected) => reader.reject(format!("{TENANTS}.{}{expected}", excerpt(name))),
        }
    }
    tenants
}

fn read_secrets(reader: &mut VariableReader<'_>, has_secret: bool) -> Vec<Secret> {
    let secret = reader.get(&JWT_SECRET);
    let previous = reader.get(&JWT_SECRET_PREVIOUS);
    if previous.is_some() && previous == secret {
        reader.problem(JWT_SECRET_PREVIOUS.name, "must differ from JWT_SECRET or not be set");
    }
    if previous.is_some() && !has_secret {
        reader.problem(JWT_SECRET_PREVIOUS.name, "must not be set without JWT_SECRET");
    }
    let previous = previous.filter(|_| has_secret);
    secret.into_iter().chain(previous).collect()
}

fn parse_secret(text: &str) -> Result<Option<Secret>, String> {
    if text.len() < MIN_SECRET {
        return Err("must have at least 32 bytes".to_owned());
    }
    Ok(Some(Secret::new(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use crate::budget::{Account, Budget, Unit, Window};
    use crate::principal::{Principal, Scopes};
    use crate::settings::Settings;
    use crate::testing::FakeHost;

    const JWT: &[(&str, &str)] =
        &[("AUTH", "jwt"), ("JWT_SECRET", "0123456789abcdef0123456789abcdef")];

    fn read(tenants: &str) -> Settings {
        Settings::read(&FakeHost::with(&[JWT, &[("TENANTS", tenants)]].concat()), &[], &[])
    }

    #[test]
    fn tenants() {
        let settings = read(
            r#"{"acme": {"tenant_settings": {"tool_allowlist": ["a"], "tool_calls_per_minute": 60}},
                "other": {"gateway": {"models": ["fast"]}, "budgets": [{"window": "1d", "usd": 5}]},
                "wrong": {"tenant_settings": {"tools": 1}}, "more": {"tenant_settings": {}, "x": 1}}"#,
        );
        assert_eq!(settings.problems, [""; 0]);
        let rejected: Vec<_> = settings.rejected.iter().map(|it| it.split(' ').next()).collect();
        assert_eq!(rejected, [Some("TENANTS.more"), Some("TENANTS.wrong.gateway")]);
        assert_eq!(settings.budgeted, ["TENANTS.acme", "TENANTS.other"]);
        let user = |tenant: &str| Principal::User {
            issuer: "i".to_owned(),
            subject: Some("ada".to_owned()),
            scopes: Scopes::NONE,
            client: None,
            rule: None,
            budgets: Vec::new(),
            tenant: Some(tenant.to_owned()),
            client_ref: None,
            team: None,
            actor: None,
            grant: None,
        };
        let acme = user("acme");
        assert!(settings.limits_of(&acme).unwrap().tools.is_some());
        assert_eq!(settings.account_of(&acme), Some(Account::Tenant("acme".to_owned())));
        let minute = Budget { window: Window::Minute, unit: Unit::ToolCalls, limit: 60 };
        assert_eq!(settings.budgets_of(&acme), [minute]);
        assert_eq!(Account::named("tenant:acme"), settings.account_of(&acme));
        assert!(settings.limits_of(&user("other")).unwrap().models.is_some());
        for text in ["[]", "acme", "{"] {
            assert!(read(text).problems[0].starts_with("TENANTS must be"), "{text}");
        }
    }
}
