//! What the operator tells clients about the server: instructions for models, its website and its icons.

use serde::Serialize;

use super::tool_list;
use crate::address::is_secure;
use crate::call::RequestContext;
use crate::catalog::ServerInfo;
use crate::json::{self, Object, Rendered, Value};
use crate::settings::{Row, Settings, VariableDoc, VariableReader};

static INSTRUCTIONS: Row<Option<String>> = Row::new(
    "MCP_INSTRUCTIONS",
    "what models should know about the server, which MCP clients may add to their prompts: how its tools belong together, and what \
     to do first | none; with a [short list](TOOLS.md#many-tools), how to search for tools | every text is valid",
    None,
    |text| Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
);

static WEBSITE_URL: Row<Option<String>> = Row::new(
    "MCP_WEBSITE_URL",
    "the website of the server, which MCP clients may show: an `https` URL | none | none, with a \
     warning in the log",
    None,
    |text| match text {
        "" => Ok(None),
        url if is_secure(url) => Ok(Some(url.to_owned())),
        _ => Err("must be an https URL".to_owned()),
    },
);

static ICONS: Row<Option<String>> = Row::new(
    "MCP_ICONS",
    "the icons of the server, which MCP clients may show: a JSON array such as \
     `[{\"src\": \"https://tools.example.com/icon.png\", \"mimeType\": \"image/png\", \"sizes\": [\"48x48\"]}]`. `src` is an `https` URL or a \
     `data:` URL of an image; the other members and `theme`, `light` or `dark`, are optional | none | none, with a warning in the log",
    None,
    |text| if text.is_empty() { Ok(None) } else { icons(text).map(Some) },
);

static SERVER_NAME: Row<Option<String>> = Row::new(
    "MCP_SERVER_NAME",
    "the name of the server in MCP's [registry](OPERATING.md#list-the-server-in-mcps-registry), which its server card at \
     `/mcp/server-card` repeats: a reversed domain and a name, such as `com.example.tools/tools` | the host, reversed, and `/mcp` | the \
     default, with a warning in the log",
    None,
    |text| {
        match text {
        "" => Ok(None),
        name if is_registry_name(name) => Ok(Some(name.to_owned())),
        _ => Err("must be a reversed domain and a name, such as com.example.tools/tools, with at most 200 characters".to_owned()),
    }
    },
);

static DESCRIPTION: Row<Option<String>> = Row::new(
    "MCP_DESCRIPTION",
    "what people can do with the server, in 1 to 100 characters, for directories that read the server card | the title of the server | \
     the default, with a warning in the log",
    None,
    |text| match text.trim() {
        "" => Ok(None),
        text if text.chars().count() <= 100 => Ok(Some(text.to_owned())),
        _ => Err("must have 1 to 100 characters".to_owned()),
    },
);

pub(super) static DOCS: &[VariableDoc] =
    &[INSTRUCTIONS.doc(), WEBSITE_URL.doc(), ICONS.doc(), SERVER_NAME.doc(), DESCRIPTION.doc()];

/// Whether `name` is a reversed domain and a name, with one slash in between.
fn is_registry_name(name: &str) -> bool {
    let is_of = |text: &str, special: &[u8]| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || special.contains(&byte);
        !text.is_empty() && text.bytes().all(is_part)
    };
    let parts = name.split_once('/');
    let is_valid = parts.is_some_and(|(domain, name)| is_of(domain, b".-") && is_of(name, b"._-"));
    is_valid && name.len() <= 200
}

/// What the operator has set.
#[derive(Debug, Default)]
struct About {
    instructions: Option<String>,
    website_url: Option<String>,
    /// JSON.
    icons: Option<String>,
    server_name: Option<String>,
    description: Option<String>,
}

/// Reads the variables. Nothing depends on them but what clients show, so an invalid one stops no call.
pub(super) fn read(settings: &mut Settings, reader: &mut VariableReader<'_>) {
    let mut value = |row: &Row<Option<String>>| match reader.check(row) {
        Ok(()) => reader.get(row),
        Err(problem) => {
            reader.reject(problem);
            None
        }
    };
    let about = About {
        instructions: value(&INSTRUCTIONS),
        website_url: value(&WEBSITE_URL),
        icons: value(&ICONS),
        server_name: value(&SERVER_NAME),
        description: value(&DESCRIPTION),
    };
    settings.extensions.insert(about);
}

/// Checks icons (SEP-973), and writes them as clients get them.
fn icons(text: &str) -> Result<String, String> {
    let expected = "must be a JSON array of icons, each with src, an https or data: URL of an image, and perhaps mimeType, \
                    sizes such as [\"48x48\"] or [\"any\"], and theme, light or dark";
    let icons = match json::parse(text) {
        Ok(Value::Array(icons))
            if icons.iter().all(|icon| icon.as_object().is_some_and(is_icon)) =>
        {
            icons
        }
        _ => return Err(expected.to_owned()),
    };
    Ok(json::to_string(&icons))
}

