//! OpenAI Chat Completions, and the providers with its format.

mod request;
mod stream;

use super::{Adapter, members_of_answer};
use crate::gateway::{Builder, Read, UpstreamError};
use crate::wire::openai;
use toolbooth::json::Value;

pub(super) use stream::Stream;

/// OpenAI itself, which rejects members that it does not know.
pub(super) const OPENAI: Adapter = adapter(true);
/// Any other provider with its format.
pub(super) const COMPATIBLE: Adapter = adapter(false);

const fn adapter(strict: bool) -> Adapter {
    Adapter {
        list: "openai",
        path: |_, _| "/chat/completions".to_owned(),
        headers: |key| {
            key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
        },
        translate: match strict {
            true => |job| request::translate(job, true),
            false => |job| request::translate(job, false),
        },
        limit_member: if strict { "max_completion_tokens" } else { "max_tokens" },
        decode,
        decoder: || Box::<stream::Stream>::default(),
    }
}

pub(super) fn decode(body: Value<'_>, builder: &mut Builder) -> Read {
    let body = members_of_answer(body)?;
    let openai::Completion { answer, created, mut body, choice } =
        openai::completion(body).map_err(UpstreamError::Malformed)?;
    let Some((mut choice, mut message)) = choice else {
        return Err(UpstreamError::malformed("the answer has no choice"));
    };
    builder.answer(answer)?;
    body.retain(|name, _| !matches!(name, "object" | "_2api"));
    choice.take("index");
    message.take("role");
    let completion = &mut builder.completion;
    completion.created = created;
    completion.message.extra = message.into_owned();
    completion.of_body = body.into_owned();
    completion.of_choice = choice.into_owned();
    Ok(())
}
