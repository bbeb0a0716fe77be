//! The consent page, as "Security Best Practices" of MCP requires it: it shows which client asks, for what, and where
//! the browser goes next, before anybody signs in.

use super::client::{Client, ClientOrigin};
use super::redirect_uri::{self, RedirectKind};
use crate::catalog::Tool;
use crate::http::Response;
use crate::oauth::page::{Escaped, html};

/// How many tools the page names for each scope. A catalogue can have thousands.
const MOST_TOOLS: usize = 5;

/// The contents of the consent page.
pub(super) struct ConsentPage<'a> {
    /// Where the form is sent.
    pub(super) action: &'a str,
    /// The sealed request.
    pub(super) token: &'a str,
    pub(super) client: &'a Client,
    pub(super) redirect_uri: &'a str,
    pub(super) scopes: &'a [String],
    /// Whether the client can continue without the person.
    pub(super) offline: bool,
    pub(super) options: &'a [SignInOption],
    /// Whether the server is on this machine.
    pub(super) is_local: bool,
}

/// A way to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SignInOption {
    /// Cloudflare Access has authenticated this user.
    Access(String),
    /// This person has signed in with the browser before.
    Session(String),
    Provider {
        id: String,
        title: String,
    },
    Development,
    ApiKey,
}

/// The page that asks for consent. `tools` are those that may be called.
pub(super) fn consent(
    page: &ConsentPage<'_>,
    tools: impl Iterator<Item = &'static Tool> + Clone,
) -> Response {
    let ConsentPage { client, redirect_uri, options, .. } = page;
    let name = format!("<bdi>{}</bdi>", Escaped(&client.name));
    let title = format!("Connect {}", Escaped(&client.name));
    let origin = match &client.origin {
        ClientOrigin::Operator => {
            "The operator of this server has registered the application.".to_owned()
        }
        ClientOrigin::Document { domain } => format!(
            "The application is described by <strong><bdi>{}</bdi></strong>.",
            Escaped(domain)
        ),
        ClientOrigin::Registration => {
            "The application has registered itself. Nobody has verified its name.".to_owned()
        }
    };
    let destination = redirect_uri::destination(redirect_uri);
    let destination = format!("<strong><bdi>{}</bdi></strong>", Escaped(&destination));
    let next = match redirect_uri::kind(redirect_uri) {
        RedirectKind::Loopback => format!(
            "{destination}: a program on this computer. Continue only if you have just started it \
             yourself: any program here could call itself {name}."
        ),
        RedirectKind::PrivateScheme => {
            format!("{destination}, the application on this computer that opens such addresses")
        }
        RedirectKind::Web | RedirectKind::Forbidden => destination,
    };
    let offline = match page.offline {
        true => "<li>stay connected until it has not been used for 90 days</li>",
        false => "",
    };
    let main = format!(
        "<p><strong>{name}</strong> wants to use the tools of this server for you.</p>\
         <dl><dt>Who asks</dt><dd>{origin}</dd>\
         <dt>Where you go next</dt><dd>{next}</dd>\
         <dt>What it may do</dt><dd><ul>{}{offline}</ul></dd></dl>\
         <small>Continue only if you started this yourself. If somebody sent you this address, \
         close the page: whoever sent it would act in your name.</small>{}{}",
        abilities(page.scopes, tools),
        options.iter().map(|option| form(page, option)).collect::<String>(),
        form_with(page, "nobody", "", "<button class=\"quiet\">Cancel</button>"),
    );
    // Browsers apply form-action to redirects after a form too: to a provider, and to the client.
    let source = redirect_uri::policy_source(redirect_uri);
    // A provider on this machine.
    let local = if page.is_local { " http://localhost:* http://127.0.0.1:*" } else { "" };
    html(200, &title, &main, &format!("'self' https: {source}{local}"))
}

/// What the scopes mean, in words: the tools that they enable.
fn abilities(scopes: &[String], tools: impl Iterator<Item = &'static Tool> + Clone) -> String {
    let enabled = |scope: Option<&str>| {
        let mut names: Vec<String> = Vec::new();
        for tool in tools.clone() {
            let is_enabled = match scope {
                Some(scope) => tool.scopes.contains(&scope),
                None => tool.scopes.is_empty(),
            };
            let name = format!("{}.{}", tool.toolkit, tool.tool);
            // The catalogue is sorted, so versions of a tool are adjacent.
            if is_enabled && names.last() != Some(&name) {
                names.push(name);
            }
        }
        let more = names.len().saturating_sub(MOST_TOOLS);
        names.truncate(MOST_TOOLS);
        let names: Vec<String> =
            names.iter().map(|name| format!("<bdi>{}</bdi>", Escaped(name))).collect();
        match (names.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(names.join(", ")),
            (false, more) => Some(format!("{} and {more} more", names.join(", "))),
        }
    };
    let mut items = String::new();
    if let Some(tools) = enabled(None) {
        items.push_str(&format!("<li>use tools that need no permission: {tools}</li>"));
    }
    for scope in scopes {
        let tools = enabled(Some(scope)).unwrap_or_else(|| "no tool at present".to_owned());
        items.push_str(&format!("<li><code>{}</code>: use {tools}</li>", Escaped(scope)));
    }
    items
}

/// The form of one way to sign in.
fn form(page: &ConsentPage<'_>, option: &SignInOption) -> String {
    match option {
        SignInOption::Access(label) => {
            let button = format!("<button>Allow as <bdi>{}</bdi></button>", Escaped(label));
            form_with(page, "access", "", &button)
        }
        SignInOption::Session(label) => {
            let button = format!("<button>Allow as <bdi>{}</bdi></button>", Escaped(label));
            form_with(page, "session", "", &button)
        }
        SignInOption::Provider { id, title } => {
            let fields =
                format!("<input type=\"hidden\" name=\"provider\" value=\"{}\">", Escaped(id));
            let button =
                format!("<button>Allow and sign in with <bdi>{}</bdi></button>", Escaped(title));
            form_with(page, "provider", &fields, &button)
        }
        SignInOption::Development => {
            form_with(page, "developer", "", "<button>Allow as the developer</button>")
        }
        SignInOption::ApiKey => form_with(
            page,
            "key",
            "<label>API key of this server<input name=\"api_key\" type=\"password\" \
             autocomplete=\"off\" required></label>",
            "<button>Allow with this key</button>",
        ),
    }
}

fn form_with(page: &ConsentPage<'_>, with: &str, fields: &str, button: &str) -> String {
    format!(
        "<form method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"request\" value=\"{}\">\
         <input type=\"hidden\" name=\"with\" value=\"{with}\">{fields}{button}</form>",
        page.action, page.token
    )
}

/// The page for a request that is rejected: it names the problem, and where the link leads.
pub(super) fn rejected(problem: &str, url: &str, destination: &str) -> Response {
    let main = format!(
        "<p>The application sent a request that is not valid: {}.</p>\
         <a class=\"button\" href=\"{}\">Back to <bdi>{}</bdi></a>",
        Escaped(problem),
        Escaped(url),
        Escaped(destination),
    );
    html(400, "This request is not valid", &main, "'none'")
}
