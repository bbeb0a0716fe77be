//! The page of an account.

use super::visit::{SitePage, Visit};
use crate::challenge::GrantSummary;
use crate::oauth::page::{self, Escaped, Forms, bdi, folded_list, html, list, row, strong};
use crate::paths::{ACCOUNT, SIGN_IN};
use crate::sign_in::server::Connection;
use toolbooth::http::Response;
use toolbooth::time::{day, minute};

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
    (grants, connections): (&[GrantSummary], &[Connection]),
    visit: &Visit,
) -> Response {
    let form = Form { token: form, from: visit.from.as_ref() };
    let grants: String = grants.iter().map(|it| grant(form, it)).collect();
    let names = names(connections);
    let connections = connections.iter().zip(&names);
    let connections: String = connections.map(|(it, name)| connection(form, it, name)).collect();
    let done = visit.done.map(|change| format!("<p role=\"status\">{}</p>", change.sentence()));
    let done = done.unwrap_or_default();
    let back = visit.from.as_ref().map(back).unwrap_or_default();
    let or_none = |items: String, none: &str| match items.as_str() {
        "" => format!("<p>{none}</p>"),
        _ => items,
    };
    let main = format!(
        "{done}<p>You are signed in as {}.</p>\
         <section><h2>Accounts that tools may use</h2>{}</section>\
         <section><h2>Applications that may use the tools for you</h2>{}</section>\
         <small>A change can take two minutes to apply everywhere.</small>{}{back}",
        strong(label),
        or_none(grants, "You have not granted access to any account."),
        or_none(connections, "No application is connected."),
        form_with(form, "sign-out", None, "<button class=\"quiet\">Sign out</button>"),
    );
    html(200, "Your account", &main, Forms::Some)
}

/// A grant, and the form that revokes it.
fn grant(form: Form<'_>, grant: &GrantSummary) -> String {
    let title = bdi(&grant.title);
    let button = format!("<button class=\"quiet\">Revoke access to {title}</button>");
    let tools = match grant.tools.as_slice() {
        [] => "none at present".to_owned(),
        tools => folded_list(tools),
    };
    format!(
        "<article><h3>Your account at {title}</h3><small>Access granted on {}</small>\
         <dl>{}{}</dl>{}</article>",
        date(grant.granted_ms),
        row("Tools that can use it", tools),
        scopes(&grant.scopes),
        form_with(form, "revoke", Some(("provider", &grant.provider)), &button),
    )
}

/// The names of clients, as HTML: numbered where several have the same, so that each button says which one it is for.
fn names(connections: &[Connection]) -> Vec<String> {
    let count = |of: &[Connection], name: &str| of.iter().filter(|it| it.name == name).count();
    let number = |(at, Connection { name, .. }): (usize, &Connection)| {
        let before = connections.split_at(at).0;
        match count(connections, name) {
            1 => bdi(name),
            all => format!("{} ({} of {all})", bdi(name), count(before, name) + 1),
        }
    };
    connections.iter().enumerate().map(number).collect()
}

/// A client, and the form that disconnects it. `name` is HTML.
fn connection(form: Form<'_>, connection: &Connection, name: &str) -> String {
    let button = format!("<button class=\"quiet\">Disconnect {name}</button>");
    let used = connection.used_ms.map(|ms| format!(" · last used on {}", date(ms)));
    format!(
        "<article><h3>{name}</h3><small>Connected on {}{}</small>\
         <dl>{}{}</dl>{}</article>",
        date_and_time(connection.granted_ms),
        used.unwrap_or_default(),
        row("Its address", bdi(&connection.destination)),
        scopes(&connection.scopes),
        form_with(form, "disconnect", Some(("client", &connection.id)), &button),
    )
}

fn scopes(scopes: &[String]) -> String {
    let scopes = if scopes.is_empty() { "none".to_owned() } else { list(scopes) };
    row("Permissions", scopes)
}

fn date(ms: u64) -> String {
    let day = day(ms);
    format!("<time datetime=\"{day}\">{day}</time>")
}

/// To the minute, so that clients with the same name can be told apart.
fn date_and_time(ms: u64) -> String {
    let (day, time) = (day(ms), minute(ms));
    format!("<time datetime=\"{day}T{time}Z\">{day} at {time} UTC</time>")
}

fn form_with(form: Form<'_>, action: &str, field: Option<(&str, &str)>, button: &str) -> String {
    let from = form.from.map(|page| ("from", page.address()));
    let values = [Some(("form", form.token)), Some(("do", action)), from, field];
    let values: Vec<_> = values.into_iter().flatten().collect();
    page::form(ACCOUNT, &values, button)
}

/// The way back to the page of the site that the visitor comes from.
fn back(page: &SitePage) -> String {
    let (address, title) = (Escaped(page.address()), page.title());
    format!("<a class=\"button other\" href=\"{address}\">Back to the {title}</a>")
}

pub(super) fn signed_out(from: Option<&SitePage>) -> Response {
    let back = from.map(back).unwrap_or_default();
    let main = format!(
        "<p>This browser is signed out of your account. Applications that are connected stay connected. So does the playground in \
         a tab where you have signed in: sign out there, too.</p>\
         {back}<a class=\"button\" href=\"{SIGN_IN}\">Sign in</a>"
    );
    html(200, "You are signed out", &main, Forms::None)
}
