//! The pages of challenges.

use super::ChallengeClaims;
use super::flow::{DENY, Visitor};
use crate::oauth::page::{
    Escaped, Forms, Notice, bdi, folded_list, form, html, html_about, isolated, list, notice, row,
    strong,
};
use crate::paths::{SIGN_IN, START};
use toolbooth::http::Response;
use toolbooth::json;

pub(super) struct ChallengePage<'a> {
    pub(super) token: &'a str,
    /// The provider's name for people.
    pub(super) provider: &'a str,
    pub(super) claims: &'a ChallengeClaims,
    pub(super) visitor: Visitor<'a>,
    pub(super) tool: &'a str,
    /// Other tools that can use the grant.
    pub(super) others: &'a [String],
}

/// The page of a challenge, which asks the user.
pub(super) fn challenge(page: &ChallengePage<'_>) -> Response {
    let ChallengePage { token, claims, tool, others, .. } = page;
    let provider = bdi(page.provider);
    let (name, origin) = who_asks(claims);
    let scopes = match claims.scopes().as_slice() {
        [] => format!("only what {provider} gives every application that you sign in to"),
        scopes => list(scopes),
    };
    let others = match *others {
        [] => String::new(),
        others => row("Other tools that can then use this access", folded_list(others)),
    };
    let address = format!("{START}?c={token}");
    let main = format!(
        "<p>{name} asks for access to your account at {provider}.</p>\
         <dl>{}{}{}{others}{}</dl><small>{}</small>{}{}",
        row("Requested by", origin),
        visitor(page),
        row("For the tool", bdi(tool)),
        row(&format!("Permissions at {provider}"), scopes),
        warning(page.visitor),
        form(&address, &[], &format!("<button>Continue to {provider}</button>")),
        form(&format!("{address}&{DENY}=1"), &[], "<button class=\"quiet\">Deny</button>"),
    );
    html_about("Connect", page.provider, &main, Forms::Some)
}

/// The name of the application whose call needs the authorization, and what the server knows about it.
fn who_asks(claims: &ChallengeClaims) -> (String, &'static str) {
    let ChallengeClaims { client, owner, .. } = claims;
    let (name, origin) = match (client.as_deref(), &*owner.application) {
        (Some(client), _) => (
            Some(client),
            "An application that you have connected to this server, which does not verify its name.",
        ),
        (None, "") if owner.issuer().is_some() => {
            (None, "An application that you have signed in to. This server does not know its name.")
        }
        (None, "") => {
            (None, "An application without a key. This server cannot know which one it is.")
        }
        (None, name) => (
            Some(name),
            "An application with an API key for this server. The operator chose its name.",
        ),
    };
    (name.map_or_else(|| "An application".to_owned(), strong), origin)
}

/// Who the user of the challenge is.
fn visitor(page: &ChallengePage<'_>) -> String {
    let (host, term, user) = match page.visitor {
        Visitor::Person { label } => (None, "You are signed in as", label),
        Visitor::Application { host } | Visitor::Anyone { host } => {
            (host, "Your user ID in the application", &*page.claims.owner.user)
        }
    };
    let host = host.map(|host| row("Address of the application", bdi(host)));
    host.unwrap_or_default() + &row(term, strong(user))
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
        "<p>You are signed in as {}, but this link is for a different user. Nothing was \
         granted, and the link still works for that user.</p>\
         <small>If someone else sent you this link, close the page. If you started this yourself, sign in with \
         the account that you use in the application.</small>\
         <a class=\"button\" href=\"{SIGN_IN}?c={}\">Use a different account</a>",
        strong(label),
        Escaped(token),
    );
    html(403, "This link is for someone else", &main, Forms::None)
}

/// The page of a completed challenge.
pub(super) fn done() -> Response {
    let text = "Access is granted. You can close this page and go back to the application.";
    notice(Notice::new(200, "Done", text), None)
}

/// The page that explains to developers how a call is authorized at a provider.
pub(crate) fn help(provider: &str) -> Response {
    let id = json::to_string(provider);
    let main = format!(
        "<p>A tool of this server uses the account of a user at {}. The \
         application that calls the tool must send an access token of that user.</p>\
         <dl>{}{}{}</dl>",
        strong(provider),
        row(
            "In the call",
            format!(
                "<pre>\"context\": {{\"authorization\": [{{\"id\": {}, \"token\": \"…\"}}]}}</pre>\
                 In MCP, it is the member <code>toolbooth/context</code> of <code>_meta</code>.",
                Escaped(&id)
            )
        ),
        row(
            "Scopes of the token",
            "The list of tools has them in <code>requirements.authorization</code>."
        ),
        row(
            "Without a token",
            "If the operator has set <code>OAUTH_PROVIDERS</code>, send the user&#39;s id in \
             <code>context.user_id</code>. The response then has a link where the user can grant access."
        ),
    );
    isolated(html_about("Authorization:", provider, &main, Forms::None))
}
