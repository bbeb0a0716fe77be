//! The HTML of sign-in: the consent page, the page where people sign in to the server's own pages, and that of a rejected
//! request. The consent page shows which client asks, for what, and where the browser goes next, before anyone signs in,
//! as "Security Best Practices" of MCP requires it.

use super::login::{Identity, SignInOption};
use super::server::{ApprovedRequest, Client, ClientOrigin};
use crate::challenge::newest;
use crate::oauth::page::{self, Escaped, Forms, bdi, html, html_about, row, strong};
use crate::paths::{ACCOUNT, AUTHORIZE};
use crate::redirect_uri::{self, RedirectKind};
use toolbooth::call::VisibleTools;
use toolbooth::catalog::Tool;
use toolbooth::http::Response;
use toolbooth::principal::{GATEWAY_SCOPE, Principal, TEAM_USAGE_SCOPE, USAGE_SCOPE};

/// How many tools the page names for each scope. A catalogue can have thousands.
const MOST_TOOLS: usize = 5;

pub(super) struct ConsentPage<'a> {
    pub(super) form: Form<'a>,
    pub(super) client: &'a Client,
    pub(super) request: &'a ApprovedRequest,
    /// The people who use this browser, as callers.
    pub(super) known: &'a [Principal],
    /// All people who can continue, as callers.
    pub(super) everyone: &'a [Principal],
    /// The accounts that tools may already use for the people who use this browser.
    pub(super) accounts: &'a [String],
    pub(super) tools: VisibleTools<'a>,
}

/// The ways to sign in on a page.
pub(super) struct Form<'a> {
    /// The sealed request.
    pub(super) token: &'a str,
    pub(super) options: &'a [SignInOption],
    pub(super) purpose: FormPurpose,
}

/// What the buttons of a page do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormPurpose {
    /// Allow a client what it asks for.
    Allow,
    /// Sign in to the server's own pages.
    SignIn,
}

pub(super) fn consent(page: &ConsentPage<'_>) -> Response {
    let ConsentPage { client, request, .. } = page;
    let redirect_uri = &request.redirect_uri;
    let name = bdi(&client.name);
    let origin = match &client.origin {
        ClientOrigin::Operator => {
            "The operator of this server has registered the application.".to_owned()
        }
        ClientOrigin::Document { domain } => {
            format!("The application is described by {}.", strong(domain))
        }
        ClientOrigin::Registration => {
            "The application has registered itself. Its name is not verified.".to_owned()
        }
    };
    let destination = strong(&redirect_uri::destination(redirect_uri));
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
    let offline = request.refreshes.then(|| {
        let text = format!(
            "It stays connected until you disconnect it on the page <code>{ACCOUNT}</code> of this server. A \
             connection that is not used for 90 days ends."
        );
        row("How long", text)
    });
    let main = format!(
        "<p>{} wants to use the tools of this server on your behalf.</p><dl>{}{}{}{}{}</dl>\
         <small>Allow this only if you started it yourself. If someone else sent you this link, choose Deny: \
         they could use the tools as you.</small>{}<hr>{}",
        strong(&client.name),
        row("Requested by", origin),
        row("Next you go to", next),
        row("Permissions", permissions(page)),
        accounts(page.accounts),
        offline.unwrap_or_default(),
        forms(&page.form),
        form_with(&page.form, &[("with", "denial")], "<button class=\"quiet\">Deny</button>"),
    );
    html_about("Connect", &client.name, &main, Forms::Some)
}

/// Names the accounts that the client can use at once: the person is not asked again for them.
fn accounts(accounts: &[String]) -> String {
    if accounts.is_empty() {
        return String::new();
    }
    let names: Vec<String> = accounts.iter().map(|account| bdi(account)).collect();
    let names = names.join(", ");
    let text =
        format!("You have allowed tools to use {names}. The application can call these tools.");
    row("Your accounts", text)
}

/// Lists what the client may do: for the people who use this browser, if they are known.
fn permissions(page: &ConsentPage<'_>) -> String {
    let everyone = permissions_of(page.everyone, page);
    if page.known.is_empty() {
        return everyone;
    }
    let known = permissions_of(page.known, page);
    let note = match known == everyone {
        true => "",
        false => {
            "<small>If you sign in with a different account, it may do what that account allows.</small>"
        }
    };
    known + note
}

