//! A conversation in no format: what its turns say, call and think, and which tools and members the request has.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Texts. `@` is where the mark goes by which a test finds the text again; without one, the text is blank.
pub(super) const TEXTS: &[&str] = &[
    "@",
    " @ ",
    "\n\n@\n",
    "Grüße 🌍 @ \u{2028}é\u{301}",
    "a \"quoted\" \\ text\t@",
    "{\"x\": \"@\"}",
    "<tool_call>@</tool_call>",
    "data: @\n\nevent: end\n\n",
    "[DONE] @",
    "",
    " ",
    "\n\t",
];
/// Texts of results.
pub(super) const RESULTS: &[&str] =
    &["@", "{\"a\": [1, \"@\"]}", "[\"@\"]", "Error: @", " @ ", "Grüße @", "", " "];
/// Arguments, the ones that are no object last.
pub(super) const ARGUMENTS: &[&str] = &[
    "{\"city\":\"@\"}",
    "{ \"city\": \"@\", \"n\": 1e3, \"deep\": {\"a\": [null, true, \"é\\n\"]} }",
    "{\"z\":1,\"a\":\"@\"}",
    "{\"city\":\"@\"",
    "[\"@\"]",
    "@",
];
/// How many of the arguments are objects.
pub(super) const OBJECTS: usize = 3;

/// How many kinds of unknown items there are.
pub(super) const UNKNOWN: usize = 6;

#[derive(Debug, Clone)]
pub(super) struct Talk {
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<Tool>,
    pub(super) choice: Choice,
    /// Which of the members of its format the request has.
    pub(super) members: Vec<usize>,
    pub(super) stream: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Turn {
    System {
        developer: bool,
        texts: Texts,
    },
    User(Vec<Said>, bool),
    Assistant(Assistant),
    /// An item, a block or a member of a type that only the client's provider knows.
    Unknown(usize),
}

/// Texts, and whether they are a list of parts.
#[derive(Debug, Clone)]
pub(super) struct Texts(pub(super) Vec<&'static str>, pub(super) bool);

/// A part of what a user says.
#[derive(Debug, Clone)]
pub(super) enum Said {
    Text(&'static str),
    /// One of the images that a format has.
    Image(usize),
    File(usize),
    Audio,
    Unknown,
}

#[derive(Debug, Clone)]
pub(super) struct Assistant {
    pub(super) thought: Thought,
    pub(super) texts: Texts,
    pub(super) calls: Vec<Call>,
    /// What it says after its calls, where the format has that.
    pub(super) late: Option<&'static str>,
    /// What is said between its calls and their results, where the format has that.
    pub(super) aside: Option<&'static str>,
}

/// What a model has thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thought {
    None,
    /// A text that anybody may read.
    Plain,
    /// Nothing that anybody may read.
    Hidden,
    /// Anthropic's blocks with a signature.
    Anthropic,
    /// Items that OpenAI has encrypted.
    OpenAi,
    /// Signatures of Gemini.
    Google,
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Which tool it calls.
    pub(super) tool: usize,
    /// Which form its id has.
    pub(super) id: usize,
    pub(super) arguments: usize,
    pub(super) result: Answer,
    /// Results come in the order of this.
    pub(super) place: u8,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Text(&'static str),
    Parts(Vec<&'static str>),
    Failed(&'static str),
    /// With a text.
    Image(Option<&'static str>),
    None,
    /// There is no result.
    Missing,
}

#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) custom: bool,
    pub(super) name: usize,
    pub(super) schema: usize,
    pub(super) strict: Option<bool>,
    pub(super) description: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Choice {
    Absent,
    Auto,
    None,
    Required,
    Tool(usize),
    Allowed { required: bool, first: usize },
}

fn texts() -> impl Strategy<Value = Texts> {
    (vec(select(TEXTS), 0..3), any::<bool>()).prop_map(|(texts, list)| Texts(texts, list))
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        8 => select(TEXTS).prop_map(Said::Text),
        2 => (0..5_usize).prop_map(Said::Image),
        1 => (0..6_usize).prop_map(Said::File),
        1 => Just(Said::Audio),
        1 => Just(Said::Unknown),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    let text = || select(RESULTS);
    let known = prop_oneof![
        5 => text().prop_map(Answer::Text),
        2 => vec(text(), 0..3).prop_map(Answer::Parts),
        1 => text().prop_map(Answer::Failed),
        1 => prop::option::of(text()).prop_map(Answer::Image),
        1 => Just(Answer::None),
    ];
    // One of them makes a request invalid.
    prop_oneof![
        60 => known,
        1 => Just(Answer::Missing),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    (0..4_usize, 0..7_usize, 0..ARGUMENTS.len(), answer(), any::<u8>()).prop_map(
        |(tool, id, arguments, result, place)| Call { tool, id, arguments, result, place },
    )
}

fn turn() -> impl Strategy<Value = Turn> {
    use Thought::*;
    let thought = select(&[None, None, None, Plain, Hidden, Anthropic, OpenAi, Google][..]);
    let more = || prop::option::weighted(0.15, select(TEXTS));
    let assistant = (thought, texts(), vec(call(), 0..4), more(), more());
    prop_oneof![
        2 => (any::<bool>(), texts()).prop_map(|(developer, texts)| Turn::System { developer, texts }),
        5 => (vec(said(), 0..4), any::<bool>()).prop_map(|(said, list)| Turn::User(said, list)),
        6 => assistant.prop_map(|(thought, texts, calls, late, aside)| {
            Turn::Assistant(super::talk::Assistant { thought, texts, calls, late, aside })
        }),
        1 => (0..UNKNOWN).prop_map(Turn::Unknown),
    ]
}

fn tool() -> impl Strategy<Value = Tool> {
    let strict = select(&[Option::None, Some(true), Some(false)][..]);
    let of = (prop::bool::weighted(0.15), 0..6_usize, any::<usize>(), strict, any::<bool>());
    of.prop_map(|(custom, name, schema, strict, description)| Tool {
        custom,
        name,
        schema,
        strict,
        description,
    })
}

fn choice() -> impl Strategy<Value = Choice> {
    let first = 0..4_usize;
    prop_oneof![
        4 => Just(Choice::Absent),
        1 => Just(Choice::Auto),
        1 => Just(Choice::None),
        1 => Just(Choice::Required),
        1 => first.clone().prop_map(Choice::Tool),
        1 => (any::<bool>(), first).prop_map(|(required, first)| Choice::Allowed { required, first }),
    ]
}

pub(super) fn talk() -> impl Strategy<Value = Talk> {
    let members = vec(any::<usize>(), 0..5);
    (vec(turn(), 1..8), vec(tool(), 0..4), choice(), members, any::<bool>()).prop_map(
        |(turns, tools, choice, members, stream)| Talk { turns, tools, choice, members, stream },
    )
}
