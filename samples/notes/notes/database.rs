//! The tables in D1. Every statement names the owner, so that no call reaches another user's notes.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolbooth::{Context, ToolError};
use toolbooth_worker::ContextExt;
use toolbooth_worker::worker::{D1Database, D1PreparedStatement, D1Type, Error};

use super::owner::owner;
use super::{MAX_ATTACHMENTS, MAX_NOTES};

/// A note without its text.
#[derive(Serialize, Deserialize)]
pub(crate) struct Summary {
    id: String,
    title: String,
    snippet: String,
    created: String,
}

/// A note.
#[derive(Serialize, Deserialize)]
pub(crate) struct Note {
    id: String,
    title: String,
    text: String,
    created: String,
    #[serde(default)]
    attachments: Vec<Attachment>,
}

/// A file of a note.
#[derive(Serialize, Deserialize)]
pub(crate) struct Attachment {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) mime_type: String,
    /// In bytes.
    pub(super) size: usize,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

/// The notes of the caller.
pub(super) struct Database<'a> {
    owner: String,
    d1: D1Database,
    context: &'a Context<'a>,
}

impl<'a> Database<'a> {
    pub(super) fn open(context: &'a Context<'a>) -> Result<Self, ToolError> {
        let owner = owner(context.principal(), context.user_id())?;
        let d1 = context.env().d1("NOTES").map_err(|error| context.platform_error(&error))?;
        Ok(Self { owner, d1, context })
    }

    /// Creates a note and returns its id; `None` if the owner has too many.
    pub(super) async fn create(
        &self,
        title: &str,
        text: &str,
    ) -> Result<Option<String>, ToolError> {
        let sql = "INSERT INTO notes (id, owner, title, text, created_ms)
            SELECT lower(hex(randomblob(16))), ?1, ?2, ?3, ?4
            WHERE (SELECT count(*) FROM notes WHERE owner = ?1) < ?5
            RETURNING id";
        // Milliseconds of the next 200,000 years are exact as f64.
        #[allow(clippy::cast_precision_loss)]
        let now = D1Type::Real(self.context.now_ms() as f64);
        let values = [text_of(title), text_of(text), now, number(MAX_NOTES)];
        Ok(self.first::<Id>(sql, &values).await?.map(|Id { id }| id))
    }

    pub(super) async fn newest(&self, limit: u32) -> Result<Vec<Summary>, ToolError> {
        let sql = "SELECT id, title, substr(text, 1, 200) AS snippet,
              strftime('%Y-%m-%dT%H:%M:%SZ', created_ms / 1000, 'unixepoch') AS created
            FROM notes WHERE owner = ?1 ORDER BY created_ms DESC, number DESC LIMIT ?2";
        self.all(sql, &[number(limit)]).await
    }

    pub(super) async fn search(
        &self,
        expression: &str,
        limit: u32,
    ) -> Result<Vec<Summary>, ToolError> {
        let sql = "SELECT notes.id, notes.title, snippet(words, 1, '', '', '…', 24) AS snippet,
              strftime('%Y-%m-%dT%H:%M:%SZ', notes.created_ms / 1000, 'unixepoch') AS created
            FROM words JOIN notes ON notes.number = words.rowid
            WHERE words MATCH ?2 AND notes.owner = ?1 ORDER BY words.rank LIMIT ?3";
        self.all(sql, &[text_of(expression), number(limit)]).await
    }

    pub(super) async fn note(&self, id: &str) -> Result<Option<Note>, ToolError> {
        let sql = "SELECT id, title, text,
              strftime('%Y-%m-%dT%H:%M:%SZ', created_ms / 1000, 'unixepoch') AS created
            FROM notes WHERE owner = ?1 AND id = ?2";
        let Some(mut note) = self.first::<Note>(sql, &[text_of(id)]).await? else {
            return Ok(None);
        };
        let sql = "SELECT attachments.id, name, mime_type, size
            FROM attachments JOIN notes ON notes.number = attachments.note
            WHERE notes.owner = ?1 AND notes.id = ?2 ORDER BY attachments.rowid";
        note.attachments = self.all(sql, &[text_of(id)]).await?;
        Ok(Some(note))
    }

