//! The pages that users see: plain HTML without scripts or external resources.

use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::http::Response;
use crate::json;
use crate::names::is_invisible;
use crate::oauth::sha256_base64;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1e21;--soft:#5b6169;--paper:#fff;--ground:#f2f3f5;--line:#d9dce0;--deed:#0b57d0}\
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3a9b1;--paper:#222528;--ground:#17191b;--line:#3a3f44;--deed:#7cacf8}}\
*{box-sizing:border-box}\
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}\
main{width:100%;max-width:27rem;padding:1.5rem;border:1px solid var(--line);border-radius:.75rem;background:var(--paper);overflow-wrap:anywhere}\
h1{margin:0 0 1rem;font-size:1.375rem;line-height:1.25}\
p,dl{margin:0 0 1rem}\
dt{color:var(--soft);font-size:.875rem}\
dd{margin:0 0 .75rem}\
main>:last-child{margin-bottom:0}\
ul{margin:0;padding-left:1.25rem}\
bdi,pre{white-space:pre-wrap}\
pre{margin:.25rem 0}\
pre,code{font:.875rem/1.5 ui-monospace,monospace}\
summary{cursor:pointer}\
button,.button{display:block;width:100%;padding:.75rem 1rem;border:0;border-radius:.5rem;background:var(--deed);color:var(--paper);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}\
button:focus-visible,.button:focus-visible{outline:3px solid var(--ink);outline-offset:2px}\
small{display:block;margin-bottom:1rem;color:var(--soft);font-size:.875rem}";

/// How many further tools the page shows unfolded. A catalogue can have thousands.
const MOST_TOOLS: usize = 10;

/// The contents of the consent page.
pub(super) struct ConsentPage<'a> {
    /// The challenge's token.
    pub(super) token: &'a str,
    /// The provider's name for people.
    pub(super) provider: &'a str,
    /// A URL of the provider, to which the form may redirect.
    pub(super) provider_url: &'a str,
    pub(super) application: &'a str,
    pub(super) user: &'a str,
    /// The tool that requires the authorization.
    pub(super) tool: &'a str,
    /// Other tools that can use the grant.
    pub(super) others: &'a [String],
    pub(super) scopes: &'a [String],
}

/// A page with a message.
pub(super) struct Notice {
    pub(super) status: u16,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

/// The page that asks for the user's consent.
pub(super) fn consent(page: &ConsentPage<'_>) -> Response {
    let ConsentPage { token, provider_url, application, user, tool, others, scopes, .. } = page;
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
    let others = match others.split_at_checked(MOST_TOOLS).unwrap_or((others, &[])) {
        ([], _) => String::new(),
        (shown, rest) => {
            let rest = match rest {
                [] => String::new(),
                rest => format!(
                    "<details><summary>and {} more</summary>{}</details>",
                    rest.len(),
                    list(rest)
                ),
            };
            format!("<dt>The grant also enables</dt><dd>{}{rest}</dd>", list(shown))
        }
    };
    let main = format!(
        "<p>{application} wants to use {provider} for you.</p>\
         <dl><dt>User of the application</dt><dd><strong><bdi>{}</bdi></strong></dd>\
         <dt>Tool that asks</dt><dd><bdi>{}</bdi></dd>{others}\
         <dt>It asks {provider} for</dt><dd>{scopes}</dd></dl>\
         <small>Continue only if you started this yourself and the user above is you. If somebody sent \
         you this address, close the page: whoever sent it would act in your name.</small>\
         <form method=\"post\" action=\"/auth/start?c={}\"><button>Continue to {provider}</button></form>",
        Escaped(user),
        Escaped(tool),
        Escaped(token),
    );
    // Browsers apply form-action to redirects after a form too, and the provider may redirect to any
    // https URL. Plain http is for a provider on localhost.
    let host = provider_url.split('/').nth(2).unwrap_or_default();
    let here = if provider_url.starts_with("http:") { host } else { "" };
    let targets = if here.is_empty() { String::new() } else { format!(" http://{here}") };
    html(200, &title, &main, &format!("'self' https:{targets}"))
}

/// A list of names.
fn list(names: &[String]) -> String {
    let mut items = String::new();
    for name in names {
        // Writing to a String does not fail.
        let _ = write!(items, "<li><bdi>{}</bdi></li>", Escaped(name));
    }
    format!("<ul>{items}</ul>")
}

/// A page with a message; `retry_url` is where to try again.
pub(super) fn notice(Notice { status, title, text }: Notice, retry_url: Option<&str>) -> Response {
    let retry =
        retry_url.map(|url| format!("<a class=\"button\" href=\"{}\">Try again</a>", Escaped(url)));
    let main = format!("<p>{text}</p>{}", retry.unwrap_or_default());
    html(status, title, &main, "'none'")
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
    html(200, &title, &main, "'none'")
}

/// Redirects the browser.
pub(super) fn redirect(location: String) -> Response {
    guarded(Response::empty(303).with("location", location), "'none'")
}

fn html(status: u16, title: &str, main: &str, form_action: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head>\
         <body><main><h1>{title}</h1>{main}</main></body></html>"
    );
    let response = Response { body: page.into_bytes().into(), ..Response::empty(status) };
    guarded(response.with("content-type", "text/html; charset=utf-8"), form_action)
}

/// Adds the security headers of a page.
fn guarded(response: Response, form_action: &str) -> Response {
    static STYLE_HASH: OnceLock<String> = OnceLock::new();
    let style = STYLE_HASH.get_or_init(|| sha256_base64(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action {form_action}; \
         frame-ancestors 'none'; base-uri 'none'"
    );
    response
        .with("content-security-policy", policy)
        .with("cache-control", "no-store")
        // Pages that open this one, or that it opens, get no reference to its window.
        .with("cross-origin-opener-policy", "same-origin")
        // With "no-referrer" the server could not see that its own page sent the form.
        .with("referrer-policy", "same-origin")
        .with("x-content-type-options", "nosniff")
        .with("x-frame-options", "DENY")
        .with("x-robots-tag", "noindex")
}

/// Text escaped for HTML, also within quotes. Characters that are invisible, or that change the
/// direction of the text around them, are shown as U+FFFD.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // HTML collapses spaces, and other kinds of space look like the ordinary one.
                c if is_invisible(c) || (c.is_whitespace() && c != ' ') => {
                    f.write_char(char::REPLACEMENT_CHARACTER)?
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
