//! The forms that answers must have, one file a protocol, written down apart from the library.

mod auth;
mod envelope;
mod jsonrpc;
mod mcp;
mod opentool;
mod oxp;
mod provider_calls;
mod provider_lists;
mod root;
mod xaibo;

use serde_json::{Map, Value};

/// The answer to a request: the method and path that were asked, and what came.
pub(crate) struct Answer<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

impl Answer<'_> {
    /// The values of the header `name`.
    fn all<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b str> {
        self.headers.iter().filter(move |(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// The body, which must be a JSON object.
    fn object(&self) -> Result<Map<String, Value>, String> {
        serde_json::from_slice(self.body).map_err(|error| format!("not a JSON object: {error}"))
    }
}

/// The content type of a stream of events.
const EVENTS: &str = "text/event-stream";

type Form = fn(&Answer<'_>) -> Result<(), String>;

/// Which protocol's form the answers below a path have; the first prefix that fits counts.
const FORMS: &[(&str, Form)] = &[
    ("/otc", envelope::otc),
    ("/oxp/1.0", envelope::oxp),
    ("/oxp", oxp::check),
    ("/xaibo", xaibo::check),
    ("/opentool", opentool::check),
    ("/jsonrpc", jsonrpc::check),
    ("/providers/openai-responses/call", provider_calls::check),
    ("/providers/openai/call", provider_calls::check),
    ("/providers/anthropic/call", provider_calls::check),
    ("/providers/gemini/call", provider_calls::check),
    ("/providers", provider_lists::check),
    ("/auth", auth::check),
    ("/mcp", mcp::check),
    ("/.well-known", mcp::well_known),
    ("", root::check),
];

/// The header that HTTP demands with a status, whatever the protocol.
const DEMANDED: &[(u16, &str)] = &[(401, "www-authenticate"), (405, "allow"), (429, "retry-after")];

/// Checks the form of an answer, whatever was asked.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(answer: &Answer<'_>) -> Result<(), String> {
    for (name, value) in answer.headers {
        ensure(answer.all(name).count() == 1, &format!("{name} is there more than once"))?;
        let plain = !value.contains(|c: char| c.is_control());
        ensure(plain, &format!("{name} has a control character: {value:?}"))?;
    }
    if let Some((_, header)) = DEMANDED.iter().find(|(status, _)| *status == answer.status) {
        ensure(answer.all(header).count() == 1, &format!("{header} is not there"))?;
    }
    let below = |prefix: &str| {
        let rest = answer.path.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || prefix.is_empty())
    };
    let form = FORMS.iter().find(|(prefix, _)| below(prefix));
    form.map_or(Ok(()), |(_, form)| form(answer))?;
    if [202, 204, 304].contains(&answer.status) || answer.method == "HEAD" {
        return ensure(answer.body.is_empty(), "a body where none may be");
    }
    let types: Vec<_> = answer.all("content-type").collect();
    if types == [auth::PAGE] && below("/auth") || answer.status == 303 {
        return Ok(());
    }
    let kinds: &[&str] = match (answer.status, answer.path) {
        (200, "/opentool/streamCall") => &[EVENTS],
        (200, "/mcp") => &["application/json", EVENTS],
        _ => &["application/json"],
    };
    let known = matches!(&types[..], [kind] if kinds.contains(kind));
    ensure(known, &format!("the content type is not {}", kinds.join(" or ")))
}

fn ensure(good: bool, what: &str) -> Result<(), String> {
    if good { Ok(()) } else { Err(what.to_owned()) }
}

/// An object has these members and no others; the required ones are texts.
fn members(
    object: &Map<String, Value>,
    required: &[&str],
    optional: &[&str],
) -> Result<(), String> {
    for name in required {
        if object.get(*name).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("{name} is not a text"));
        }
    }
    let known =
        |name: &&String| required.contains(&name.as_str()) || optional.contains(&name.as_str());
    match object.keys().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(format!("{name} is not a member of this answer")),
    }
}
