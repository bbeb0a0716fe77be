//! The Rust types of one function: `Input`, `Output` and the types in them.

use serde_json::Value;
use toolbooth::catalog::Definition;

use super::names;
use super::shape::{Kind, Property, description, shape};

/// The types of a function.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) items: Vec<Item>,
}

/// A type with a name.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) name: String,
    /// The name that it would have if no other type had that.
    plain: String,
    pub(super) doc: String,
    pub(super) body: Body,
}

/// The definition of a type. Equal bodies are the same type, except for their docs.
#[derive(Debug, Clone)]
pub(super) enum Body {
    Struct { fields: Vec<Field>, rest: Option<String> },
    Enum { variants: Vec<String>, values: Vec<String> },
    Alias(String),
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// The name of the property.
    pub(super) property: String,
    /// The name in Rust.
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) rust: String,
    /// Whether `None` means that the property is absent.
    pub(super) absent: bool,
}

/// Which side a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The input: properties with a default are always present.
    Input,
    /// The output.
    Output,
}

/// Names that the generated code uses.
const RESERVED: &[&str] =
    &["Input", "Output", "Option", "String", "Vec", "Map", "Value", "BTreeMap"];

impl Module {
    /// The types of the function of a tool.
    pub(super) fn of(definition: &Definition) -> Self {
        let mut module = Self::default();
        module.add_root(Side::Input, &Value::Object(definition.input_schema.clone()));
        match &definition.output_schema {
            _ if definition.content => module.add_output("Vec<toolbooth::tool::ContentBlock>"),
            None => module.add_output("()"),
            Some(schema) => module.add_root(Side::Output, &Value::Object(schema.clone())),
        }
        module
    }

    /// Adds the type `Input` or `Output` of a schema.
    fn add_root(&mut self, side: Side, schema: &Value) {
        let name = if side == Side::Input { "Input" } else { "Output" };
        let shape = shape(schema);
        let body = match &shape.kind {
            // An input is always a struct, even without properties.
            Kind::Object { properties, rest }
                if !shape.nullable && (side == Side::Input || !properties.is_empty()) =>
            {
                self.fields(properties, rest.as_ref(), name, side)
            }
            Kind::Object { .. } if !shape.nullable => {
                Body::Alias(self.rust(schema, "", name, side))
            }
            _ => Body::Alias(self.rust(schema, "value", name, side)),
        };
        self.push(name, "", description(schema), body);
    }

    /// Adds an `Output` that is another type.
    fn add_output(&mut self, rust: &str) {
        self.push("Output", "", "", Body::Alias(rust.to_owned()));
    }

    fn push(&mut self, name: &str, plain: &str, doc: &str, body: Body) {
        let [name, plain, doc] = [name, plain, doc].map(str::to_owned);
        self.items.push(Item { name, plain, doc, body });
    }

    /// The Rust type of a schema; `name` is that of the property, `parent` the type that contains it.
    fn rust(&mut self, schema: &Value, name: &str, parent: &str, side: Side) -> String {
        let shape = shape(schema);
        let rust = match &shape.kind {
            Kind::Null => "()".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Integer(rust) => (*rust).to_owned(),
            Kind::Number => "f64".to_owned(),
            Kind::Text => "String".to_owned(),
            Kind::Any => return "Value".to_owned(),
            Kind::Enum(values) => match names::variants(values) {
                None => "String".to_owned(),
                Some(variants) => {
                    let body = Body::Enum { variants, values: values.clone() };
                    self.add(schema, name, parent, body)
                }
            },
            Kind::List(items) => {
                let item = self.rust(items, &names::singular(name), parent, side);
                format!("Vec<{item}>")
            }
            Kind::Object { properties, rest } if properties.is_empty() => match rest {
                None => "Map<String, Value>".to_owned(),
                Some(rest) => {
                    let value = self.rust(rest, &names::singular(name), parent, side);
                    format!("BTreeMap<String, {value}>")
                }
            },
            Kind::Object { properties, rest } => {
                let below = names::type_name(name);
                let body = self.fields(properties, rest.as_ref(), &below, side);
                self.add(schema, name, parent, body)
            }
        };
        if shape.nullable { format!("Option<{rust}>") } else { rust }
    }

    fn fields(
        &mut self,
        properties: &[Property],
        rest: Option<&Value>,
        parent: &str,
        side: Side,
    ) -> Body {
        let mut fields: Vec<Field> = Vec::new();
        for property in properties {
            let default = property.default().filter(|_| side == Side::Input);
            let rust = self.rust(&property.schema, &property.name, parent, side);
            let absent = !property.required && default.is_none();
            // `Option<Value>` would lose `null` in any case.
            let is_plain = absent && !rust.starts_with("Option<");
            let rust = if is_plain { format!("Option<{rust}>") } else { rust };
            let mut doc = description(&property.schema).to_owned();
            if let Some(default) = default {
                doc = format!("{doc}\n\nDefault: `{default}`.");
            }
            let mut name = names::field(&property.name);
            while fields.iter().any(|field| field.name == name) {
                name.push('_');
            }
            fields.push(Field { property: property.name.clone(), name, doc, rust, absent });
        }
        let rest = rest.map(|rest| self.rust(rest, "rest_item", parent, side));
        Body::Struct { fields, rest }
    }

    /// Adds a type and returns its name. If the name is taken by another type, the parent's comes before it.
    fn add(&mut self, schema: &Value, name: &str, parent: &str, body: Body) -> String {
        let plain = names::type_name(name);
        let is_same =
            |item: &&Item| item.plain == plain && self::plain(&item.body) == self::plain(&body);
        if let Some(known) = self.items.iter().find(is_same) {
            return known.name.clone();
        }
        let mut candidate = plain.clone();
        for attempt in 1_u32.. {
            let is_taken = self.items.iter().any(|item| item.name == candidate);
            if !is_taken && !RESERVED.contains(&candidate.as_str()) {
                break;
            }
            candidate = match attempt {
                1 => format!("{parent}{plain}"),
                _ => format!("{parent}{plain}{attempt}"),
            };
        }
        self.push(&candidate, &plain, description(schema), body);
        candidate
    }

    /// What a type and the types in it are, without docs.
    pub(super) fn fingerprint(&self, item: &Item) -> String {
        let own = plain(&item.body);
        let is_used = |other: &&Item| {
            let mut words = own.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.any(|word| word == other.name)
        };
        // A type only contains those that were added before it.
        let earlier = self.items.iter().take_while(|other| other.name != item.name);
        earlier.filter(is_used).fold(format!("{} {own}", item.name), |all, used| {
            format!("{all}; {}", self.fingerprint(used))
        })
    }
}

/// The definition without docs.
fn plain(body: &Body) -> String {
    match body {
        Body::Struct { fields, rest } => {
            let field =
                |field: &Field| format!("{:?}: {} {};", field.property, field.rust, field.absent);
            fields.iter().map(field).collect::<String>() + &format!("{rest:?}")
        }
        Body::Enum { values, .. } => format!("{values:?}"),
        Body::Alias(rust) => rust.clone(),
    }
}
