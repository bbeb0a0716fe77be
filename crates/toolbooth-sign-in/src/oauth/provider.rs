//! OAuth 2 providers: the variables `OAUTH_<ID>_…`.

use super::presets::{PRESETS, Preset};
use toolbooth::address::is_secure;
use toolbooth::secret::Secret;
use toolbooth::settings::OAUTH_PROVIDERS;
use toolbooth::settings::{PUBLIC_URL, Settings, VariableDoc, VariableReader, list};

/// The providers of `OAUTH_PROVIDERS`, where users authorize tools or sign in.
#[derive(Debug, Clone, Default)]
pub(crate) struct OAuthProviders {
    pub ids: Vec<String>,
    /// Those of which all variables are valid.
    pub providers: Vec<ProviderSettings>,
}

impl OAuthProviders {
    /// Reads the providers, once for all capabilities.
    pub(crate) fn read(settings: &mut Settings, reader: &mut VariableReader<'_>) -> Self {
        if let Some(known) = settings.extensions.get::<Self>() {
            return known.clone();
        }
        let read = match reader.non_empty(OAUTH_PROVIDERS) {
            Some(text) => Self::parse(&text, settings.public_url.as_deref(), reader),
            None => Self::default(),
        };
        settings.extensions.insert(read.clone());
        read
    }

    // A function of its own, so that a Worker compiles it only if there are providers.
    #[inline(never)]
    fn parse(text: &str, public_url: Option<&str>, reader: &mut VariableReader<'_>) -> Self {
        let ids = provider_ids(text, reader, public_url);
        let providers = ids.iter().filter_map(|id| ProviderSettings::read(id, reader)).collect();
        Self { ids, providers }
    }
}

/// Ids that no provider may have: the other ways to sign in.
const RESERVED_IDS: &[&str] = &["access", "api-key", "development"];

/// The ids in `OAUTH_PROVIDERS`; empty if it is invalid.
fn provider_ids(
    text: &str,
    reader: &mut VariableReader<'_>,
    public_url: Option<&str>,
) -> Vec<String> {
    let ids: Vec<String> = list(text).map(str::to_owned).collect();
    let is_plain =
        |id: &String| id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !ids.iter().all(is_plain) {
        let expected = "must be a comma-separated list of ids such as github, each of lower-case \
                        letters, digits and hyphens";
        reader.problem(OAUTH_PROVIDERS, expected);
        return Vec::new();
    }
    // The subjects of people begin with the provider's id, or with one of these.
    if let Some(id) = ids.iter().find(|id| RESERVED_IDS.contains(&id.as_str())) {
        reader.problem(OAUTH_PROVIDERS, &format!("must not contain {id}: choose another id"));
        return Vec::new();
    }
    if !ids.is_empty() && public_url.is_none() && reader.non_empty(PUBLIC_URL.name).is_none() {
        reader.problem(PUBLIC_URL.name, "must be set if OAUTH_PROVIDERS is");
    }
    ids
}

/// An OAuth 2 provider, and this server's client there.
#[derive(Debug, Clone)]
pub(crate) struct ProviderSettings {
    /// The id that definitions use.
    pub id: String,
    pub title: String,
    pub client_id: String,
    /// Its secret; a public client has none and relies on PKCE.
    pub client_secret: Option<Secret>,
    pub endpoints: EndpointSettings,
    /// Where the client's secret is sent. Default: by the discovery document, otherwise in the body.
    pub client_auth: Option<ClientAuth>,
    /// How it revokes grants. Default: by the discovery document, otherwise not at all.
    pub revocation: Option<RevocationEndpoint>,
    /// Where it describes users. Default: by the discovery document, otherwise people cannot sign in there.
    pub userinfo: Option<String>,
    /// Scopes to request in addition to those that a tool requires, such as `offline_access`.
    pub scopes: Vec<String>,
    /// What it is asked for besides, when a user authorizes a tool.
    pub parameters: Parameters,
    /// The same, when a person signs in.
    pub sign_in_parameters: Parameters,
}

/// Parameters of an authorization request that only this provider knows, with their values.
pub(crate) type Parameters = &'static [(&'static str, &'static str)];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EndpointSettings {
    Configured {
        /// The authorization endpoint (RFC 6749, 3.1).
        authorize: String,
        /// The token endpoint (RFC 6749, 3.2).
        token: String,
    },
    /// The issuer's discovery document lists them (OpenID Connect Discovery 1.0).
    Issuer(String),
}

impl EndpointSettings {
    /// The URL that the content security policy of the page of a challenge must allow.
    pub(crate) fn url(&self) -> &str {
        let (Self::Configured { authorize: url, .. } | Self::Issuer(url)) = self;
        url
    }
}

