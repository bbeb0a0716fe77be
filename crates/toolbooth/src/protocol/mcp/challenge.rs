//! How a client learns that a call needs a sign-in, or further scopes, where tools for everyone and protected ones are at one
//! address (`MCP_PER_TOOL_AUTHORIZATION`).
//!
//! The specification has 401 with `WWW-Authenticate`. Some clients react only to a result with `_meta["mcp/www_authenticate"]`
//! (SEP-1489). `clients.json` says which, with sources; what it does not know gets the form of the specification.

use super::error;
use super::message::McpRequest;
use super::outcome::{CallTarget, ResultContext};
use super::response::ResultOptions;
use crate::call::{CHALLENGE, Rejection, RequestContext, Sent};
use crate::http::Response;
use crate::json::{self, Value};
use crate::principal::Principal;
use crate::settings::{Row, Settings, VariableDoc, VariableReader};

const TABLE: &str = include_str!("clients.json");

/// The form of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChallengeForm {
    /// 401, or 403 for a known caller, with `WWW-Authenticate`.
    Http,
    /// A result with `isError` and `_meta["mcp/www_authenticate"]`.
    Result,
}

/// `MCP_AUTH_CHALLENGE`.
#[derive(Debug, Clone, Default)]
struct ChallengeSettings {
    /// The form for all clients, if the operator has chosen one.
    form: Option<ChallengeForm>,
    /// The clients that the operator has named, before those of the table.
    clients: Vec<(String, ChallengeForm)>,
}

static AUTH_CHALLENGE: Row<Option<ChallengeSettings>> = Row::new(
    "MCP_AUTH_CHALLENGE",
    "how a protected tool asks an MCP client to sign in: `http` (401), `result` (a result with `mcp/www_authenticate`), or `auto`, the \
     form that [each client understands](CLIENTS.md#open-and-protected-tools). A JSON object names further clients by `clientInfo.name` or the \
     beginning of `User-Agent`: `{\"acme-agent\": \"result\"}`. Only used with `MCP_PER_TOOL_AUTHORIZATION` | `auto` | `auto`, with a \
     warning in the log",
    None,
    |text| parse(text).map(Some),
);

pub(super) static DOCS: &[VariableDoc] = &[AUTH_CHALLENGE.doc()];

fn parse(text: &str) -> Result<ChallengeSettings, String> {
    if text.is_empty() || text == "auto" {
        return Ok(ChallengeSettings::default());
    }
    if let Some(form) = ChallengeForm::named(text) {
        return Ok(ChallengeSettings { form: Some(form), clients: Vec::new() });
    }
    let client = |(name, value): &(_, Value<'_>)| {
        let name = String::from(name as &str);
        let form = ChallengeForm::named(value.as_str()?)?;
        Some((name, form)).filter(|(name, _)| !name.is_empty())
    };
    let clients = match json::parse(text) {
        Ok(Value::Object(clients)) => clients.iter().map(client).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let expected = "must be auto, http or result, or a JSON object of names of clients, each with http or result";
    let clients = clients.ok_or_else(|| expected.to_owned())?;
    Ok(ChallengeSettings { form: None, clients })
}

pub(super) fn read(settings: &mut Settings, reader: &mut VariableReader<'_>) {
    // Nothing else reads it.
    if !settings.per_tool_authorization {
        return;
    }
    match reader.check(&AUTH_CHALLENGE) {
        Ok(()) => settings.extensions.insert(reader.get(&AUTH_CHALLENGE).unwrap_or_default()),
        Err(problem) => reader.reject(problem),
    }
}

impl ChallengeForm {
    fn named(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "result" => Some(Self::Result),
            _ => None,
        }
    }

    /// The form that the client of a request understands.
    fn of(request: &McpRequest<'_>, context: &RequestContext<'_>) -> Self {
        let settings = context.pipeline.settings.extensions.get::<ChallengeSettings>();
        if let Some(form) = settings.and_then(|settings| settings.form) {
            return form;
        }
        let table = json::parse(TABLE).unwrap_or_default();
        let rows = table.get("clients").and_then(Value::as_array).unwrap_or_default();
        let known = rows.iter().filter_map(|row| {
            Some((row.get("name")?.as_str()?, Self::named(row.get("challenge")?.as_str()?)?))
        });
        let own = settings.into_iter().flat_map(|settings| &settings.clients);
        let own = own.map(|(name, form)| (name.as_str(), *form));
        let clients: Vec<_> = own.chain(known).collect();
        let find = |sent: &str| {
            clients.iter().find(|(name, _)| is_client(sent, name)).map(|(_, form)| *form)
        };
        let info = request.meta.client_info.as_ref().and_then(|info| info.get("name")?.as_str());
        let agent = || context.headers.get("user-agent").and_then(|agent| find(&agent));
        info.and_then(find).or_else(agent).unwrap_or(Self::Http)
    }
}

