//! The text of a list, as the build stores it.

use std::sync::{Mutex, PoisonError};

/// The text of a list: compressed if it is long, because every instance of a Worker pays for its bytes when it starts, and
/// few instances serve every list.
#[derive(Debug, Clone, Copy)]
pub enum ListBody {
    /// The text itself.
    Plain(&'static str),
    /// An LZ4 block.
    Compressed {
        /// The block.
        block: &'static [u8],
        /// The length of the text in bytes.
        length: usize,
        /// [`decompress`]: a pointer, so that the code is linked only if a list is compressed.
        decompress: fn(&'static [u8], usize) -> &'static str,
    },
}

impl ListBody {
    /// The text.
    pub fn text(&self) -> &'static str {
        match *self {
            Self::Plain(text) => text,
            Self::Compressed { block, length, decompress } => decompress(block, length),
        }
    }
}

/// The texts that were decompressed, by the addresses of their blocks. There is one for each list at most.
static TEXTS: Mutex<Vec<(usize, &'static str)>> = Mutex::new(Vec::new());

/// The text of an LZ4 block, which is decompressed once and kept. `length` is that of the text.
pub fn decompress(block: &'static [u8], length: usize) -> &'static str {
    let address = block.as_ptr().addr();
    // A panic while the lock is held leaves the list as it was.
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, text)) = texts.iter().find(|(known, _)| *known == address) {
        return text;
    }
    // The build has compressed a text, so neither fails.
    let bytes = lz4_flex::block::decompress(block, length).unwrap_or_default();
    let text: &str = String::from_utf8(bytes).unwrap_or_default().leak();
    texts.push((address, text));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_text_is_decompressed_once() {
        let text = "tools ".repeat(1000);
        let block: &[u8] = lz4_flex::block::compress(text.as_bytes()).leak();
        let body = ListBody::Compressed { block, length: text.len(), decompress };
        assert_eq!(body.text(), text);
        assert_eq!(body.text().as_ptr(), body.text().as_ptr(), "kept");
        assert_eq!(ListBody::Plain("[]").text(), "[]");
    }
}
