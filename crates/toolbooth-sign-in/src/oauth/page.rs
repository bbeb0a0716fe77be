//! The frame of the pages that users see: plain HTML without scripts or external resources.

use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

use toolbooth::address::is_localhost;
use toolbooth::http::Response;
use toolbooth::names::is_invisible;

/// The style of every page, which each page contains.
///
/// `wait`: a page that appears under the pointer takes no click for a moment, so that the second click of a double click
/// that began on another page does not press a button here. A touch screen has no pointer that reaches the page, so there it
/// waits from the beginning.
const STYLE: &str = include_str!("page.css");

/// A page with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) status: u16,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

impl Notice {
    pub(crate) const fn new(status: u16, title: &'static str, text: &'static str) -> Self {
        Self { status, title, text }
    }

    /// Part of an address was not issued by this server, or was changed.
    pub(crate) const INVALID_ADDRESS: Self = Self::new(
        400,
        "This address is not valid",
        "Part of it may be missing. Go back to the application and start again.",
    );
    pub(crate) const EXPIRED: Self = Self::new(
        400,
        "This took too long",
        "The link or the page has expired. Go back to the application and start again.",
    );
    /// Not our own page sent a form.
    pub(crate) const CROSS_SITE: Self = Self::new(
        403,
        "This did not start here",
        "Another site sent you here in a way that is not allowed. Go back to the application and start again.",
    );
    pub(crate) const OTHER_BROWSER: Self = Self::new(
        403,
        "Continue in the browser where you started",
        "For your safety, finish in the same browser, with cookies allowed. Nothing was granted. If someone else sent \
         you this link, do not continue.",
    );
    pub(crate) const DECLINED: Self = Self::new(
        403,
        "You declined",
        "Nothing was stored. You can close this page. To grant access after all, go back to the application and start again.",
    );
    /// A provider has rejected a person, or their code.
    pub(crate) const REJECTED: Self = Self::new(
        400,
        "The service rejected the authorization",
        "Nothing was granted. Go back to the application and start again.",
    );
    /// A provider does not respond.
    pub(crate) const UNREACHABLE: Self = Self::new(
        502,
        "The service does not respond",
        "Nothing was granted yet. Wait a moment, then start again in the application.",
    );
    /// A provider has responded, and the response is of no use.
    pub(crate) const UNUSABLE: Self = Self::new(
        502,
        "The answer of the service cannot be used",
        "Nothing was granted, and waiting does not help. Tell the operator of the server, whose log says more.",
    );
    pub(crate) const RATE_LIMITED: Self = Self::new(
        429,
        "Too many requests",
        "Too many requests came from your network. Wait a minute, then reload this page.",
    );
}

/// A text whose direction does not change that of the text around it.
pub(crate) fn bdi(text: &str) -> String {
    format!("<bdi>{}</bdi>", Escaped(text))
}

pub(crate) fn strong(text: &str) -> String {
    format!("<strong>{}</strong>", bdi(text))
}

/// A term and its description in a list, as HTML.
pub(crate) fn row(term: &str, description: impl fmt::Display) -> String {
    format!("<dt>{term}</dt><dd>{description}</dd>")
}

/// A form that sends these values. `rest` is HTML: other fields and the button.
pub(crate) fn form(action: &str, values: &[(&str, &str)], rest: &str) -> String {
    let mut form = format!("<form method=\"post\" action=\"{}\">", Escaped(action));
    for (name, value) in values {
        let value = Escaped(value);
        form.push_str(&format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">"));
    }
    form + rest + "</form>"
}

pub(crate) fn list(names: &[String]) -> String {
    let items: String = names.iter().map(|name| format!("<li>{}</li>", bdi(name))).collect();
    format!("<ul>{items}</ul>")
}

/// How many names a list shows unfolded. A catalogue can have thousands of tools.
const MOST_UNFOLDED: usize = 10;

/// A list of names, folded after the first ten.
pub(crate) fn folded_list(names: &[String]) -> String {
    match names.split_at_checked(MOST_UNFOLDED).unwrap_or((names, &[])) {
        (shown, []) => list(shown),
        (shown, rest) => format!(
            "{}<details><summary>and {} more</summary>{}</details>",
            list(shown),
            rest.len(),
            list(rest)
        ),
    }
}

pub(crate) const TRY_AGAIN: &str = "Try again";

/// The page of a message, with the label and the address of a link.
pub(crate) fn notice(notice: Notice, link: Option<(&str, &str)>) -> Response {
    let Notice { status, title, text } = notice;
    let link = link
        .map(|(label, url)| format!("<a class=\"button\" href=\"{}\">{label}</a>", Escaped(url)));
    let main = format!("<p>{text}</p>{}", link.unwrap_or_default());
    html(status, title, &main, Forms::None)
}

pub(crate) fn redirect(location: String) -> Response {
    guarded(Response::empty(303).with("location", location), Forms::None)
}

/// Whether a page has forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    None,
    /// Their answers lead elsewhere: to a provider, to a client, to Cloudflare Access. Chromium applies `form-action` to the whole
    /// chain of redirects after a form, also to those that the client's own callback makes, such as to a scheme of an
    /// application. No list of sources covers where they lead, so the policy of such a page has none.
    Some,
}

/// A page.
pub(crate) fn html(status: u16, title: &str, main: &str, forms: Forms) -> Response {
    page(status, (title, title), main, forms)
}

/// A page about something with a name, which ends its title.
pub(crate) fn html_about(title: &str, name: &str, main: &str, forms: Forms) -> Response {
    let heading = format!("{title} {}", bdi(name));
    page(200, (&format!("{title} {}", Escaped(name)), &heading), main, forms)
}

/// A page with a title as text and, as its heading, in HTML.
fn page(status: u16, (title, heading): (&str, &str), main: &str, forms: Forms) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head>\
         <body><main><h1>{heading}</h1>{main}</main></body></html>"
    );
    let response = Response { body: page.into_bytes().into(), ..Response::empty(status) };
    guarded(response.with("content-type", "text/html; charset=utf-8"), forms)
}

/// Adds the security headers of a page.
fn guarded(response: Response, forms: Forms) -> Response {
    static STYLE_HASH: OnceLock<String> = OnceLock::new();
    let style = STYLE_HASH.get_or_init(|| Base64::encode_string(&Sha256::digest(STYLE)));
    let form_action = match forms {
        Forms::None => "form-action 'none'; ",
        Forms::Some => "",
    };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; {form_action}frame-ancestors 'none'; \
         base-uri 'none'"
    );
    response
        .with("content-security-policy", policy)
        .with("cache-control", "no-store")
        // With "no-referrer" the server could not see that its own page sent the form.
        .with("referrer-policy", "same-origin")
        .with("x-content-type-options", "nosniff")
        .with("x-frame-options", "DENY")
        .with("x-robots-tag", "noindex")
}

/// Gives pages that open this one, or that it opens, no reference to its window. Not for pages that redirect to a
/// client: some clients open them in a window and wait for a message from it.
pub(crate) fn isolated(page: Response) -> Response {
    page.with("cross-origin-opener-policy", "same-origin")
}

/// Makes browsers use TLS only from now on (RFC 6797). Not on localhost: it would apply to everything there.
pub(crate) fn with_tls(page: Response, public_url: &str) -> Response {
    match public_url.strip_prefix("https://") {
        Some(host) if !is_localhost(host) => {
            page.with("strict-transport-security", "max-age=31536000")
        }
        _ => page,
    }
}

/// Text escaped for HTML, also within quotes. Characters that are invisible, or that change the
/// direction of the text around them, are shown as U+FFFD.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