/// Whether what a client has sent names it: the name, perhaps with a version after a slash.
fn is_client(sent: &str, name: &str) -> bool {
    match (sent.get(..name.len()), sent.get(name.len()..)) {
        (Some(begin), Some(rest)) => {
            begin.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.starts_with(['/', ' ']))
        }
        _ => false,
    }
}

/// The response to a call that is rejected because its caller has not signed in, or lacks a scope; `None` if it is rejected for
/// another reason, or as everywhere else.
#[inline(never)]
pub(super) fn respond(
    rejection: &Rejection,
    call: &ResultContext<'_>,
    context: &RequestContext<'_>,
) -> Option<Response> {
    let is_anonymous = matches!(context.principal, Principal::Anonymous { .. });
    let helps = context.principal.can_sign_in()
        && match rejection {
            Rejection::MissingScope { .. } => true,
            // Who the user is, or a token that users grant: secrets come from the client in any case.
            Rejection::MissingRequirements(missing) => {
                is_anonymous && (missing.user_id || !missing.authorization.is_empty())
            }
            _ => false,
        };
    let tool = call.tool.filter(|_| helps)?;
    let form = match call.target {
        CallTarget::Tool => ChallengeForm::of(&call.request, context),
        // Only tools have results with errors.
        CallTarget::Prompt { .. } | CallTarget::Resource { .. } | CallTarget::Completion => {
            ChallengeForm::Http
        }
    };
    match (form, is_anonymous) {
        (ChallengeForm::Http, true) => {
            let rejection = Rejection::Unauthenticated { reason: REASON, sent: Sent::Nothing };
            let id = Some(&call.request.id);
            Some(error::encode_asking_for(tool.scopes, &rejection, id, context.pipeline))
        }
        (ChallengeForm::Http, false) => None,
        (ChallengeForm::Result, _) => {
            let resource = context.pipeline.settings.mcp_resource.as_ref()?;
            let (begin, scopes, text) = if is_anonymous {
                let begin = format!("{CHALLENGE}, error=\"insufficient_scope\"");
                (begin, tool.scopes, SIGN_IN)
            } else {
                (rejection.header()?.1, &[][..], STEP_UP)
            };
            let parameters = super::resource_metadata::challenge_parameters(resource, scopes);
            let challenge = format!("{begin}{parameters}, error_description=\"{text}\"");
            let options = ResultOptions { challenge: Some(&challenge), ..Default::default() };
            Some(call.error(format!("{text}, then call it again."), options))
        }
    }
}

const REASON: &str = "sign in to use this tool";
const SIGN_IN: &str = "Sign in to use this tool";
const STEP_UP: &str = "Agree to the further scopes that this tool needs";

/// Whether the address says that everyone must sign in at once: `?auth=required`, for clients that begin to sign in only when they
/// connect.
pub(super) fn demands_sign_in(query: &str) -> bool {
    form_urlencoded::parse(query.as_bytes())
        .any(|(name, value)| name == "auth" && value == "required")
}

/// The rejection of a caller who must sign in at once.
pub(super) const UNAUTHENTICATED: Rejection = Rejection::Unauthenticated {
    reason: "sign in, or use an address without auth=required",
    sent: Sent::Nothing,
};
