//! The pictures and sounds of an answer.

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::stream::Delta;
use crate::wire::Media;
use toolbooth::schema::text::excerpt;

impl Builder {
    /// A picture, a sound or another file.
    pub(super) fn file(&mut self, mut media: Media<'_>) {
        let id = self.completion.id.as_deref().unwrap_or_default();
        if media.name(&format!("audio_{id}")) {
            // The form of clients has no member for the type.
            self.warn(format!("The sound is {}", excerpt(&media.media_type)));
        }
        self.media(media);
    }

    /// A picture, or a part of a sound.
    pub(in crate::gateway) fn media(&mut self, media: Media<'_>) {
        self.has_answer = true;
        self.deltas.push(Delta::Media(media.into_owned()));
    }

    /// Keeps the pictures and sounds of a whole answer. The error: it has several sounds, and no format has a place for the second.
    pub(in crate::gateway) fn keep_media(&mut self) -> Read {
        let media = &mut self.completion.message.media;
        let mut after = 0;
        for delta in self.deltas.drain(..) {
            match delta {
                Delta::Text(text) => after += text.len(),
                Delta::Media(file) => media.push((after, file)),
                _ => {}
            }
        }
        match media.iter().filter(|(_, file)| file.audio().is_some()).count() {
            0 | 1 => Ok(()),
            _ => Err(UpstreamError::malformed("the answer has several sounds")),
        }
    }
}
