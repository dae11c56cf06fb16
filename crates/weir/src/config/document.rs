// SPDX-License-Identifier: Apache-2.0
//! A YAML text as a tree in which every key and value knows its place. Duplicate keys are mistakes; an alias cannot blow up.

use crate::config::problem::{Findings, Position, child};
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use std::collections::HashMap;

/// Deepest nesting, and most nodes with every alias written out. A configuration is far from either.
const DEPTH_MAX: usize = 32;
const NODES_MAX: usize = 100_000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) value: NodeValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeValue {
    /// `plain` is a scalar without quotes: only such a one can mean null.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Position,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn null(&self) -> bool {
        matches!(&self.value, NodeValue::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// What it is, for messages.
    pub(crate) fn word(&self) -> &'static str {
        match &self.value {
            NodeValue::Scalar { .. } if self.null() => "nothing",
            NodeValue::Scalar { .. } => "a single value",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a group of keys",
        }
    }

    fn size(&self) -> usize {
        match &self.value {
            NodeValue::Scalar { .. } => 1,
            NodeValue::List(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            NodeValue::Map(entries) => 1 + entries.iter().map(|entry| entry.value.size()).sum::<usize>(),
        }
    }
}

/// Reads one document. `None` when it cannot be read at all; mistakes go to `findings`.
pub(crate) fn read(text: &str, findings: &mut Findings) -> Option<Node> {
    let mut reader = Reader { events: Parser::new_from_str(text), anchors: HashMap::new(), nodes: 0 };
    match reader.document(findings) {
        Ok(node) => Some(node),
        Err(stop) => {
            findings.problem_at(stop.at, "", stop.message);
            None
        }
    }
}

/// Why reading ended before the end.
struct Stop {
    at: Position,
    message: String,
}

impl From<ScanError> for Stop {
    fn from(error: ScanError) -> Self {
        let marker = error.marker();
        Self { at: Position { line: marker.line(), column: marker.col() + 1 }, message: format!("not YAML: {}", error.info()) }
    }
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self, findings: &mut Findings) -> Result<Node, Stop> {
        let empty = Node { at: Position { line: 1, column: 1 }, value: NodeValue::Scalar { text: String::new(), plain: true } };
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(empty),
                (event, span) => {
                    let root = self.node(event, span, "", 0, findings)?;
                    return self.only_one(root);
                }
            }
        }
    }

    fn only_one(&mut self, root: Node) -> Result<Node, Stop> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(root),
                (Event::DocumentStart(..), span) => {
                    return Err(Stop { at: position(&span), message: "a second document; write everything in one".into() });
                }
                _ => {}
            }
        }
    }

    /// The next event that is not a comment.
    fn next(&mut self) -> Result<(Event<'a>, Span), Stop> {
        loop {
            match self.events.next_event() {
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(next)) => return Ok(next),
                Some(Err(error)) => return Err(error.into()),
                None => return Ok((Event::StreamEnd, Span::default())),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, key: &str, depth: usize, findings: &mut Findings) -> Result<Node, Stop> {
        let at = position(&span);
        self.nodes += 1;
        if self.nodes > NODES_MAX || depth > DEPTH_MAX {
            return Err(Stop { at, message: "too large or too deeply nested for a configuration".into() });
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (NodeValue::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain }, anchor),
            Event::SequenceStart(_, anchor, _) => (self.list(key, depth, findings)?, anchor),
            Event::MappingStart(_, anchor, _) => (self.map(key, depth, findings)?, anchor),
            Event::Alias(anchor) => return self.alias(anchor, at),
            _ => return Err(Stop { at, message: "not YAML: a value was expected here".into() }),
        };
        let node = Node { at, value };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<Node, Stop> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(Stop { at, message: "an alias of something that is not complete yet".into() });
        };
        self.nodes += node.size();
        if self.nodes > NODES_MAX {
            return Err(Stop { at, message: "too large or too deeply nested for a configuration".into() });
        }
        Ok(Node { at, value: node.value.clone() })
    }

    fn list(&mut self, key: &str, depth: usize, findings: &mut Findings) -> Result<NodeValue, Stop> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(NodeValue::List(items)),
                (event, span) => items.push(self.node(event, span, &format!("{key}[{}]", items.len()), depth + 1, findings)?),
            }
        }
    }

    fn map(&mut self, key: &str, depth: usize, findings: &mut Findings) -> Result<NodeValue, Stop> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let key_at = position(&span);
            let name = match event {
                Event::MappingEnd => return Ok(NodeValue::Map(entries)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(Stop { at: key_at, message: "a key must be a single word".into() }),
            };
            let path = child(key, &name);
            let (event, span) = self.next()?;
            let mut value = self.node(event, span, &path, depth + 1, findings)?;
            if value.null() {
                value.at = key_at;
            }
            match entries.iter().find(|entry| entry.key == name) {
                Some(first) => findings.problem_at(key_at, &path, format!("given twice, first in line {}", first.key_at.line)),
                None => entries.push(Entry { key: name, key_at, value }),
            }
        }
    }
}

fn position(span: &Span) -> Position {
    Position { line: span.start.line(), column: span.start.col() + 1 }
}
