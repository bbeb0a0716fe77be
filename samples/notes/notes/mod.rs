//! Notes of each user, with full-text search and attachments.

mod attachment;
mod database;
mod owner;
mod query;

use serde::Serialize;
use toolbooth::tool::ContentBlock;
use toolbooth::{Context, ToolError};
use toolbooth_worker::ContextExt;
use toolbooth_worker::worker::{Bucket, HttpMetadata};

use crate::types::notes::{attach, create, delete, get, get_attachment, search};
use attachment::block;
use database::{Attachment, Database, Note, Summary};

/// How many notes a user may have.
const MAX_NOTES: u32 = 1_000;
/// How many attachments a note may have.
const MAX_ATTACHMENTS: u32 = 10;

/// The id of something that was created.
#[derive(Serialize)]
pub(crate) struct Created {
    id: String,
}

/// Stores a note.
pub(crate) async fn create(
    input: create::Input,
    context: &Context<'_>,
) -> Result<Created, ToolError> {
    let id = Database::open(context)?.create(&input.title, &input.text).await?;
    let full =
        || ToolError::new(format!("You have {MAX_NOTES} notes. Delete some to create others"));
    id.map(|id| Created { id }).ok_or_else(full)
}

/// Notes that were found.
#[derive(Serialize)]
pub(crate) struct FoundNotes {
    notes: Vec<Summary>,
}

/// Finds the notes that contain all words of a query, the best first; without a query, the newest.
pub(crate) async fn search(
    input: search::Input,
    context: &Context<'_>,
) -> Result<FoundNotes, ToolError> {
    let database = Database::open(context)?;
    let notes = match &input.query {
        None => database.newest(input.limit).await?,
        Some(query) => database.search(&query::expression(query)?, input.limit).await?,
    };
    Ok(FoundNotes { notes })
}

/// Returns a note.
pub(crate) async fn get(input: get::Input, context: &Context<'_>) -> Result<Note, ToolError> {
    Database::open(context)?.note(&input.id).await?.ok_or_else(no_note)
}

/// Deletes a note with its attachments.
pub(crate) async fn delete(input: delete::Input, context: &Context<'_>) -> Result<(), ToolError> {
    let attachments = Database::open(context)?.delete(&input.id).await?.ok_or_else(no_note)?;
    if attachments.is_empty() {
        return Ok(());
    }
    // Without their rows, the objects cannot be reached: the note is deleted even if this fails, and the log says so.
    let keys: Vec<_> = attachments.iter().map(|id| key(id)).collect();
    let deleted = async { context.env().bucket("ATTACHMENTS")?.delete_multiple(keys).await };
    if let Err(error) = deleted.await {
        context.platform_error(&error);
    }
    Ok(())
}

/// Attaches a file to a note.
pub(crate) async fn attach(
    input: attach::Input,
    context: &Context<'_>,
) -> Result<Created, ToolError> {
    let bytes = attachment::decode(&input.data)?;
    let (database, bucket) = (Database::open(context)?, bucket(context)?);
    let file = Attachment {
        id: String::new(),
        name: input.name,
        mime_type: input.mime_type,
        size: bytes.len(),
    };
    let Some(id) = database.attach(&input.note_id, &file).await? else {
        // Either there is no such note, or it is full.
        database.note(&input.note_id).await?.ok_or_else(no_note)?;
        return Err(ToolError::new(format!("The note already has {MAX_ATTACHMENTS} attachments")));
    };
    let metadata = HttpMetadata { content_type: Some(file.mime_type), ..HttpMetadata::default() };
    let stored = bucket.put(key(&id), bytes).http_metadata(metadata).execute().await;
    if let Err(error) = stored {
        database.detach(&id).await?;
        return Err(context.platform_error(&error));
    }
    Ok(Created { id })
}

/// Returns an attachment as a content block.
pub(crate) async fn get_attachment(
    input: get_attachment::Input,
    context: &Context<'_>,
) -> Result<Vec<ContentBlock>, ToolError> {
    let found = Database::open(context)?.attachment(&input.id).await?;
    let no_attachment = || ToolError::new("There is no such attachment");
    let attachment = found.ok_or_else(no_attachment)?;
    let bucket = bucket(context)?;
    let bytes = async {
        let object = bucket.get(key(&attachment.id)).execute().await?;
        match object.as_ref().and_then(|object| object.body()) {
            Some(body) => body.bytes().await.map(Some),
            None => Ok(None),
        }
    };
    let bytes = bytes.await.map_err(|error| context.platform_error(&error))?;
    bytes.map(|bytes| vec![block(&attachment, bytes)]).ok_or_else(no_attachment)
}

fn bucket(context: &Context<'_>) -> Result<Bucket, ToolError> {
    context.env().bucket("ATTACHMENTS").map_err(|error| context.platform_error(&error))
}

/// The key of an attachment in R2.
fn key(attachment: &str) -> String {
    format!("attachments/{attachment}")
}

/// The same for a note that does not exist and for another user's.
fn no_note() -> ToolError {
    ToolError::new("There is no such note")
}
