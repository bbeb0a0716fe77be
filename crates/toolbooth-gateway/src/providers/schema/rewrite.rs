//! Writes a schema with keywords that the provider has, where those that it lacks have an equivalent or a wider form: branches
//! of `allOf` in the schema that has them, a referenced schema in place of the reference, a union at the root as one object.

use std::borrow::Cow;

use serde_json::Value;

use super::merge::{Conjunction, either, may_be_object, unite};
use super::references::resolve;
use super::rules::KeywordRule;
use super::{Adaptation, Compatibility, PROPERTY_NAMES, Schema, add_to_description};
use toolbooth::json;
use toolbooth::protocol::keywords::{describe, properties};

/// Keywords that may be rewritten.
const REWRITTEN: [&str; 6] =
    ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "prefixItems"];

/// A referenced schema, for the place of the reference.
enum Inlined {
    Schema(Schema),
    /// It is there already.
    Known,
    /// It refers to itself, or schemas like it have become too long.
    No,
}

impl Adaptation<'_> {
    /// Whether the provider has a keyword at this level.
    fn keeps(&self, keyword: &str, level: usize) -> bool {
        match (self.target.rule)(keyword) {
            KeywordRule::Keep => true,
            KeywordRule::Below => level > 1,
            KeywordRule::AnyOf => self.keeps("anyOf", level),
            _ => false,
        }
    }

    /// The schema in other words, and keywords of it that have no place in them.
    pub(super) fn rewritten<'s>(
        &mut self,
        schema: &'s Schema,
        level: usize,
    ) -> (Cow<'s, Schema>, Vec<(String, Value)>) {
        let is_rewritten = |keyword: &str| schema.contains_key(keyword);
        let has_names = level == 1 && self.foreign_names(schema).next().is_some();
        if !has_names && !REWRITTEN.into_iter().any(is_rewritten) {
            return (Cow::Borrowed(schema), Vec::new());
        }
        let start = self.inlined.len();
        self.of_node = start;
        let mut written = Conjunction { schema: schema.clone(), rest: Vec::new() };
        loop {
            self.merge_branches(&mut written, level);
            if !self.take_reference(&mut written, level) {
                break;
            }
        }
        if level == 1 {
            for keyword in ["anyOf", "oneOf"] {
                self.unite_branches(&mut written, keyword);
            }
            self.describe_foreign_names(&mut written);
        }
        for (of_some, of_others) in
            [("patternProperties", "additionalProperties"), ("prefixItems", "items")]
        {
            if !self.keeps(of_some, level) {
                widen(&mut written.schema, of_some, of_others);
            }
        }
        let is_gone =
            |keyword: &str| schema.contains_key(keyword) && !written.schema.contains_key(keyword);
        if self.inlined.len() > start || ["allOf", "anyOf", "oneOf"].into_iter().any(is_gone) {
            // They depend on what was in other schemas.
            for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
                written.rest.extend(written.schema.remove_entry(keyword));
            }
        }
        (Cow::Owned(written.schema), written.rest)
    }

    /// Merges the branches of `allOf`, unless the provider has it.
    fn merge_branches(&mut self, written: &mut Conjunction, level: usize) {
        if self.keeps("allOf", level) {
            return;
        }
        let Some(branches) = written.schema.remove("allOf") else { return };
        self.found.loosen("allOf");
        let Value::Array(branches) = branches else { return };
        self.found.warnings.insert("allOf is merged into the schema that has it".to_owned());
        let is_alone = !written.schema.keys().any(|keyword| self.restricts(keyword));
        if let (true, [Value::Object(only)]) = (is_alone, &branches[..])
            && only.len() == 1
            && let Some(reference) = only.get("$ref")
        {
            written.schema.insert("$ref".to_owned(), reference.clone());
            return;
        }
        branches.into_iter().for_each(|branch| self.absorb(written, branch));
    }

    /// Adds all that a further schema says, with the branches of its `allOf` and what it refers to.
    fn absorb(&mut self, written: &mut Conjunction, schema: Value) {
        let mut schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(false) => {
                written.add("not".to_owned(), Schema::new().into());
                return;
            }
            _ => return,
        };
        let branches = schema.remove("allOf");
        let reference = schema.remove("$ref");
        written.add_all(schema);
        if let Some(Value::Array(branches)) = branches {
            branches.into_iter().for_each(|branch| self.absorb(written, branch));
        }
        let Some(reference) = reference else { return };
        match self.inline(&reference) {
            Inlined::Schema(schema) => self.absorb(written, schema.into()),
            Inlined::Known => {}
            Inlined::No => written.add("$ref".to_owned(), reference),
        }
    }

    /// What a reference refers to, unless it is a part of itself.
    fn inline(&mut self, reference: &Value) -> Inlined {
        let Some(reference) = reference.as_str() else { return Inlined::No };
        if let Some(at) = self.inlined.iter().position(|known| known == reference) {
            return if at >= self.of_node { Inlined::Known } else { Inlined::No };
        }
        let schema = match resolve(self.root, reference) {
            Some(Value::Object(schema)) => schema,
            Some(Value::Bool(true)) => return Inlined::Known,
            _ => return Inlined::No,
        };
        let length = if self.room == 0 { 1 } else { json::to_string(schema).len() };
        self.room = self.room.saturating_sub(length);
        if self.room == 0 {
            return Inlined::No;
        }
        let mut schema = schema.clone();
        if reference == "#" {
            schema.remove("$defs");
        }
        self.inlined.push(reference.to_owned());
        Inlined::Schema(schema)
    }

    /// Replaces a reference by what it refers to, if it cannot stand where it is with the keywords beside it. Returns whether
    /// there is more to rewrite.
    fn take_reference(&mut self, written: &mut Conjunction, level: usize) -> bool {
        let Some(reference) = written.schema.get("$ref").cloned() else { return false };
        let is_known = reference.as_str().is_some_and(|it| resolve(self.root, it).is_some());
        if !is_known {
            written.schema.remove("$ref");
            if level == 1 && !written.schema.contains_key("properties") {
                self.found.reject("$ref");
            }
            written.rest.push(("$ref".to_owned(), reference));
            return false;
        }
        let stays =
            |keyword: &str| keyword.starts_with('$') || (self.target.beside_reference)(keyword);
        let has_words = stays("description");
        let matters = |keyword: &str| match keyword {
            _ if stays(keyword) => false,
            "title" => false,
            "default" | "examples" => !has_words,
            "description" => true,
            _ => self.restricts(keyword),
        };
        if level == 1 || written.schema.keys().any(|keyword| matters(keyword)) {
            match self.inline(&reference) {
                Inlined::Schema(schema) => {
                    written.schema.remove("$ref");
                    self.absorb(written, schema.into());
                    return true;
                }
                Inlined::Known => {
                    written.schema.remove("$ref");
                    return false;
                }
                Inlined::No => {}
            }
        }
        let removed: Vec<String> =
            written.schema.keys().filter(|keyword| !stays(keyword)).cloned().collect();
        for keyword in removed {
            match written.schema.remove_entry(&keyword) {
                Some(entry) if keyword != "title" && (has_words || self.restricts(&keyword)) => {
                    written.rest.push(entry);
                }
                Some(_) => {
                    self.found.dropped.insert(keyword);
                }
                None => {}
            }
        }
        false
    }

    /// Whether a keyword can make values invalid.
    fn restricts(&self, keyword: &str) -> bool {
        const ANNOTATIONS: [&str; 4] = ["default", "description", "examples", "title"];
        let is_dropped = matches!((self.target.rule)(keyword), KeywordRule::Drop);
        !keyword.starts_with('$') && !is_dropped && !ANNOTATIONS.contains(&keyword)
    }

    /// Writes a union at the root as one object, unless the provider has it there.
    fn unite_branches(&mut self, written: &mut Conjunction, keyword: &str) {
        if self.keeps(keyword, 1) {
            return;
        }
        let Some(branches) = written.schema.remove(keyword) else { return };
        self.found.loosen(keyword);
        let Value::Array(branches) = branches else { return };
        let mut objects = Vec::new();
        for branch in &branches {
            self.alternatives(&Schema::new(), branch, &mut objects);
        }
        if objects.is_empty() && !branches.is_empty() {
            self.found.reject(keyword);
        }
        let (united, short) = unite(&objects, &written.schema);
        self.found.warnings.insert(format!("{keyword} is merged into one object"));
        written.add_all(united);
        if short.iter().all(|it| it.as_object().is_some_and(|it| !it.is_empty())) {
            written.rest.push((keyword.to_owned(), short.into()));
        }
    }

    /// The objects that a branch of a union at the root allows, which also satisfy `common`.
    fn alternatives(&mut self, common: &Schema, branch: &Value, objects: &mut Vec<Schema>) {
        let before = self.inlined.len();
        self.of_node = before;
        let mut whole = Conjunction { schema: common.clone(), rest: Vec::new() };
        self.absorb(&mut whole, branch.clone());
        let inner = ["anyOf", "oneOf"].into_iter().find_map(|it| whole.schema.remove(it));
        match inner {
            Some(Value::Array(branches)) if self.room > 0 => {
                let length = json::to_string(&whole.schema).len();
                self.room = self.room.saturating_sub(length * branches.len());
                for branch in &branches {
                    self.alternatives(&whole.schema, branch, objects);
                }
            }
            _ if may_be_object(&whole.schema) => objects.push(whole.schema),
            _ => {}
        }
        self.inlined.truncate(before);
    }

    /// The members at the root whose names the provider rejects.
    fn foreign_names<'s>(&self, schema: &'s Schema) -> impl Iterator<Item = &'s str> + use<'s> {
        let accepts = self.target.property;
        let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, _)| name.as_str()).filter(move |name| !accepts(name))
    }

    /// Describes members whose names the provider rejects, so that the model can still write them.
    fn describe_foreign_names(&mut self, written: &mut Conjunction) {
        let names: Vec<String> = self.foreign_names(&written.schema).map(str::to_owned).collect();
        if names.is_empty() {
            return;
        }
        let mut described = Schema::new();
        if let Some(Value::Object(all)) = written.schema.get_mut("properties") {
            described.extend(names.iter().filter_map(|name| all.remove_entry(name)));
        }
        let is_foreign = |name: &Value| names.iter().any(|it| name == it);
        let mut needed = Vec::new();
        if let Some(Value::Array(required)) = written.schema.get_mut("required") {
            needed.extend(required.iter().filter(|name| is_foreign(name)).cloned());
            required.retain(|name| !is_foreign(name));
        }
        written.schema.insert("additionalProperties".to_owned(), true.into());
        let mut members = Schema::new();
        members.insert("properties".to_owned(), described.into());
        if !needed.is_empty() {
            members.insert("required".to_owned(), needed.into());
        }
        written.rest.push((PROPERTY_NAMES.to_owned(), members.into()));
    }
}

