//! The pages of challenges.

use super::claims::Application;
use super::constants::SIGN_IN;
use super::flow::{DENY, Visitor};
use crate::oauth::page::{Escaped, Notice, folded_list, html, isolated, list, notice};
use toolbooth::http::Response;
use toolbooth::json;

/// The contents of the consent page.
pub(super) struct ConsentPage<'a> {
    /// The challenge's token.
    pub(super) token: &'a str,
    /// The provider's name for people.
    pub(super) provider: &'a str,
    /// A URL of the provider, to which the form may redirect.
    pub(super) provider_url: &'a str,
    /// Who has opened the page.
    pub(super) visitor: Visitor<'a>,
    pub(super) application: Application<'a>,
    pub(super) user: &'a str,
    /// The tool that requires the authorization.
    pub(super) tool: &'a str,
    /// Other tools that can use the grant.
    pub(super) others: &'a [String],
    pub(super) scopes: &'a [String],
}

/// The page that asks for the user's consent.
pub(super) fn consent(page: &ConsentPage<'_>) -> Response {
    let ConsentPage { token, provider_url, application, tool, others, scopes, .. } = page;
    let title = format!("Connect {}", Escaped(page.provider));
    let provider = format!("<bdi>{}</bdi>", Escaped(page.provider));
    let (name, origin) = who_asks(*application);
    let scopes = match *scopes {
        [] => format!("only what {provider} gives every application that you sign in to"),
        scopes => list(scopes),
    };
    let others = match *others {
        [] => String::new(),
        others => {
            format!(
                "<dt>Other tools that can then use this access</dt><dd>{}</dd>",
                folded_list(others)
            )
        }
    };
    let main = format!(
        "<p>{name} asks for access to your account at {provider}.</p>\
         <dl><dt>Requested by</dt><dd>{origin}</dd>{}\
         <dt>For the tool</dt><dd><bdi>{}</bdi></dd>{others}\
         <dt>Permissions at {provider}</dt><dd>{scopes}</dd></dl>\
         <small>{}</small>\
         <form method=\"post\" action=\"/auth/start?c={token}\"><button>Continue to {provider}</button></form>\
         <form method=\"post\" action=\"/auth/start?c={token}&amp;{DENY}=1\"><button class=\"quiet\">Deny</button></form>",
        visitor(page),
        Escaped(tool),
        warning(page.visitor),
        token = Escaped(token),
    );
    // Browsers apply form-action to redirects after a form too, and the provider may redirect to any
    // https URL. Plain http is for a provider on localhost.
    let host = provider_url.split('/').nth(2).unwrap_or_default();
    let here = if provider_url.starts_with("http:") { host } else { "" };
    let targets = if here.is_empty() { String::new() } else { format!(" http://{here}") };
    html(200, &title, &main, &format!("'self' https:{targets}"))
}

/// The application's name, and what the server knows about it.
fn who_asks(application: Application<'_>) -> (String, &'static str) {
    let named = |name: &str| format!("<strong><bdi>{}</bdi></strong>", Escaped(name));
    match application {
        Application::Key(name) => (
            named(name),
            "An application with an API key for this server. The operator chose its name.",
        ),
        Application::Connected(name) => {
            let origin = "An application that you have connected to this server, which does not verify its name.";
            (named(name), origin)
        }
        Application::SignedIn => (
            "An application".to_owned(),
            "An application that you have signed in to. This server does not know its name.",
        ),
        Application::Anonymous => (
            "An application".to_owned(),
            "An application without a key. This server cannot know which one it is.",
        ),
    }
}

/// Who the user of the challenge is.
fn visitor(page: &ConsentPage<'_>) -> String {
    let user = match page.visitor {
        Visitor::Person { label } => {
            return format!(
                "<dt>You are signed in as</dt><dd><strong><bdi>{}</bdi></strong></dd>",
                Escaped(label)
            );
        }
        Visitor::Application { host } | Visitor::Anyone { host } => {
            let host = host.map(|host| {
                format!("<dt>Address of the application</dt><dd><bdi>{}</bdi></dd>", Escaped(host))
            });
            host.unwrap_or_default()
        }
    };
    format!(
        "{user}<dt>Your user ID in the application</dt><dd><strong><bdi>{}</bdi></strong></dd>",
        Escaped(page.user)
    )
}

fn warning(visitor: Visitor<'_>) -> &'static str {
    match visitor {
        Visitor::Person { .. } | Visitor::Application { .. } => {
            "Continue only if you started this yourself. Otherwise choose Deny."
        }
        Visitor::Anyone { .. } => {
            "Continue only if you started this yourself and the user above is you. If someone else sent you \
             this link, choose Deny: they could use your account."
        }
    }
}

/// The page for a person who has signed in, if the challenge is for a different one.
pub(super) fn other_person(label: &str, token: &str) -> Response {
    let main = format!(
        "<p>You are signed in as <strong><bdi>{}</bdi></strong>, but this link is for a different user. Nothing was \
         granted, and the link still works for that user.</p>\
         <small>If someone else sent you this link, close the page. If you started this yourself, sign in with \
         the account that you use in the application.</small>\
         <a class=\"button\" href=\"{SIGN_IN}?c={}\">Use a different account</a>",
        Escaped(label),
        Escaped(token),
    );
    html(403, "This link is for someone else", &main, "'none'")
}

/// The page of a completed challenge.
pub(super) fn done() -> Response {
    let (status, title) = (200, "Done");
    let text = "Access is granted. You can close this page and go back to the application.";
    notice(Notice { status, title, text }, None)
}

/// The page that explains to developers how a call is authorized at a provider.
pub(crate) fn help(provider: &str) -> Response {
    let title = format!("Authorization: {}", Escaped(provider));
    let id = json::to_string(provider);
    let main = format!(
        "<p>A tool of this server uses the account of a user at <strong><bdi>{}</bdi></strong>. The \
         application that calls the tool must send an access token of that user.</p>\
         <dl><dt>In the call</dt>\
         <dd><pre>\"context\": {{\"authorization\": [{{\"id\": {}, \"token\": \"…\"}}]}}</pre>\
         In MCP, it is the member <code>toolbooth/context</code> of <code>_meta</code>.</dd>\
         <dt>Scopes of the token</dt>\
         <dd>The list of tools has them in <code>requirements.authorization</code>.</dd>\
         <dt>Without a token</dt>\
         <dd>If the operator has set <code>OAUTH_PROVIDERS</code>, send the user&#39;s id in \
         <code>context.user_id</code>. The response then has a link where the user can grant \
         access.</dd></dl>",
        Escaped(provider),
        Escaped(&id),
    );
    isolated(html(200, &title, &main, "'none'"))
}