/// How and where a provider revokes a grant.
#[derive(Debug, Clone)]
pub(crate) enum RevocationEndpoint {
    /// A revocation endpoint (RFC 7009).
    Standard(String),
    /// GitHub's "delete an app authorization", which requires the client's secret.
    GitHub { url: String, client_secret: Secret },
}

/// How a client authenticates (RFC 6749, 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuth {
    /// In the `Authorization` header.
    Basic,
    /// In the body.
    Post,
}

/// `OAUTH_PROVIDERS`, and the rows that exist for each of its ids. `<ID>` stands for the id in upper case, with `_` for `-`.
pub(crate) static DOCS: &[VariableDoc] = &[
    VariableDoc::new(
        OAUTH_PROVIDERS,
        "the ids of the providers, separated by commas: `github`, `google`, `slack`, `notion`, `linear` \
             and `atlassian` are preconfigured, any other id of lowercase letters, digits and dashes works with \
             the variables below, except `access`, `api-key` and `development` | not set: \
             clients must send tokens | no challenges",
    ),
    VariableDoc::new("OAUTH_<ID>_CLIENT_ID", "the id of the OAuth client | required"),
    VariableDoc::new(
        "OAUTH_<ID>_CLIENT_SECRET",
        "its secret: printable ASCII characters | a public client, with PKCE alone",
    ),
    VariableDoc::new(
        "OAUTH_<ID>_TITLE",
        "the provider's name on the page of a challenge and where people sign in | the name of a preconfigured provider, otherwise the id",
    ),
    VariableDoc::new(
        "OAUTH_<ID>_ISSUER",
        "the issuer; its discovery document (OpenID Connect) provides the addresses. Takes \
         precedence over the next two. For a different issuer, [use a new id](OPERATING.md#change-a-provider) | not set",
    ),
    VariableDoc::new(
        "OAUTH_<ID>_AUTHORIZE_URL",
        "the authorization endpoint | preset; otherwise this and `TOKEN_URL`, or `ISSUER`, \
         are required. Only the preset's endpoint is asked for what its provider needs besides: \
         GitHub to show which account it uses (`prompt=select_account`), Google to ask for consent \
         and return a refresh token, Atlassian likewise (`offline_access`)",
    ),
    VariableDoc::new("OAUTH_<ID>_TOKEN_URL", "the token endpoint | preset; otherwise as above"),
    VariableDoc::new(
        "OAUTH_<ID>_REVOKE_URL",
        "where deleted grants are revoked; `{client_id}` is replaced. GitHub needs a client \
         secret for it | the discovery document's, or the preset's if neither `ISSUER` nor \
         `TOKEN_URL` is set; otherwise grants are only deleted here",
    ),
    VariableDoc::new(
        "OAUTH_<ID>_USERINFO_URL",
        "where the provider describes the user of an access token (OpenID Connect), for \
         sign-in | the discovery document's, or the preset's if neither `ISSUER` nor \
         `TOKEN_URL` is set; otherwise people cannot sign in there",
    ),
    VariableDoc::new(
        "OAUTH_<ID>_CLIENT_AUTH",
        "how the client sends its secret: `basic` (header) or `post` (body) | what the \
         discovery document asks for, otherwise `post`; at Notion `basic`",
    ),
    VariableDoc::new(
        "OAUTH_<ID>_SCOPES",
        "scopes to request in addition to those of the tool, such as `offline_access`, \
         separated by spaces or commas | none",
    ),
];

impl ProviderSettings {
    /// Whether it can tell who a user is.
    pub(crate) fn can_identify(&self) -> bool {
        self.userinfo.is_some() || matches!(self.endpoints, EndpointSettings::Issuer(_))
    }

    /// Its issuer, if that is known: the configured one, or that of a preset at whose host people sign in.
    pub(crate) fn issuer(&self) -> Option<&str> {
        match &self.endpoints {
            EndpointSettings::Issuer(issuer) => Some(issuer),
            EndpointSettings::Configured { authorize, .. } => {
                let is_own = |issuer: &&str| {
                    authorize.strip_prefix(*issuer).is_some_and(|path| path.starts_with('/'))
                };
                PRESETS.iter().filter_map(|preset| preset.issuer).find(is_own)
            }
        }
    }

    /// Whether users are described by GitHub's API instead of OpenID Connect's userinfo.
    pub(crate) fn is_github(&self) -> bool {
        self.id == "github" && !matches!(self.endpoints, EndpointSettings::Issuer(_))
    }

