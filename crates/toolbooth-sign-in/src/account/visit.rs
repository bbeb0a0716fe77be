//! How a person came to the page of their account: from a page of the site, or by a form of the page itself.

use form_urlencoded::parse;

use crate::paths::ACCOUNT;
use toolbooth::url::query_value;

/// The parameters of the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Visit {
    /// Where the page leads back to.
    pub(super) from: Option<SitePage>,
    /// What a form has just changed.
    pub(super) done: Option<Change>,
}

/// An address of the site that may link here: `/`, or `/playground` with the fragment that names its tool. Others are
/// ignored, because anyone can make a link to this page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SitePage(String);

/// What a form of the page changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Revoked,
    Disconnected,
}

/// The longest address of the site.
const LONGEST: usize = 500;

impl SitePage {
    fn read(address: &str) -> Option<Self> {
        let (path, _) = address.split_once('#').unwrap_or((address, ""));
        let is_known = matches!(path, "/" | "/playground") && address.len() <= LONGEST;
        is_known.then(|| Self(address.to_owned()))
    }

    pub(super) fn address(&self) -> &str {
        &self.0
    }

    pub(super) fn title(&self) -> &'static str {
        if self.0.starts_with("/playground") { "playground" } else { "overview" }
    }
}

impl Change {
    /// Its name in the address.
    fn name(self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::Disconnected => "disconnected",
        }
    }

    /// Reports it to the person.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Revoked => "Access was revoked, and its tokens were deleted.",
            Self::Disconnected => "The application was disconnected.",
        }
    }
}

impl Visit {
    /// Reads a query, or the fields of a form.
    pub(super) fn read(text: &[u8]) -> Self {
        let field = |name: &str| parse(text).find(|(known, _)| known == name).map(|it| it.1);
        let changes = [Change::Revoked, Change::Disconnected];
        Self {
            from: field("from").and_then(|address| SitePage::read(&address)),
            done: field("done")
                .and_then(|name| changes.into_iter().find(|change| change.name() == name)),
        }
    }

    /// The page's address with these parameters.
    pub(super) fn address(&self) -> String {
        let done = self.done.map(|change| format!("done={}", change.name()));
        let from = self.from.as_ref();
        let from = from.map(|page| format!("from={}", query_value(page.address())));
        let query: Vec<_> = [done, from].into_iter().flatten().collect();
        match query.is_empty() {
            true => ACCOUNT.to_owned(),
            false => format!("{ACCOUNT}?{}", query.join("&")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_site_are_led_back_to() {
        for (address, expected) in [
            ("/", Some("overview")),
            ("/playground", Some("playground")),
            ("/playground#Calculator.Add%401.0.0", Some("playground")),
            ("/playground/../oauth/token", None),
            ("/playground?x", None),
            ("//evil.example", None),
            ("https://evil.example/playground", None),
            ("javascript:alert(1)", None),
            ("#x", None),
            ("", None),
            (&format!("/#{}", "x".repeat(LONGEST)), None),
        ] {
            assert_eq!(SitePage::read(address).map(|page| page.title()), expected, "{address}");
        }
    }

    #[test]
    fn an_address_is_read_as_it_was_written() {
        for (query, address) in [
            ("", "/account"),
            ("done=revoked", "/account?done=revoked"),
            ("done=other&from=%2Fx", "/account"),
            (
                "from=%2Fplayground%23A.B%401&done=disconnected",
                "/account?done=disconnected&from=%2Fplayground%23A.B%401",
            ),
        ] {
            let visit = Visit::read(query.as_bytes());
            assert_eq!(visit.address(), address);
            let (_, query) = address.split_once('?').unwrap_or_default();
            assert_eq!(Visit::read(query.as_bytes()), visit);
        }
    }
}
