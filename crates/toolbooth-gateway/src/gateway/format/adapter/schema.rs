//! The client's schemas, as a provider accepts them (2api.ai, 5.4).

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::gateway::conversation::tool::FunctionTool;
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::raw_json::{parse, raw_member};
use crate::providers::schema::{AdaptedSchema, Target, adapt_schema};
use crate::wire::Json;
use toolbooth::json;

/// The parameters of a tool that has none.
pub(in crate::gateway::format) const NO_PARAMETERS: &str = r#"{"type":"object","properties":{}}"#;

pub(in crate::gateway::format) struct ClientSchema<'t> {
    json: &'t str,
    /// What has it, for messages: `Tool 'x'`.
    owner: String,
    path: String,
    is_of_tool: bool,
}

impl<'t> ClientSchema<'t> {
    /// The parameters of a tool, which is at `path`: those of one without any are an object without members.
    pub(in crate::gateway::format) fn of_tool(tool: &'t FunctionTool, path: &str) -> Self {
        Self {
            json: tool.parameters.as_deref().map_or(NO_PARAMETERS, RawValue::get),
            owner: format!("Tool '{}'", tool.name),
            path: format!("{path}.function.parameters"),
            is_of_tool: true,
        }
    }

    /// The schema of `response_format`, whose members are `format`.
    pub(in crate::gateway::format) fn of_response_format(
        job: &'t Job<'t>,
        format: &mut Fields<'_>,
    ) -> Result<Option<Self>> {
        let mut own = format.required_fields("json_schema")?;
        let path = own.path_of("schema");
        own.take("schema");
        // The providers' answers always follow the schema.
        own.take("strict");
        own.finish();
        let format = job.request.members.get("response_format");
        let schema = format.and_then(|json| raw_member(json, &["json_schema", "schema"]));
        Ok(schema.map(RawValue::get).filter(|json| *json != "null").map(|json| Self {
            json,
            owner: "response_format".to_owned(),
            path,
            is_of_tool: false,
        }))
    }

    /// The schema as `target` accepts it. If nothing changes, it is the client's text, with its members in the client's
    /// order.
    pub(in crate::gateway::format) fn convert(
        &self,
        target: &Target,
        job: &Job<'_>,
    ) -> Result<Json<'t>> {
        let (original, schema) = self.read()?;
        let adapted = self.adapt(&schema, target, job.options.strict_schemas);
        let adapted =
            adapted.map_err(|features| self.incompatible(features, job.options.target))?;
        Ok(self.report(&original, adapted, job))
    }

    /// The schema for calls that the provider holds to it, as `strict` accepts it, and `true`. If it does not accept it, as `plain`
    /// does, and `false`, unless the caller asks for strict schemas.
    pub(in crate::gateway::format) fn convert_strict(
        &self,
        [strict, plain]: [&Target; 2],
        job: &Job<'_>,
    ) -> Result<(Json<'t>, bool)> {
        let (original, schema) = self.read()?;
        match self.adapt(&schema, strict, job.options.strict_schemas) {
            Ok(adapted) => Ok((self.report(&original, adapted, job), true)),
            Err(features) if job.options.strict_schemas => {
                Err(self.incompatible(features, job.options.target))
            }
            Err(features) => {
                job.notes.warn(format!(
                    "{}: {} cannot hold calls to its schema, so strict is false: {}",
                    self.owner,
                    job.options.target,
                    Vec::from_iter(features).join(", ")
                ));
                Ok((self.convert(plain, job)?, false))
            }
        }
    }

    /// The client's schema, and the one to adapt.
    fn read(&self) -> Result<(Map<String, Value>, Map<String, Value>)> {
        let original = parse(self.json, &self.path)?;
        let original: Map<String, Value> = json::read_value(&original)
            .ok_or_else(|| GatewayError::expected(&self.path, "a JSON Schema object"))?;
        let mut schema = original.clone();
        if self.is_of_tool {
            // Arguments are always an object.
            let is_object = match schema.get("type") {
                None | Some(Value::Null) => true,
                Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
                Some(_) => false,
            };
            if is_object {
                schema.insert("type".to_owned(), "object".into());
            }
        }
        Ok((original, schema))
    }

    /// The schema as `target` accepts it, or the features that it lacks. `is_exact` is for callers who do not want a wider one.
    fn adapt(
        &self,
        schema: &Map<String, Value>,
        target: &Target,
        is_exact: bool,
    ) -> Result<AdaptedSchema, BTreeSet<String>> {
        let mut features = BTreeSet::new();
        let is_any = !self.is_of_tool && target.has_any_root;
        if !is_any && schema.get("type").is_some_and(|kind| kind != "object") {
            features.insert("type".to_owned());
        }
        match adapt_schema(schema, target) {
            Ok(adapted) if is_exact && !adapted.loosened.is_empty() => {
                features.extend(adapted.loosened);
            }
            Ok(adapted) if features.is_empty() => return Ok(adapted),
            Ok(_) => {}
            Err(found) => features.extend(found),
        }
        Err(features)
    }

    /// The schema, of which the notes say what is different.
    fn report(
        &self,
        original: &Map<String, Value>,
        adapted: AdaptedSchema,
        job: &Job<'_>,
    ) -> Json<'t> {
        let (owner, model) = (&self.owner, job.options.target);
        for warning in adapted.warnings {
            job.notes.warn(format!("{owner}: {warning}"));
        }
        for (keywords, what) in [
            (adapted.described, "the description says it instead"),
            (adapted.left_out, "it is left out"),
        ] {
            if !keywords.is_empty() {
                let keywords = keywords.join(", ");
                job.notes.warn(format!("{owner}: {model} does not enforce {keywords}; {what}"));
            }
        }
        for keyword in adapted.dropped {
            job.notes.drop_member(&format!("{}.{keyword}", self.path));
        }
        if adapted.schema.as_object() == Some(original) {
            return Json::Text(self.json.into());
        }
        Json::Value(json::Value::from(&adapted.schema).into_owned())
    }

    fn incompatible(&self, features: BTreeSet<String>, model: &str) -> GatewayError {
        let features = Vec::from_iter(features);
        let are = if features.len() == 1 { "is" } else { "are" };
        let message = format!(
            "{} uses '{}' which {are} not supported by {model}",
            self.owner,
            features.join("', '")
        );
        let mut error = GatewayError::new(ErrorKind::IncompatibleSchema, message).at(&*self.path);
        error.features = features;
        error
    }
}
