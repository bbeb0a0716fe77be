//! `properties`, `patternProperties` and `additionalProperties`, which depend on each other.

use std::ops::ControlFlow;

use crate::Schema;
use crate::describe::{ErrorSink, Path, ValidationError};
use crate::json::{Object, Value};
use crate::pattern::Pattern;
use crate::text::{is_equal, nearest, order};

/// What a schema says about the members of an object.
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// `properties`, sorted by name.
    pub named: &'static [(&'static str, Schema)],
    /// `patternProperties`.
    pub patterns: &'static [(&'static Pattern, Schema)],
    /// `additionalProperties`: for members that the other two do not match.
    pub additional: Option<&'static Schema>,
}

impl Properties {
    /// The schema of `name` in `properties`.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Schema> {
        let at = self.named.binary_search_by(|(known, _)| order(known, name)).ok()?;
        self.named.get(at).map(|(_, schema)| schema)
    }

    /// The schemas of `name` in `patternProperties`.
    pub(crate) fn matching(&self, name: &str) -> impl Iterator<Item = &'static Schema> {
        let matching = self.patterns.iter().filter(move |(pattern, _)| pattern.matches(name));
        matching.map(|(_, schema)| schema)
    }

    pub(super) fn is_valid(&self, members: &Object<'_>) -> bool {
        // Members and properties are sorted by name, so one pass over both is enough.
        let mut rest = self.named;
        for (name, member) in members.iter() {
            let mut named = None;
            while let [(known, schema), others @ ..] = rest {
                if is_equal(known, name) {
                    (named, rest) = (Some(schema), others);
                    break;
                }
                if order(known, name).is_gt() {
                    break;
                }
                rest = others;
            }
            if !self.is_valid_member(name, named, member) {
                return false;
            }
        }
        true
    }

    /// Checks a member; `named` is its schema in `properties`.
    fn is_valid_member(&self, name: &str, named: Option<&Schema>, member: &Value<'_>) -> bool {
        if named.is_some_and(|schema| !schema.is_valid(member)) {
            return false;
        }
        let mut known = named.is_some();
        for schema in self.matching(name) {
            known = true;
            if !schema.is_valid(member) {
                return false;
            }
        }
        known || self.additional.is_none_or(|schema| schema.is_valid(member))
    }

    pub(super) fn visit_errors(
        &self,
        members: &Object<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        let is_additional =
            |name: &str| self.named(name).is_none() && self.matching(name).next().is_none();
        for (name, member) in members.iter() {
            let additional =
                self.additional.filter(|schema| !schema.is_false() && is_additional(name));
            for schema in self.named(name).into_iter().chain(self.matching(name)).chain(additional)
            {
                schema.visit_errors(member, &Path::Member(path, name), sink)?;
            }
        }
        if self.additional.is_some_and(Schema::is_false) {
            for (name, _) in members.iter().filter(|(name, _)| is_additional(name)) {
                let names = self.named.iter().map(|(known, _)| *known);
                let meant = nearest(name, names.filter(|known| !members.contains(known)));
                sink(path, ValidationError::Unknown { name, meant })?;
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::{Statics, each};
    use crate::compile::{SchemaObject, compile_pattern, leak, sorted};

    impl Properties {
        pub(in crate::keywords) fn read(schema: &SchemaObject<'_>) -> Option<Self> {
            let (named, patterns) =
                (schema.named_schemas("properties"), schema.map("patternProperties"));
            let additional = schema.schema("additionalProperties");
            if named.is_none() && patterns.is_none() && additional.is_none() {
                return None;
            }
            let patterns = patterns.into_iter().flat_map(sorted);
            Some(Self {
                named: named.unwrap_or_default(),
                patterns: leak(
                    patterns
                        .map(|(name, of)| (compile_pattern(name), schema.compile(of)))
                        .collect(),
                ),
                additional,
            })
        }

        pub(in crate::keywords) fn codegen(&self, statics: &mut Statics) -> String {
            let Self { named, patterns, additional } = self;
            let named = statics.named_schemas(named);
            let patterns = each(patterns, |(pattern, schema)| {
                format!("(&{}, {})", statics.pattern(pattern), statics.schema(schema))
            });
            let additional = additional.map(|schema| format!("&{}", statics.schema(schema)));
            let additional = additional.map_or("None".to_owned(), |rust| format!("Some({rust})"));
            format!(
                "Properties {{ named: {named}, patterns: {patterns}, additional: {additional} }}"
            )
        }
    }
}
