//! The views of tools (the extension MCP Apps).

use serde::{Deserialize, Serialize};

/// How a tool appears in hosts that show views (the extension MCP Apps, "Resource Discovery").
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ui {
    /// The file of the view in the folder of the toolkit: HTML, or a component in TypeScript.
    pub file: Option<String>,
    /// The addresses that the view uses.
    pub csp: Option<Csp>,
    /// What the view uses of the user's browser.
    pub permissions: Option<ViewPermissions>,
    /// Whether the view looks better with a border; `None`: the host decides.
    pub prefers_border: Option<bool>,
    /// The origin that the view should have, in the form of one host.
    pub domain: Option<String>,
    /// Who may call the tool.
    #[serde(default = "Visibility::all")]
    pub visibility: Vec<Visibility>,
}

/// Who may call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Visibility {
    /// Models.
    Model,
    /// The views of the server.
    App,
}

impl Visibility {
    fn all() -> Vec<Self> {
        vec![Self::Model, Self::App]
    }
}

/// What a view uses of the user's browser, each as an empty object. Hosts may refuse it, and browsers ask the user (MCP Apps, "UI
/// Resource Format").
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ViewPermissions {
    /// Pictures of the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<NoSettings>,
    /// Sound of the microphone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microphone: Option<NoSettings>,
    /// The place where the user is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<NoSettings>,
    /// Writing to the clipboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipboard_write: Option<NoSettings>,
}

/// An empty object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "an empty object")]
pub struct NoSettings {}

/// The origins that a view uses, from which hosts make its Content Security Policy (MCP Apps, "UI Resource Format"):
/// `https://api.example.com`, or `https://*.example.com`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Csp {
    /// Those of requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_domains: Vec<String>,
    /// Those of images, scripts, styles, fonts and media.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_domains: Vec<String>,
    /// Those of nested frames.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame_domains: Vec<String>,
    /// Those that the document may take as its base.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_uri_domains: Vec<String>,
}

impl Csp {
    /// The lists, with the names of the members.
    pub fn lists(&self) -> [(&'static str, &[String]); 4] {
        [
            ("connectDomains", &self.connect_domains),
            ("resourceDomains", &self.resource_domains),
            ("frameDomains", &self.frame_domains),
            ("baseUriDomains", &self.base_uri_domains),
        ]
    }
}
