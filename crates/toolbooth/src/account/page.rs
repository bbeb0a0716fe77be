//! The page of an account.

use super::Permissions;
use super::date::{day, minute};
use super::visit::{SitePage, Visit};
use crate::challenge::GrantSummary;
use crate::http::Response;
use crate::oauth::page::{Escaped, folded_list, html, list};
use crate::sign_in::{ACCOUNT, Connection};

/// What the forms of the page have in common.
#[derive(Clone, Copy)]
struct Form<'a> {
    token: &'a str,
    from: Option<&'a SitePage>,
}

/// The page of an account. `form` is the token of its forms.
pub(super) fn account(
    label: &str,
    form: &str,
    permissions: &Permissions,
    visit: &Visit,
) -> Response {
    let form = Form { token: form, from: visit.from.as_ref() };
    let Permissions { grants, connections } = permissions;
    let grants: String = grants.iter().map(|it| grant(form, it)).collect();
    let connections: String = connections.iter().map(|it| connection(form, it)).collect();
    let done = visit.done.map(|change| format!("<p role=\"status\">{}</p>", change.sentence()));
    let done = done.unwrap_or_default();
    let back = visit.from.as_ref().map(|page| {
        let (address, title) = (Escaped(page.address()), page.title());
        format!("<a class=\"button other\" href=\"{address}\">Back to the {title}</a>")
    });
    let back = back.unwrap_or_default();
    let or_none = |items: String, none: &str| match items.as_str() {
        "" => format!("<p>{none}</p>"),
        _ => items,
    };
    let main = format!(
        "{done}<p>You are signed in as <strong><bdi>{}</bdi></strong>.</p>\
         <section><h2>Accounts that tools may use</h2>{}</section>\
         <section><h2>Applications that act for you</h2>{}</section>\
         <small>A change can take a minute to apply everywhere. A disconnected application can use the tools \
         until its access token expires.</small>{}{back}",
        Escaped(label),
        or_none(grants, "You have not granted access to any account."),
        or_none(connections, "No application is connected."),
        form_with(form, "sign-out", None, "<button class=\"quiet\">Sign out</button>"),
    );
    html(200, "Your account", &main, "'self'")
}

/// A grant, and the form that revokes it.
fn grant(form: Form<'_>, grant: &GrantSummary) -> String {
    let title = format!("<bdi>{}</bdi>", Escaped(&grant.title));
    let button = format!("<button class=\"quiet\">Revoke {title}</button>");
    format!(
        "<article><h3>{title}</h3><dl>{}{}<dt>Tools that can use it</dt><dd>{}</dd></dl>{}</article>",
        scopes(&grant.scopes),
        entry("Since", grant.granted_ms),
        match grant.tools.as_slice() {
            [] => "none at present".to_owned(),
            tools => folded_list(tools),
        },
        form_with(form, "revoke", Some(("provider", &grant.provider)), &button),
    )
}

/// A client, and the form that disconnects it.
fn connection(form: Form<'_>, connection: &Connection) -> String {
    let name = format!("<bdi>{}</bdi>", Escaped(&connection.name));
    let button = format!("<button class=\"quiet\">Disconnect {name}</button>");
    format!(
        "<article><h3>{name}</h3><dl><dt>Where you connected it</dt><dd><bdi>{}</bdi></dd>{}{}{}</dl>{}</article>",
        Escaped(&connection.destination),
        connected(connection.granted_ms),
        connection.used_ms.map(|ms| entry("Last used", ms)).unwrap_or_default(),
        scopes(&connection.scopes),
        form_with(form, "disconnect", Some(("client", &connection.id)), &button),
    )
}

fn scopes(scopes: &[String]) -> String {
    let scopes = match scopes {
        [] => "none".to_owned(),
        scopes => list(scopes),
    };
    format!("<dt>Scopes</dt><dd>{scopes}</dd>")
}

fn entry(label: &str, ms: u64) -> String {
    let day = day(ms);
    format!("<dt>{label}</dt><dd><time datetime=\"{day}\">{day}</time></dd>")
}

/// To the minute, so that clients of one name can be told apart.
fn connected(ms: u64) -> String {
    let (day, time) = (day(ms), minute(ms));
    format!("<dt>Connected</dt><dd><time datetime=\"{day}T{time}Z\">{day}, {time} UTC</time></dd>")
}

fn form_with(form: Form<'_>, action: &str, field: Option<(&str, &str)>, button: &str) -> String {
    let field = field.map(|(name, value)| {
        format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", Escaped(value))
    });
    let from = form.from.map(|page| {
        format!("<input type=\"hidden\" name=\"from\" value=\"{}\">", Escaped(page.address()))
    });
    format!(
        "<form method=\"post\" action=\"{ACCOUNT}\"><input type=\"hidden\" name=\"form\" value=\"{}\">\
         <input type=\"hidden\" name=\"do\" value=\"{action}\">{}{}{button}</form>",
        form.token,
        from.unwrap_or_default(),
        field.unwrap_or_default(),
    )
}

/// The page after somebody has signed out.
pub(super) fn signed_out(sign_in: &str) -> Response {
    let main = format!(
        "<p>This browser is signed out. Applications that are connected stay connected.</p>\
         <a class=\"button\" href=\"{sign_in}\">Sign in</a>"
    );
    html(200, "You are signed out", &main, "'none'")
}
