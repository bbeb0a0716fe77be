//! Pictures that the model has made.

use crate::gateway::format::responses::front::events::{ResponseEncoder, of_item};
use crate::gateway::format::responses::front::item::OutputItem;
use crate::wire::Media;
use toolbooth::json::{self, Value};

/// The formats of pictures that `output_format` can name.
const FORMATS: [&str; 5] = ["png", "webp", "jpeg", "gif", "svg"];

impl ResponseEncoder {
    /// A picture is an item of its own. Its format has no other file.
    pub(in crate::gateway::format::responses::front) fn picture(
        &mut self,
        file: &Media<'_>,
        out: &mut Vec<u8>,
    ) {
        let Some((media_type, data)) = file.image_data() else { return };
        if !self.keeps(data.len()) {
            return;
        }
        self.close_complete(out);
        let (index, id) = self.add("ig");
        let format = media_type.trim_start_matches("image/").trim_end_matches("+xml");
        let item = |status, result| {
            json::to_string(&OutputItem {
                id: &id,
                r#type: "image_generation_call",
                status: Some(status),
                result: Some(result),
                output_format: FORMATS.into_iter().find(|known| *known == format),
                ..OutputItem::default()
            })
        };
        self.added(index, &item("in_progress", None), out);
        for kind in [
            "response.image_generation_call.in_progress",
            "response.image_generation_call.generating",
            "response.image_generation_call.completed",
        ] {
            self.write(kind, of_item(index, &id), out);
        }
        self.done(index, item("completed", Some(data)), out);
        if let Some(Value::Object(extra)) = file.image().and_then(|it| it.get("extra_content")) {
            self.extra_of_items.insert(id.into(), Value::Object(extra.clone().into_owned()));
        }
    }
}
