//! The contents of attachments.

use base64ct::{Base64, Encoding};
use toolbooth::ToolError;
use toolbooth::tool::ContentBlock;

use super::database::Attachment;

/// The largest attachment in bytes. `data` in `Attach@1.0.0.json` may be as long as its base64.
const MAX_BYTES: usize = 1 << 20;

/// The bytes of a file in base64.
pub(super) fn decode(data: &str) -> Result<Vec<u8>, ToolError> {
    let invalid =
        |_| ToolError::new("The data is not base64").prompt("Use padding and no line breaks");
    let bytes = Base64::decode_vec(data).map_err(invalid)?;
    if bytes.len() > MAX_BYTES {
        return Err(ToolError::new(format!("The file is larger than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

/// An attachment in the form that clients can show.
pub(super) fn block(attachment: &Attachment, bytes: Vec<u8>) -> ContentBlock {
    let Attachment { id, mime_type, .. } = attachment;
    let uri = format!("attachment:{id}");
    match mime_type.split('/').next() {
        Some("image") => ContentBlock::image(&bytes, mime_type),
        Some("audio") => ContentBlock::audio(&bytes, mime_type),
        Some("text") => match String::from_utf8(bytes) {
            Ok(text) => ContentBlock::document(uri, mime_type, text),
            Err(error) => ContentBlock::file(uri, mime_type, error.as_bytes()),
        },
        _ => ContentBlock::file(uri, mime_type, &bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data() {
        for (data, expected) in [
            ("aGk=", Some(&b"hi"[..])),
            ("", Some(b"")),
            ("aGk", None),
            ("a Gk=", None),
            ("ä", None),
        ] {
            assert_eq!(decode(data).ok().as_deref(), expected, "{data:?}");
        }
        let largest = Base64::encode_string(&vec![0; MAX_BYTES]);
        assert_eq!(decode(&largest).map(|bytes| bytes.len()), Ok(MAX_BYTES));
        assert!(decode(&Base64::encode_string(&vec![0; MAX_BYTES + 1])).is_err());
        let definition = include_str!("Attach@1.0.0.json");
        assert!(
            definition.contains(&format!("\"maxLength\": {}", largest.len())),
            "the schema allows as much"
        );
    }

    #[test]
    fn blocks() {
        for (mime_type, bytes, expected) in [
            ("image/png", &b"\xff"[..], ContentBlock::image(b"\xff", "image/png")),
            ("audio/wav", b"a", ContentBlock::audio(b"a", "audio/wav")),
            ("text/plain", b"hi", ContentBlock::document("attachment:7", "text/plain", "hi")),
            ("text/plain", b"\xff", ContentBlock::file("attachment:7", "text/plain", b"\xff")),
            ("application/pdf", b"%", ContentBlock::file("attachment:7", "application/pdf", b"%")),
        ] {
            let attachment = Attachment {
                id: "7".to_owned(),
                name: "a".to_owned(),
                mime_type: mime_type.to_owned(),
                size: bytes.len(),
            };
            assert_eq!(block(&attachment, bytes.to_vec()), expected, "{mime_type}");
        }
    }
}
