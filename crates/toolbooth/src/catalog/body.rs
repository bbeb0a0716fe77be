//! The text of a list, as the build stores it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The text of a list: compressed if it is long, because every instance of a Worker pays for its bytes when it starts, and
/// few instances serve every list.
#[derive(Debug, Clone, Copy)]
pub enum ListBody {
    /// The text itself.
    Plain(&'static str),
    /// A compressed text.
    Compressed {
        /// The text.
        text: CompressedText,
        /// [`decompress`]: a pointer, so that the code is linked only if a list is compressed.
        decompress: fn(CompressedText) -> &'static str,
    },
}

/// A text in LZ4 blocks. Lists describe the same tools in similar words, so the blocks may refer to the text of another list.
#[derive(Debug, Clone, Copy)]
pub struct CompressedText {
    /// The blocks, one after the other.
    pub bytes: &'static [u8],
    /// What is known of each block.
    pub blocks: &'static [Block],
    /// The list that the blocks refer to, if they do.
    pub like: Option<&'static ListBody>,
}

/// A block of a [`CompressedText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where it ends in the bytes.
    pub end: usize,
    /// The length of its text in bytes.
    pub length: usize,
    /// Its dictionary: a part of the text of the other list, about the same tools.
    pub like: Range<usize>,
}

impl ListBody {
    /// The text.
    pub fn text(&self) -> &'static str {
        match *self {
            Self::Plain(text) => text,
            Self::Compressed { text, decompress } => decompress(text),
        }
    }
}

/// The texts that were decompressed, by the addresses of their bytes. There is one for each list at most.
static TEXTS: Mutex<Vec<(usize, &'static str)>> = Mutex::new(Vec::new());

/// A text, which is decompressed once and kept.
pub fn decompress(compressed: CompressedText) -> &'static str {
    let CompressedText { bytes, blocks, like } = compressed;
    let address = bytes.as_ptr().addr();
    // A panic while the lock is held leaves the list as it was.
    let texts = || TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, text)) = texts().iter().find(|(known, _)| *known == address) {
        return text;
    }
    let like = like.map_or("", ListBody::text);
    let mut all = Vec::with_capacity(blocks.iter().map(|block| block.length).sum());
    let mut start = 0;
    for Block { end, length, like: part } in blocks {
        let block = bytes.get(start..*end).unwrap_or_default();
        let dictionary = like.get(part.clone()).unwrap_or_default().as_bytes();
        // The build has compressed a text, so nothing here fails.
        let text = lz4_flex::block::decompress_with_dict(block, *length, dictionary);
        all.extend(text.unwrap_or_default());
        start = *end;
    }
    let text: &str = String::from_utf8(all).unwrap_or_default().leak();
    texts().push((address, text));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressed_text_is_decompressed_once() {
        let like: &str = "the same tools ".repeat(1000).leak();
        let other: &ListBody = Box::leak(Box::new(ListBody::Plain(like)));
        let texts = ["tools ".repeat(1000), "the same tools, and others".to_owned()];
        let (mut bytes, mut blocks) = (Vec::new(), Vec::new());
        for (text, part) in texts.iter().zip([0..0, 15..60]) {
            let dictionary = like[part.clone()].as_bytes();
            bytes.extend(lz4_flex::block::compress_with_dict(text.as_bytes(), dictionary));
            blocks.push(Block { end: bytes.len(), length: text.len(), like: part });
        }
        let text = CompressedText { bytes: bytes.leak(), blocks: blocks.leak(), like: Some(other) };
        let body = ListBody::Compressed { text, decompress };
        assert_eq!(body.text(), texts.concat());
        assert_eq!(body.text().as_ptr(), body.text().as_ptr(), "kept");
        assert_eq!(ListBody::Plain("[]").text(), "[]");
    }
}
