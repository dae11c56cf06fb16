// SPDX-License-Identifier: Apache-2.0
//! The check of a file against the schema: unknown and missing keys, wrong kinds of value, all at once and each with its place.

use crate::config::document::{Entry, Node, NodeValue};
use crate::config::problem::{Findings, child, did_you_mean};
use serde_json::{Map, Value};

/// Checks the tree and gives it back as typed JSON. Mistakes go to `findings`; what they spoil is left out.
pub(crate) fn check(root: &Node, schema: &Value, findings: &mut Findings) -> Value {
    findings.place("", root.at);
    Shape { root: schema, findings }.value(root, schema, "").unwrap_or_default()
}

struct Shape<'a> {
    root: &'a Value,
    findings: &'a mut Findings,
}

impl Shape<'_> {
    fn value(&mut self, node: &Node, schema: &Value, key: &str) -> Option<Value> {
        self.findings.place(key, node.at);
        let Some((schema, nullable)) = self.resolved(schema) else { return Some(untyped(node)) };
        if node.null() {
            return self.nothing(node, &schema, nullable, key);
        }
        match (kind_of(&schema), &node.value) {
            ("object", NodeValue::Map(entries)) => self.object(node, entries, &schema, key),
            ("array", NodeValue::List(items)) => self.array(items, &schema, key),
            ("string", NodeValue::Scalar { text, .. }) => self.text(node, text, &schema, key),
            ("integer", NodeValue::Scalar { text, .. }) => self.parsed(node, key, text.parse::<u64>().ok(), "a whole number"),
            ("boolean", NodeValue::Scalar { text, .. }) => self.parsed(node, key, text.parse::<bool>().ok(), "true or false"),
            ("any", _) => Some(untyped(node)),
            (kind, _) => {
                let expected = match kind {
                    "object" => "a group of keys",
                    "array" => "a list",
                    "integer" => "a whole number",
                    "boolean" => "true or false",
                    _ => "a single value",
                };
                self.wrong(node, key, format!("must be {expected}, not {}", node.word()))
            }
        }
    }

    /// Follows `$ref`, and takes `null` out of `anyOf` and `type` lists. `None` for a schema that allows anything.
    fn resolved(&self, schema: &Value) -> Option<(Value, bool)> {
        let mut schema = schema.clone();
        let mut nullable = schema.get("type").and_then(Value::as_array).is_some_and(|types| types.iter().any(|kind| kind == "null"));
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array).cloned() {
            nullable |= choices.iter().any(|choice| choice["type"] == "null");
            schema = choices.into_iter().find(|choice| choice["type"] != "null")?;
        }
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            schema = self.root.pointer(name.strip_prefix('#')?)?.clone();
        }
        schema.is_object().then_some((schema, nullable))
    }

    fn nothing(&mut self, node: &Node, schema: &Value, nullable: bool, key: &str) -> Option<Value> {
        match kind_of(schema) {
            _ if nullable => Some(Value::Null),
            // A key with nothing behind it, such as a table without rules, is an empty group.
            "object" if schema.get("required").is_none() => Some(Value::Object(Map::new())),
            _ => self.wrong(node, key, "has no value".into()),
        }
    }

    fn object(&mut self, node: &Node, entries: &[Entry], schema: &Value, key: &str) -> Option<Value> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let others = schema.get("additionalProperties").filter(|others| **others != Value::Bool(false));
        let mut object = Map::new();
        for entry in entries {
            let path = child(key, &entry.key);
            let Some(schema) = properties.get(&entry.key).or(others) else {
                let near = did_you_mean(&entry.key, properties.keys().map(String::as_str));
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                let hint = if near.is_empty() { format!("; known here: {}", known.join(", ")) } else { near };
                self.findings.problem_at(entry.key_at, &path, format!("unknown key{hint}"));
                continue;
            };
            if let Some(value) = self.value(&entry.value, schema, &path) {
                object.insert(entry.key.clone(), value);
            }
        }
        self.required(node, entries, schema, key, &mut object);
        Some(Value::Object(object))
    }

    /// What is missing or wrong gets a stand-in, so that the rest of the file is still checked.
    fn required(&mut self, node: &Node, entries: &[Entry], schema: &Value, key: &str, object: &mut Map<String, Value>) {
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if !entries.iter().any(|entry| entry.key == name) {
                let about = about(&schema["properties"][name]);
                self.findings.problem_at(node.at, &child(key, name), format!("is missing{about}"));
            }
            if !object.contains_key(name) {
                object.insert(name.to_owned(), self.stand_in(&schema["properties"][name]));
            }
        }
    }

    fn stand_in(&self, schema: &Value) -> Value {
        let Some((schema, _)) = self.resolved(schema) else { return Value::Null };
        match kind_of(&schema) {
            "object" => Value::Object(Map::new()),
            "array" => Value::Array(Vec::new()),
            "integer" => Value::from(0),
            "boolean" => Value::Bool(false),
            _ => schema["enum"].get(0).cloned().unwrap_or_else(|| Value::String(String::new())),
        }
    }

    fn array(&mut self, items: &[Node], schema: &Value, key: &str) -> Option<Value> {
        let any = Value::Bool(true);
        let inner = schema.get("items").unwrap_or(&any);
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let value = self.value(item, inner, &format!("{key}[{index}]"));
            values.push(value.unwrap_or_else(|| self.stand_in(inner)));
        }
        Some(Value::Array(values))
    }

    fn text(&mut self, node: &Node, text: &str, schema: &Value, key: &str) -> Option<Value> {
        // The type of a source is checked with the connectors at hand, which knows more to say about it.
        let choices: Vec<&str> = schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let source_type = key.starts_with("sources.") && key.ends_with(".type");
        if choices.is_empty() || choices.contains(&text) || source_type {
            return Some(Value::String(text.to_owned()));
        }
        let near = did_you_mean(text, choices.iter().copied());
        self.wrong(node, key, format!("must be one of {}{near}", choices.join(", ")))
    }

    fn parsed<T: Into<Value>>(&mut self, node: &Node, key: &str, value: Option<T>, expected: &str) -> Option<Value> {
        match value {
            Some(value) => Some(value.into()),
            None => self.wrong(node, key, format!("must be {expected}")),
        }
    }

    fn wrong(&mut self, node: &Node, key: &str, message: String) -> Option<Value> {
        self.findings.problem_at(node.at, key, message);
        None
    }
}

fn kind_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("any"),
        _ => "any",
    }
}

fn untyped(node: &Node) -> Value {
    match &node.value {
        NodeValue::Scalar { .. } if node.null() => Value::Null,
        NodeValue::Scalar { text, .. } => Value::String(text.clone()),
        NodeValue::List(items) => items.iter().map(untyped).collect(),
        NodeValue::Map(entries) => Value::Object(entries.iter().map(|entry| (entry.key.clone(), untyped(&entry.value))).collect()),
    }
}

/// ` (kind of system)`: what a key is for, from its first sentence.
fn about(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let sentence = text.split(['.', '\n', ':']).next().unwrap_or_default().trim();
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => format!(" ({}{})", first.to_lowercase(), chars.as_str()),
        None => String::new(),
    }
}