/// Drops names from `required` that no member has, and says them in words.
pub(in crate::providers) fn require_declared(schema: &mut Schema, found: &mut Compatibility) {
    let declared: Vec<&str> = properties(schema).map(|(name, ..)| name).collect();
    let required = schema.get("required").and_then(Value::as_array);
    let is_declared = |name: &&Value| name.as_str().is_some_and(|it| declared.contains(&it));
    let (kept, unknown): (Vec<&Value>, Vec<&Value>) =
        required.into_iter().flatten().partition(is_declared);
    if unknown.is_empty() {
        return;
    }
    let sentence = describe("required", &unknown.into_iter().cloned().collect());
    let kept: Value = kept.into_iter().cloned().collect();
    schema.insert("required".to_owned(), kept);
    add_to_description(schema, &Vec::from_iter(sentence));
    found.loosen("required");
}

/// Without the keyword about some members or items, the one about the others is about them too: it must allow what either does.
fn widen(schema: &mut Schema, of_some: &str, of_others: &str) {
    let mut allowed: Vec<Value> = match schema.get(of_some) {
        Some(Value::Object(patterns)) => patterns.values().cloned().collect(),
        Some(Value::Array(prefix)) => prefix.clone(),
        _ => return,
    };
    let most = schema.get("maxItems").and_then(Value::as_u64);
    let is_full =
        most.is_some_and(|most| usize::try_from(most).is_ok_and(|it| it <= allowed.len()));
    match schema.get(of_others) {
        Some(Value::Bool(false)) => {}
        None if is_full && of_others == "items" => {}
        None | Some(Value::Bool(true)) => return,
        Some(others) => allowed.push(others.clone()),
    }
    if !allowed.is_empty() {
        schema.insert(of_others.to_owned(), either(allowed));
    }
}
