//! An answer in no format: what a model thinks, says and calls, and how its stream is cut.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const TEXTS: &[&str] =
    &["Hello", "Grüße 🌍 é\u{301}", " ", "a\n\nb\t\"\\", "data: x\n\n", "{\"a\":1}"];
const ARGUMENTS: &[&str] = &[
    "{\"city\":\"Rome\"}",
    "{}",
    "{\"city\":\"Zürich 🌍\",\"n\":1e3,\"deep\":{\"b\":[null,true,\"\\\"\"],\"a\":{}}}",
    "{\"z\":\"\\u00e9\\n\",\"a\":-0.5}",
];

#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) thoughts: Vec<&'static str>,
    /// Whether what it thinks is signed.
    pub(super) is_signed: bool,
    pub(super) texts: Vec<&'static str>,
    pub(super) calls: Vec<Call>,
    pub(super) ending: Ending,
    pub(super) has_usage: bool,
    /// Whether the parts of its calls are mixed, where a format has that.
    pub(super) is_mixed: bool,
    pub(super) cuts: Cuts,
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Which of the tools.
    pub(super) tool: usize,
    pub(super) id: usize,
    pub(super) arguments: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Done,
    Length,
    Filtered,
}

/// Where texts and bytes are cut.
#[derive(Debug, Clone)]
pub(super) struct Cuts {
    sizes: Vec<usize>,
    next: usize,
}

impl Cuts {
    fn size(&mut self) -> usize {
        self.next += 1;
        self.sizes[self.next % self.sizes.len()]
    }

    /// A text in pieces, of which some are empty.
    pub(super) fn pieces(&mut self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut rest = text.chars().peekable();
        while rest.peek().is_some() {
            let size = self.size() % 9;
            pieces.push(rest.by_ref().take(size).collect());
            if pieces.len() > text.len() + 3 {
                pieces.push(rest.by_ref().collect());
            }
        }
        pieces
    }

    /// The bytes of a stream, cut anywhere.
    pub(super) fn bytes(&mut self, text: &str) -> Vec<Vec<u8>> {
        let mut rest = text.as_bytes();
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at((1 + self.size()).min(rest.len()));
            pieces.push(piece.to_vec());
            rest = more;
        }
        pieces
    }
}

fn call() -> impl Strategy<Value = Call> {
    (0..3_usize, 0..7_usize, select(ARGUMENTS)).prop_map(|(tool, id, arguments)| Call {
        tool,
        id,
        arguments,
    })
}

pub(super) fn answer() -> impl Strategy<Value = Answer> {
    let ending = prop_oneof![8 => Just(Ending::Done), 1 => Just(Ending::Length), 1 => Just(Ending::Filtered)];
    let said =
        (vec(select(TEXTS), 0..3), any::<bool>(), vec(select(TEXTS), 0..3), vec(call(), 0..4));
    let sizes = prop_oneof![vec(0..40_usize, 1..20), vec(0..2000_usize, 1..9), Just(vec![0, 1])];
    (said, ending, any::<bool>(), any::<bool>(), sizes).prop_map(
        |((thoughts, is_signed, texts, calls), ending, has_usage, is_mixed, sizes)| Answer {
            thoughts,
            is_signed,
            texts,
            calls,
            ending,
            has_usage,
            is_mixed,
            cuts: Cuts { sizes, next: 0 },
        },
    )
}
