//! Who may call: `AUTH`, and the variables of the methods that it lists.

use super::CapabilitySettings;
use super::api_keys::{ApiKeySettings, read_api_keys};
use super::jwt::JwtSettings;
use super::reader::{VariableDoc, VariableReader};
use crate::principal::Scopes;

/// The authentication methods that are enabled.
#[derive(Debug, Clone, Default)]
pub struct AuthSettings {
    /// `none`: the scopes of callers without credentials, if they may call.
    pub anonymous: Option<Scopes>,
    /// `api-key`: the keys that are accepted.
    pub api_keys: Option<Vec<ApiKeySettings>>,
    /// `jwt`: which tokens are accepted.
    pub jwt: Option<JwtSettings>,
    /// `sign-in`: whether people sign in to the server itself.
    pub sign_in: bool,
}

const AUTH: &str = "AUTH";
const ANONYMOUS_SCOPES: &str = "ANONYMOUS_SCOPES";

pub(super) static DOCS: &[VariableDoc] = &[
    VariableDoc::new(
        AUTH,
        "`api-key`, `jwt`, `sign-in`, `none`, or several, separated by commas | not set, which is \
         invalid | every list and call gets 401",
    ),
    VariableDoc::new(
        ANONYMOUS_SCOPES,
        "the scopes of callers without credentials: `*`, or scopes separated by commas. Only used \
         if `AUTH` includes `none` | no scopes | `none` is disabled",
    ),
];

impl AuthSettings {
    /// Reads `AUTH` and the variables of each method that it lists. If `AUTH` is not set or invalid,
    /// no one may call; an invalid variable disables its own method only.
    ///
    /// `capabilities` may provide methods. `audience` is a name of this server in the `aud` of tokens, beside those of `JWT_AUDIENCE`.
    pub(super) fn read(
        reader: &mut VariableReader<'_>,
        audience: Option<&str>,
        capabilities: &[&CapabilitySettings],
    ) -> Self {
        let mut settings = Self::default();
        let methods = reader.text(AUTH).unwrap_or_default();
        if methods.trim().is_empty() {
            let expected = "is not set, so every call is rejected with 401; it can be api-key, jwt, \
                            sign-in or none, or several of them separated by commas";
            reader.problem(AUTH, expected);
            return settings;
        }
        for method in methods.split(',').map(str::trim) {
            match method {
                "none" => settings.anonymous = anonymous_scopes(reader),
                "api-key" => settings.api_keys = Some(read_api_keys(reader)),
                "jwt" => settings.jwt = Some(JwtSettings::read(reader, audience)),
                "sign-in" if provides(capabilities, method) => settings.sign_in = true,
                _ => {
                    let expected = if method == "sign-in" {
                        "sign-in needs a Worker that serves the capability `sign-in`"
                    } else {
                        "must be api-key, jwt, sign-in or none, or several of them separated by \
                         commas"
                    };
                    reader.problem(AUTH, expected);
                    reader.budgeted.clear();
                    return Self::default();
                }
            }
        }
        settings
    }
}

/// Whether a capability provides a method.
fn provides(capabilities: &[&CapabilitySettings], method: &str) -> bool {
    capabilities.iter().any(|it| it.auth_methods.contains(&method))
}

/// If it is not set or empty, callers without credentials have no scope, so they can call only the
/// tools that require none. An invalid value disables `none`.
fn anonymous_scopes(reader: &mut VariableReader<'_>) -> Option<Scopes> {
    let text = reader.text(ANONYMOUS_SCOPES).unwrap_or_default();
    if text.trim().is_empty() {
        return Some(Scopes::NONE);
    }
    let scopes = Scopes::read(text.split(',').map(|scope| scope.trim().to_owned()).collect());
    if scopes.is_none() {
        reader.problem(ANONYMOUS_SCOPES, "must be * or scopes separated by commas");
    }
    scopes
}
