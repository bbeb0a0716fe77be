//! Whether one address has tools for everyone and tools that ask for a sign-in: `MCP_PER_TOOL_AUTHORIZATION`.

use super::auth::AuthSettings;
use super::mcp_resource::McpResource;
use super::reader::{Row, VariableDoc, VariableReader, truth};

static PER_TOOL_AUTHORIZATION: Row<bool> = Row::new(
    "MCP_PER_TOOL_AUTHORIZATION",
    "`true`: MCP's `tools/list` also has the tools that a caller may run only after signing in, each tool with its \
     `securitySchemes`, and calling one asks the client to sign in \
     ([Open and protected tools](SIGN-IN.md#open-and-protected-tools-at-one-address)). It needs `AUTH` with `none` and \
     `sign-in`, or with `none` and `jwt` and a `JWT_ISSUER` that is a URL, and `PUBLIC_URL`. Callers without credentials then name \
     no user | `false` | calls are rejected; without what it needs, it has no effect, with a warning in the log",
    false,
    truth,
);

pub(super) static DOCS: &[VariableDoc] = &[PER_TOOL_AUTHORIZATION.doc()];

/// Whether it is set, and clients can find out where people sign in.
pub(super) fn read(
    reader: &mut VariableReader<'_>,
    auth: &AuthSettings,
    resource: Option<&McpResource>,
) -> bool {
    if !reader.get(&PER_TOOL_AUTHORIZATION) {
        return false;
    }
    let has_both = auth.anonymous.is_some() && resource.is_some();
    if !has_both {
        let expected = "needs PUBLIC_URL, and AUTH with none and sign-in, or with none and jwt and a JWT_ISSUER that is a \
                        URL; until then, it has no effect";
        reader.reject(format!("{} {expected}", PER_TOOL_AUTHORIZATION.name));
    }
    has_both
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use crate::testing::FakeHost;

    #[test]
    fn it_needs_open_tools_and_a_place_to_sign_in() {
        const ON: (&str, &str) = ("MCP_PER_TOOL_AUTHORIZATION", "true");
        const URL: (&str, &str) = ("PUBLIC_URL", "https://tools.example");
        const SECRET: (&str, &str) = ("JWT_SECRET", "a secret of at least thirty-two bytes");
        const ISSUER: (&str, &str) = ("JWT_ISSUER", "https://login.example");
        const NAME: (&str, &str) = ("JWT_ISSUER", "our login");
        for (variables, works, told) in [
            (&[("AUTH", "none, jwt"), URL, SECRET, ISSUER, ON][..], true, false),
            (&[("AUTH", "none, jwt"), URL, SECRET, ISSUER], false, false),
            (&[("AUTH", "none, jwt"), URL, SECRET, ISSUER, (ON.0, "false")], false, false),
            (&[("AUTH", "none, jwt"), SECRET, ISSUER, ON], false, true),
            (&[("AUTH", "none, jwt"), URL, SECRET, NAME, ON], false, true),
            (&[("AUTH", "none, jwt"), URL, SECRET, ON], false, true),
            (&[("AUTH", "jwt"), URL, SECRET, ISSUER, ON], false, true),
            (&[("AUTH", "none"), URL, ON], false, true),
            (&[ON], false, true),
        ] {
            let settings = Settings::read(&FakeHost::with(variables), &[], &[]);
            assert_eq!(settings.per_tool_authorization, works, "{variables:?}");
            let is_told = settings.rejected.iter().any(|it| it.starts_with(ON.0));
            assert_eq!(is_told, told, "{variables:?} {:?}", settings.rejected);
        }
        let wrong = Settings::read(&FakeHost::with(&[(ON.0, "yes")]), &[], &[]);
        assert!(
            wrong
                .problems
                .iter()
                .any(|it| it == "MCP_PER_TOOL_AUTHORIZATION must be true or false")
        );
        assert!(!wrong.per_tool_authorization);
    }
}