fn is_icon(icon: &Object<'_>) -> bool {
    let is_text = |value: &Value<'_>| value.as_str().is_some_and(|text| !text.is_empty());
    icon.contains("src")
        && icon.iter().all(|(name, value)| match &**name {
            "src" => value.as_str().is_some_and(is_source),
            "mimeType" => is_text(value),
            "sizes" => value.texts().is_some_and(|sizes| sizes.iter().all(|size| is_size(size))),
            "theme" => matches!(value.as_str(), Some("light" | "dark")),
            _ => false,
        })
}

fn is_source(source: &str) -> bool {
    let is_data =
        source.starts_with("data:image/") && source.bytes().all(|byte| byte.is_ascii_graphic());
    is_data || is_secure(source)
}

fn is_size(size: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    size == "any"
        || size.split_once('x').is_some_and(|(width, height)| is_number(width) && is_number(height))
}

/// `Implementation`: how a server names itself, with its website and icons where clients look for them.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Implementation<'a> {
    name: &'a str,
    pub(super) title: &'a str,
    pub(super) version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) website_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) icons: Option<Rendered<'a>>,
}

impl<'a> Implementation<'a> {
    /// The server, for a client that has just met it.
    pub(super) fn of(context: &RequestContext<'a>) -> Self {
        let about = about(context);
        Self {
            website_url: about.and_then(|about| about.website_url.as_deref()),
            icons: about.and_then(|about| about.icons.as_deref()).map(Rendered),
            ..Self::from(&context.pipeline.catalog.server)
        }
    }
}

impl<'a> From<&'a ServerInfo> for Implementation<'a> {
    /// The name alone, for each result: icons can be long.
    fn from(info: &'a ServerInfo) -> Self {
        let ServerInfo { name, title, version } = info;
        Self { name, title, version, website_url: None, icons: None }
    }
}

/// The name and the description that the operator has given the server for directories.
pub(super) fn listing<'a>(context: &RequestContext<'a>) -> (Option<&'a str>, Option<&'a str>) {
    let about = about(context);
    let name = about.and_then(|about| about.server_name.as_deref());
    (name, about.and_then(|about| about.description.as_deref()))
}

fn about<'a>(context: &RequestContext<'a>) -> Option<&'a About> {
    context.pipeline.settings.extensions.get::<About>()
}

/// What models should know about the server: what the operator says, or how to find tools if the list of this client is short.
pub(super) fn instructions(context: &RequestContext<'_>) -> Option<String> {
    if let Some(instructions) = about(context).and_then(|about| about.instructions.as_ref()) {
        return Some(instructions.clone());
    }
    let list = context.list(tool_list::LIST.name).ok()?;
    let search = context.search_instead_of(list).ok()??;
    let (find, call) = (search.search_tool.name, search.call_tool.name);
    Some(format!(
        "This server has more tools than its list shows. To find one, call {find} with a few words about what you want to do: it \
         returns matching tools with their input schemas, the best first. Call a tool that it found by its name if you can; \
         otherwise call {call} with its name and its arguments. If nothing fits, search again with other words before you \
         conclude that there is no such tool."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_registry() {
        let long = format!("com.example/{}", "a".repeat(200));
        for (name, valid) in [
            ("com.example.tools/tools", true),
            ("io.github.ada/my_tools.2", true),
            ("localhost/mcp", true),
            ("com.example", false),
            ("com.example/", false),
            ("/tools", false),
            ("com.example/a/b", false),
            ("com.example/a b", false),
            ("com_example/a", false),
            ("com.example/\u{e9}", false),
            (&long, false),
        ] {
            assert_eq!(is_registry_name(name), valid, "{name}");
        }
    }

    #[test]
    fn icons_are_checked() {
        for (text, valid) in [
            ("[]", true),
            (r#"[{"src":"https://tools.example/icon.png"}]"#, true),
            (
                r#"[{"src":"https://a.example/i.png","mimeType":"image/png","sizes":["48x48","any"]}]"#,
                true,
            ),
            (
                r#"[{"src":"http://localhost:8787/i.svg","theme":"dark"},{"src":"data:image/png;base64,iVBORw0KGgo="}]"#,
                true,
            ),
            ("", false),
            ("{}", false),
            ("icon.png", false),
            (r#"["https://tools.example/icon.png"]"#, false),
            ("[{}]", false),
            (r#"[{"src":""}]"#, false),
            (r#"[{"src":"/icon.png"}]"#, false),
            (r#"[{"src":"http://tools.example/icon.png"}]"#, false),
            (r#"[{"src":"javascript:alert(1)"}]"#, false),
            (r#"[{"src":"data:text/html,x"}]"#, false),
            (r#"[{"src":"https://a.example/i.png","sizes":"48x48"}]"#, false),
            (r#"[{"src":"https://a.example/i.png","sizes":["48"]}]"#, false),
            (r#"[{"src":"https://a.example/i.png","theme":"blue"}]"#, false),
            (r#"[{"src":"https://a.example/i.png","mimetype":"image/png"}]"#, false),
        ] {
            assert_eq!(icons(text).is_ok(), valid, "{text}");
        }
    }
}
