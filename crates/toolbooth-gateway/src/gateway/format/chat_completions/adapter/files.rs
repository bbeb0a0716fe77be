//! Files, for providers that have no parts for them.

use crate::gateway::conversation::{HistoryItem, Message, MessageBody, Part, PartContent};
use crate::gateway::format::adapter::conversation::not_shown;
use crate::gateway::notes::Notes;

/// Whether a message of the user, or a result, has a file.
pub(super) fn has_file(item: &HistoryItem) -> bool {
    let parts = match item {
        HistoryItem::Message(Message { body: MessageBody::User(parts), .. }) => parts.as_slice(),
        _ => item.result().map_or(&[][..], |result| &result.content.0),
    };
    parts.iter().any(|part| matches!(part.content, PartContent::File { .. }))
}

/// Writes the files of a message as texts.
pub(super) fn write_files(item: &mut HistoryItem, notes: &Notes) {
    if let HistoryItem::Message(Message { body: MessageBody::User(parts), .. }) = item {
        parts.iter_mut().for_each(|part| write_file(part, notes));
    }
    for result in item.results_mut() {
        result.content.0.iter_mut().for_each(|part| write_file(part, notes));
    }
}

/// Writes a file as its text. Of any other, the model learns that it is there.
fn write_file(part: &mut Part, notes: &Notes) {
    let PartContent::File { source, name } = &part.content else { return };
    let text = source.text().map(|text| titled(name.as_deref(), &text));
    part.content = PartContent::Text(text.unwrap_or_else(|| not_shown(part, notes)));
}

/// The text of a file below its name.
pub(super) fn titled(name: Option<&str>, text: &str) -> String {
    let name = name.unwrap_or("A file");
    format!("{name}:\n\n{text}")
}
