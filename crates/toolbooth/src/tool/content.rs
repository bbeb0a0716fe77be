//! Content blocks: values that are made for people and models to see.

use base64ct::{Base64, Encoding};
use serde::{Deserialize, Serialize};

/// A block of content. A tool whose definition has `"content": true` returns a list of these. MCP passes the
/// blocks on; other protocols return them as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ContentBlock {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its media type, such as `image/png`.
        mime_type: String,
    },
    /// Audio.
    Audio {
        /// Its bytes in base64.
        data: String,
        /// Its media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A document with its contents.
    Resource {
        /// The document.
        resource: Document,
    },
    /// A link to a document.
    ResourceLink {
        /// Its address.
        uri: String,
        /// Its name.
        name: String,
        /// A description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its media type.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

/// A document with its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Its address.
    pub uri: String,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its contents.
    #[serde(flatten)]
    pub body: DocumentBody,
}

/// The contents of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentBody {
    /// A text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
}

impl ContentBlock {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// An image with these bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Image { data: Base64::encode_string(bytes), mime_type: mime_type.into() }
    }

    /// Audio with these bytes.
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Audio { data: Base64::encode_string(bytes), mime_type: mime_type.into() }
    }

    /// A text document.
    pub fn document(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::resource(uri.into(), mime_type.into(), DocumentBody::Text(text.into()))
    }

    /// A document with these bytes.
    pub fn file(uri: impl Into<String>, mime_type: impl Into<String>, bytes: &[u8]) -> Self {
        let body = DocumentBody::Blob(Base64::encode_string(bytes));
        Self::resource(uri.into(), mime_type.into(), body)
    }

    fn resource(uri: String, mime_type: String, body: DocumentBody) -> Self {
        Self::Resource { resource: Document { uri, mime_type: Some(mime_type), body } }
    }

    /// A link to a document.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        let (uri, name) = (uri.into(), name.into());
        Self::ResourceLink { uri, name, description: None, mime_type: None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn blocks_as_json() {
        for (block, expected) in [
            (ContentBlock::text("hi"), json!({"type": "text", "text": "hi"})),
            (
                ContentBlock::image(&[0, 255], "image/png"),
                json!({"type": "image", "data": "AP8=", "mimeType": "image/png"}),
            ),
            (
                ContentBlock::audio(b"", "audio/wav"),
                json!({"type": "audio", "data": "", "mimeType": "audio/wav"}),
            ),
            (
                ContentBlock::document("a://b", "text/plain", "c"),
                json!({"type": "resource", "resource": {
                    "uri": "a://b", "mimeType": "text/plain", "text": "c"
                }}),
            ),
            (
                ContentBlock::file("a://b", "image/png", &[0]),
                json!({"type": "resource", "resource": {
                    "uri": "a://b", "mimeType": "image/png", "blob": "AA=="
                }}),
            ),
            (
                ContentBlock::link("a://b", "b"),
                json!({"type": "resource_link", "uri": "a://b", "name": "b"}),
            ),
        ] {
            assert_eq!(to_value(&block).unwrap(), expected);
            assert_eq!(serde_json::from_value::<ContentBlock>(expected).unwrap(), block);
        }
    }

    #[test]
    fn invalid_blocks() {
        for value in [
            json!("text"),
            json!({}),
            json!({"type": "text"}),
            json!({"type": "video", "data": ""}),
            json!({"type": "image", "data": ""}),
            json!({"type": "resource", "resource": {"uri": "a://b"}}),
            json!({"type": "resource_link", "uri": "a://b"}),
        ] {
            assert!(serde_json::from_value::<ContentBlock>(value.clone()).is_err(), "{value}");
        }
    }
}