    /// Deletes a note and returns the ids of its attachments; `None` if there is no such note.
    pub(super) async fn delete(&self, id: &str) -> Result<Option<Vec<String>>, ToolError> {
        let attachments = "SELECT attachments.id
            FROM attachments JOIN notes ON notes.number = attachments.note
            WHERE notes.owner = ?1 AND notes.id = ?2";
        let note = "DELETE FROM notes WHERE owner = ?1 AND id = ?2 RETURNING id";
        let results = async {
            let values = [text_of(id)];
            // One transaction.
            let statements =
                vec![self.prepare(attachments, &values)?, self.prepare(note, &values)?];
            let results = self.d1.batch(statements).await?;
            results.iter().map(|result| result.results::<Id>()).collect::<Result<Vec<_>, _>>()
        };
        match results.await.map_err(|error| self.failed(&error))?.as_slice() {
            [attachments, deleted] if !deleted.is_empty() => {
                Ok(Some(attachments.iter().map(|Id { id }| id.clone()).collect()))
            }
            _ => Ok(None),
        }
    }

    /// Adds an attachment and returns its id; `None` if there is no such note, or it has too many.
    pub(super) async fn attach(
        &self,
        note: &str,
        file: &Attachment,
    ) -> Result<Option<String>, ToolError> {
        let sql = "INSERT INTO attachments (id, note, name, mime_type, size)
            SELECT lower(hex(randomblob(16))), number, ?3, ?4, ?5 FROM notes
            WHERE owner = ?1 AND id = ?2
              AND (SELECT count(*) FROM attachments WHERE note = number) < ?6
            RETURNING id";
        let size = number(u32::try_from(file.size).unwrap_or(u32::MAX));
        let (name, mime_type) = (text_of(&file.name), text_of(&file.mime_type));
        let values = [text_of(note), name, mime_type, size, number(MAX_ATTACHMENTS)];
        Ok(self.first::<Id>(sql, &values).await?.map(|Id { id }| id))
    }

    /// Removes an attachment whose contents could not be stored.
    pub(super) async fn detach(&self, id: &str) -> Result<(), ToolError> {
        let sql = "DELETE FROM attachments WHERE id = ?2
            AND note IN (SELECT number FROM notes WHERE owner = ?1) RETURNING id";
        self.first::<Id>(sql, &[text_of(id)]).await.map(drop)
    }

    pub(super) async fn attachment(&self, id: &str) -> Result<Option<Attachment>, ToolError> {
        let sql = "SELECT attachments.id, name, mime_type, size
            FROM attachments JOIN notes ON notes.number = attachments.note
            WHERE notes.owner = ?1 AND attachments.id = ?2";
        self.first(sql, &[text_of(id)]).await
    }

    /// Prepares a statement. Its first parameter is the owner.
    fn prepare(&self, sql: &str, values: &[D1Type<'_>]) -> Result<D1PreparedStatement, Error> {
        self.d1.prepare(sql).bind_refs([text_of(&self.owner)].iter().chain(values))
    }

    async fn first<T: DeserializeOwned>(
        &self,
        sql: &str,
        values: &[D1Type<'_>],
    ) -> Result<Option<T>, ToolError> {
        let row = async { self.prepare(sql, values)?.first(None).await };
        row.await.map_err(|error| self.failed(&error))
    }

    async fn all<T: DeserializeOwned>(
        &self,
        sql: &str,
        values: &[D1Type<'_>],
    ) -> Result<Vec<T>, ToolError> {
        let rows = async { self.prepare(sql, values)?.all().await?.results() };
        rows.await.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> ToolError {
        self.context.platform_error(error)
    }
}

fn text_of(text: &str) -> D1Type<'_> {
    D1Type::Text(text)
}

fn number(number: u32) -> D1Type<'static> {
    D1Type::Real(number.into())
}
