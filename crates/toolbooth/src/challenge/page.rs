//! The pages of challenges.

use super::constants::SIGN_IN;
use super::flow::Visitor;
use crate::http::Response;
use crate::json;
use crate::oauth::page::{Escaped, Notice, folded_list, html, isolated, list, notice};

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
    pub(super) application: &'a str,
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
    let application = match *application {
        "" => "An application".to_owned(),
        name => format!("The application <strong><bdi>{}</bdi></strong>", Escaped(name)),
    };
    let scopes = match *scopes {
        [] => "what every signed-in application may do".to_owned(),
        scopes => list(scopes),
    };
    let others = match *others {
        [] => String::new(),
        others => format!("<dt>The grant also enables</dt><dd>{}</dd>", folded_list(others)),
    };
    let main = format!(
        "<p>{application} wants to use {provider} for you.</p>\
         <dl>{}<dt>Tool that asks</dt><dd><bdi>{}</bdi></dd>{others}\
         <dt>It asks {provider} for</dt><dd>{scopes}</dd></dl>\
         <small>{}</small>\
         <form method=\"post\" action=\"/auth/start?c={}\"><button>Continue to {provider}</button></form>",
        visitor(page),
        Escaped(tool),
        warning(page.visitor),
        Escaped(token),
    );
    // Browsers apply form-action to redirects after a form too, and the provider may redirect to any
    // https URL. Plain http is for a provider on localhost.
    let host = provider_url.split('/').nth(2).unwrap_or_default();
    let here = if provider_url.starts_with("http:") { host } else { "" };
    let targets = if here.is_empty() { String::new() } else { format!(" http://{here}") };
    html(200, &title, &main, &format!("'self' https:{targets}"))
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
                format!("<dt>Where the application is</dt><dd><bdi>{}</bdi></dd>", Escaped(host))
            });
            host.unwrap_or_default()
        }
    };
    format!(
        "{user}<dt>User of the application</dt><dd><strong><bdi>{}</bdi></strong></dd>",
        Escaped(page.user)
    )
}

fn warning(visitor: Visitor<'_>) -> &'static str {
    match visitor {
        Visitor::Person { .. } | Visitor::Application { .. } => {
            "Continue only if you started this yourself."
        }
        Visitor::Anyone { .. } => {
            "Continue only if you started this yourself and the user above is you. If somebody sent \
             you this address, close the page: whoever sent it would act in your name."
        }
    }
}

/// The page for somebody who has signed in, if the challenge names another person.
pub(super) fn other_person(label: &str, token: &str) -> Response {
    let main = format!(
        "<p>You are signed in as <strong><bdi>{}</bdi></strong>, and somebody else was asked for \
         access. Nothing was granted, and the link still works for them.</p>\
         <small>If somebody sent you this link, close the page. If it is yours, sign in with the account \
         that the application uses.</small>\
         <a class=\"button\" href=\"{SIGN_IN}?c={}\">Use another account</a>",
        Escaped(label),
        Escaped(token),
    );
    html(403, "This link is for somebody else", &main, "'none'")
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