/// Lists the scopes that one of `people` can give, with the tools that they enable.
fn permissions_of(people: &[Principal], page: &ConsentPage<'_>) -> String {
    let tools = page.tools.to(people);
    let enabled = |scope: Option<&str>| {
        let is_enabled = |tool: &&Tool| match scope {
            Some(scope) => tool.scopes.contains(&scope),
            None => tool.scopes.is_empty(),
        };
        let enabled = newest(tools.clone().filter(is_enabled));
        let more = enabled.len().saturating_sub(MOST_TOOLS);
        let shown = enabled.iter().take(MOST_TOOLS);
        let names: Vec<String> = shown.map(|tool| bdi(&tool.label())).collect();
        match (names.join(", "), more) {
            _ if names.is_empty() => None,
            (names, 0) => Some(names),
            (names, more) => Some(format!("{names} and {more} more")),
        }
    };
    let mut items = String::new();
    if let Some(tools) = enabled(None) {
        items.push_str(&format!("<li>Tools that need no permission: {tools}</li>"));
    }
    let can_give = |scope: &&String| people.iter().any(|it| it.scopes().cover(&[scope.as_str()]));
    for scope in page.request.scopes.iter().filter(can_give) {
        let tools = enabled(Some(scope));
        let tools = match tools {
            _ if scope == GATEWAY_SCOPE => {
                "language models, which the operator of this server pays for"
            }
            _ if scope == USAGE_SCOPE => "the names of all callers, and what each of them has used",
            _ if scope == TEAM_USAGE_SCOPE => "what the members of your team have used",
            Some(ref tools) => tools,
            None => "no tool at present",
        };
        items.push_str(&format!("<li><code>{}</code>: {tools}</li>", Escaped(scope)));
    }
    if items.is_empty() {
        items.push_str("<li>No tool at present</li>");
    }
    format!("<ul>{items}</ul>")
}

/// The page on which people sign in to the server's own pages.
pub(super) fn sign_in(form: &Form<'_>) -> Response {
    let main = format!(
        "<p>Sign in to this server to continue. This gives no application access to anything.</p>\
         <small>If someone else sent you this link, close the page.</small>{}",
        forms(form),
    );
    html(200, "Sign in", &main, Forms::Some)
}

/// The ways to sign in. Only the first one's button is solid.
fn forms(form: &Form<'_>) -> String {
    let classes = std::iter::once("").chain(std::iter::repeat(" class=\"other\""));
    form.options
        .iter()
        .zip(classes)
        .map(|(option, class)| option_form(form, option, class))
        .collect()
}

/// The form of one way to sign in, with the attributes of its button.
fn option_form(form: &Form<'_>, option: &SignInOption, class: &str) -> String {
    let (continue_as, sign_in_with, key_verb) = match form.purpose {
        FormPurpose::Allow => ("Allow as", "Allow and sign in with", "Allow"),
        FormPurpose::SignIn => ("Continue as", "Sign in with", "Sign in"),
    };
    let continue_with = |user: &Identity| format!("{continue_as} {}", bdi(user.label()));
    let (with, field, label) = match option {
        SignInOption::Access(user) => ("access", "", continue_with(user)),
        SignInOption::Session(user) => ("session", "", continue_with(user)),
        SignInOption::Provider { title, .. } => {
            ("provider", "", format!("{sign_in_with} {}", bdi(title)))
        }
        SignInOption::Development => {
            ("developer", "", format!("{continue_as} {}", Identity::Development.label()))
        }
        SignInOption::ApiKey => {
            let field = "<label>API key of this server<input name=\"api_key\" type=\"password\" \
                         autocomplete=\"off\" required></label>";
            ("key", field, format!("{key_verb} with this key"))
        }
    };
    let mut values = vec![("with", with)];
    if let SignInOption::Provider { id, .. } = option {
        values.push(("provider", id));
    }
    form_with(form, &values, &format!("{field}<button{class}>{label}</button>"))
}

fn form_with(form: &Form<'_>, values: &[(&str, &str)], rest: &str) -> String {
    page::form(AUTHORIZE, &[&[("request", form.token)], values].concat(), rest)
}

/// The page for a request that is rejected: it names the problem, and where the link leads.
pub(super) fn rejected(problem: &str, url: &str, destination: &str) -> Response {
    let main = format!(
        "<p>The application sent a request that is not valid: {}.</p>\
         <a class=\"button\" href=\"{}\">Back to {}</a>",
        with_code(problem),
        Escaped(url),
        bdi(destination),
    );
    html(400, "This request is not valid", &main, Forms::None)
}

/// A text as HTML, with what stands between backticks as code.
fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let html = parts.map(|(at, part)| match at % 2 {
        0 => Escaped(part).to_string(),
        _ => format!("<code>{}</code>", Escaped(part)),
    });
    html.collect()
}