    /// Reads the variables `OAUTH_<ID>_…` of the provider `id`; `None` if one is missing or invalid.
    fn read(id: &str, reader: &mut VariableReader<'_>) -> Option<Self> {
        let mut variables = ProviderReader { prefix: prefix_of(id), reader, is_valid: true };
        let preset = PRESETS.iter().find(|preset| preset.id == id);
        let client_id = variables.text("CLIENT_ID");
        if client_id.is_none() {
            variables.problem("CLIENT_ID", "must be set");
        }
        let issuer = variables.url("ISSUER");
        let own_authorize = variables.url("AUTHORIZE_URL");
        // The preset's parameters are for its authorization endpoint.
        let asked = preset.filter(|_| issuer.is_none() && own_authorize.is_none());
        let authorize = own_authorize.or(preset.map(|it| it.authorize.to_owned()));
        let own_token = variables.url("TOKEN_URL");
        // The preset's other endpoints must not see the tokens of another server.
        let known = preset.filter(|_| issuer.is_none() && own_token.is_none());
        let of_preset =
            |url: fn(&Preset) -> Option<&'static str>| known.and_then(url).map(str::to_owned);
        let revoke = variables.url("REVOKE_URL").or(of_preset(|it| it.revoke));
        let userinfo = variables.url("USERINFO_URL").or(of_preset(|it| it.userinfo));
        let token = own_token.or(preset.map(|it| it.token.to_owned()));
        let endpoints = match (issuer, authorize, token) {
            (Some(issuer), _, _) => Some(EndpointSettings::Issuer(issuer)),
            (None, Some(authorize), Some(token)) => {
                Some(EndpointSettings::Configured { authorize, token })
            }
            _ => {
                let expected = "must be set, or both AUTHORIZE_URL and TOKEN_URL of the provider";
                variables.problem("ISSUER", expected);
                None
            }
        };
        let client_auth = match variables.text("CLIENT_AUTH").as_deref() {
            None => known.and_then(|preset| preset.client_auth),
            Some("basic") => Some(ClientAuth::Basic),
            Some("post") => Some(ClientAuth::Post),
            Some(_) => {
                variables.problem("CLIENT_AUTH", "must be basic or post");
                None
            }
        };
        let client_secret = variables.text("CLIENT_SECRET").map(Secret::new);
        // RFC 6749, A.2. Others do not arrive as they were stored.
        let is_printable =
            |secret: &Secret| secret.expose().bytes().all(|it| (b' '..=b'~').contains(&it));
        if !client_secret.as_ref().is_none_or(is_printable) {
            variables.problem(
                "CLIENT_SECRET",
                "must be printable ASCII characters, without line breaks",
            );
        }
        let title = variables.text("TITLE").or(preset.map(|it| it.title.to_owned()));
        let mut scopes = split_scopes(&variables.text("SCOPES").unwrap_or_default());
        for scope in asked.map_or(&[][..], |preset| preset.scopes) {
            if !scopes.iter().any(|known| known == scope) {
                scopes.push((*scope).to_owned());
            }
        }
        if !variables.is_valid {
            return None;
        }
        let client_id = client_id?;
        let revoke = revoke.map(|url| url.replace("{client_id}", &client_id));
        let revocation = match (id, revoke, &client_secret) {
            ("github", Some(url), Some(secret)) => {
                Some(RevocationEndpoint::GitHub { url, client_secret: secret.clone() })
            }
            ("github", ..) => None,
            (_, url, _) => url.map(RevocationEndpoint::Standard),
        };
        Some(Self {
            id: id.to_owned(),
            title: title.unwrap_or_else(|| id.to_owned()),
            client_id,
            client_secret,
            endpoints: endpoints?,
            client_auth,
            revocation,
            userinfo,
            scopes,
            parameters: asked.map_or(&[], |preset| preset.parameters),
            sign_in_parameters: asked.map_or(&[], |preset| preset.sign_in_parameters),
        })
    }
}

/// What the names of a provider's variables begin with.
pub(crate) fn prefix_of(id: &str) -> String {
    format!("OAUTH_{}_", id.to_ascii_uppercase().replace('-', "_"))
}

/// Reads the variables of one provider by the end of their names.
struct ProviderReader<'r, 'a> {
    prefix: String,
    reader: &'r mut VariableReader<'a>,
    is_valid: bool,
}

impl ProviderReader<'_, '_> {
    fn text(&self, name: &str) -> Option<String> {
        self.reader.non_empty(&format!("{}{name}", self.prefix))
    }

    fn url(&mut self, name: &str) -> Option<String> {
        let value = self.text(name)?;
        if !is_secure(&value) {
            self.problem(name, "must be an https URL; http is allowed for localhost only");
        }
        Some(value)
    }

    fn problem(&mut self, name: &str, expected: &str) {
        self.is_valid = false;
        self.reader.problem(&format!("{}{name}", self.prefix), expected);
    }
}

/// Splits a list of scopes. RFC 6749 separates them by spaces, GitHub by commas.
pub(crate) fn split_scopes(text: &str) -> Vec<String> {
    text.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
