//! Checks a tree of values against the declared keys and fills in the defaults. Checked tables hold only values of the right kind.

use std::path::Path;

use ackclock_core::params::{self, Axis, Description, Param, Params, PartSpec, Value};
use ackclock_core::units::Duration;

use crate::scenario::error::{Origin, Problems};
use crate::scenario::hosts;
use crate::scenario::keys::{Bounds, Fallback, Key, Kind, Variant};
use crate::scenario::parameter::{BOUNDS, Multiple, is_auto, number, parse, products, read};
use crate::scenario::part;
use crate::scenario::path_file::{FILE, in_file};
use crate::scenario::preset::{HOSTS, Presets};
use crate::scenario::text::{last_name, listed, nearest, quoted, unknown};
use crate::scenario::unit::{Dimension, Quantity, write_time};
use crate::scenario::value::{Data, Node};

/// A checked value.
#[derive(Clone, Debug)]
pub(crate) enum Checked {
    /// Absent, or wrong and reported.
    None,
    /// For [`Kind::Bool`] and [`Kind::Switch`].
    Bool(bool),
    /// For [`Kind::Integer`].
    Integer(u64),
    /// For [`Kind::Number`].
    Number(f64),
    /// For texts and words.
    Text(String),
    /// For [`Kind::Quantity`].
    Quantity(Quantity),
    /// For lists.
    List(Vec<Field>),
    /// For tables.
    Table(Box<Record>),
    /// For [`Kind::Part`] and [`Kind::Parts`].
    Part(Box<Choice>),
    /// For [`Kind::Names`]: names, values as text, and where they were written.
    Names(Vec<(String, String, Origin)>),
}

/// A checked value and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// The value.
    pub(crate) value: Checked,
    /// Where it was written.
    pub(crate) origin: Origin,
    /// Whether the document sets it; otherwise it is a default.
    pub(crate) given: bool,
}

/// A checked table: every declared key has a field.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Dotted path.
    pub(crate) path: String,
    /// Where it was written.
    pub(crate) origin: Origin,
    /// The kind, for [`Kind::Variants`].
    pub(crate) kind: &'static str,
    fields: Vec<(&'static str, Field)>,
}

/// A part of the registry with all its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its parameters.
    pub(crate) params: Params,
    /// Limits that are multiples of the bandwidth-delay product, which depends on the network.
    pub(crate) bdp: Vec<Multiple>,
    /// The other keys of its table.
    pub(crate) extra: Record,
}

static ABSENT: Field = Field { value: Checked::None, origin: Origin::Nowhere, given: false };

/// Largest number of tables in a list that are kept while they are checked. A checked table takes far more memory than its text, so more
/// tables are kept only once all are right.
const MANY: usize = 1000;

/// Most bytes of a text that a kernel is to take.
const MOST_WRITTEN: usize = 120;

/// Largest number of parts in a list.
const MAX_PARTS: usize = 8;

/// Largest number of parts in a list inside a part.
const MAX_INNER_PARTS: usize = 64;

/// Accessors are total. A field of the wrong kind has been reported, so the scenario is rejected whatever they return. Accessors accept
/// declared names only (in a table of variants: those of its own kind). Any other name is a mistake in the code and panics in tests.
impl Record {
    /// The field `name`.
    pub(crate) fn field(&self, name: &str) -> &Field {
        let found = self.fields.iter().find(|(key, _)| *key == name);
        debug_assert!(found.is_some(), "{name:?} is not a key of {:?}, kind {:?}", self.path, self.kind);
        found.map_or(&ABSENT, |(_, field)| field)
    }

    /// The dotted path of its key `name`.
    pub(crate) fn key(&self, name: &str) -> String {
        debug_assert!(self.fields.iter().any(|(key, _)| *key == name), "{name:?} is not a key of {:?}, kind {:?}", self.path, self.kind);
        joined(&self.path, name)
    }

    /// A text, if present.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match &self.field(name).value {
            Checked::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number, if present.
    pub(crate) fn integer(&self, name: &str) -> Option<u64> {
        match self.field(name).value {
            Checked::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// A number without unit, if present.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.field(name).value {
            Checked::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether the field is true.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.field(name).value, Checked::Bool(true))
    }

    /// A quantity, if present.
    pub(crate) fn quantity(&self, name: &str) -> Option<Quantity> {
        match self.field(name).value {
            Checked::Quantity(quantity) => Some(quantity),
            _ => None,
        }
    }

    /// A quantity in whole base units, if present.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        match self.quantity(name) {
            Some(Quantity::Whole(_, number)) => Some(number),
            _ => None,
        }
    }

    /// A time; zero if absent.
    pub(crate) fn time(&self, name: &str) -> Duration {
        Duration::from_nanos(self.whole(name).unwrap_or(0))
    }

    /// The items of a list; empty if absent.
    pub(crate) fn list(&self, name: &str) -> &[Field] {
        match &self.field(name).value {
            Checked::List(items) => items,
            _ => &[],
        }
    }

    /// The tables of a list; empty if absent.
    pub(crate) fn tables(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.list(name).iter().filter_map(|item| if let Checked::Table(record) = &item.value { Some(&**record) } else { None })
    }

    /// A table, if present.
    pub(crate) fn table(&self, name: &str) -> Option<&Self> {
        if let Checked::Table(record) = &self.field(name).value { Some(record) } else { None }
    }

    /// Adds `nanos` to the time `name` in every table of the list `list`.
    pub(crate) fn postpone(&mut self, list: &str, name: &str, nanos: u64) {
        let items = self.fields.iter_mut().filter(|(key, _)| *key == list);
        let items = items.flat_map(|(_, field)| if let Checked::List(items) = &mut field.value { &mut items[..] } else { &mut [] });
        for item in items {
            let Checked::Table(record) = &mut item.value else { continue };
            for (_, field) in record.fields.iter_mut().filter(|(key, _)| *key == name) {
                if let Checked::Quantity(Quantity::Whole(_, time)) = &mut field.value {
                    *time = time.saturating_add(nanos);
                }
            }
        }
    }

    /// The names of a table that chooses them, with their values and places; empty if absent.
    pub(crate) fn names(&self, name: &str) -> &[(String, String, Origin)] {
        if let Checked::Names(names) = &self.field(name).value { names } else { &[] }
    }

    /// A part; `None` if it is absent or the word for none.
    pub(crate) fn part(&self, name: &str) -> Option<&Choice> {
        self.parts(name).next()
    }

    /// All parts of a list of them, or the only one.
    pub(crate) fn parts(&self, name: &str) -> impl Iterator<Item = &Choice> {
        let field = self.field(name);
        let items = if let Checked::List(items) = &field.value { &items[..] } else { std::slice::from_ref(field) };
        items.iter().filter_map(|item| if let Checked::Part(choice) = &item.value { Some(&**choice) } else { None })
    }
}

/// `name` below `path`.
pub(crate) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The entries of a table; empty for any other value, which is reported elsewhere.
fn entries(node: &Node) -> impl Iterator<Item = &(String, Node)> {
    if let Data::Table(entries) = &node.data { entries.iter() } else { [].iter() }
}

/// Checks `root` against `keys`. `folder` is that of the files that it names, if there may be any.
pub(crate) fn check(root: &Node, keys: &'static [Key], folder: Option<&Path>, problems: &mut Problems) -> Record {
    Checker { problems, folder }.record(root, keys, "")
}

/// Checks a text that a kernel is to take.
fn written(text: &str) -> Result<(), String> {
    if text.trim().is_empty() || text.len() > MOST_WRITTEN || text.contains(|letter: char| letter == ';' || letter.is_control()) {
        return Err(format!("must be a text of 1 to {MOST_WRITTEN} bytes on one line, without `;`, but is {}", quoted(text)));
    }
    Ok(())
}

struct Checker<'a> {
    problems: &'a mut Problems,
    folder: Option<&'a Path>,
}

impl Checker<'_> {
    fn report(&mut self, node: &Node, path: &str, message: impl Into<String>) -> Checked {
        self.problems.add(&node.origin, path, message);
        Checked::None
    }

    /// Checks the table `node`.
    fn record(&mut self, node: &Node, keys: &'static [Key], path: &str) -> Record {
        let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
        for (name, value) in entries(node).filter(|(name, _)| !known.contains(&name.as_str())) {
            self.report(value, &joined(path, name), unknown("key", name, &known));
        }
        self.fields(node, keys, path)
    }

    /// The fields of the table `node` for `keys`.
    fn fields(&mut self, node: &Node, keys: &'static [Key], path: &str) -> Record {
        let fields = keys.iter().map(|key| (key.name, self.field(node, key, path))).collect();
        Record { path: path.to_owned(), origin: node.origin.clone(), kind: "", fields }
    }

    fn field(&mut self, table: &Node, key: &'static Key, path: &str) -> Field {
        let path = joined(path, key.name);
        let usual = match key.fallback {
            Fallback::Text(text) => text.to_owned(),
            Fallback::Time(time) => write_time(time),
            _ => String::new(),
        };
        let unit = usual.split_once(' ').map(|(_, unit)| unit);
        if let Some(node) = table.get(key.name) {
            let value = self.value(node, &key.kind, &path, unit);
            if !matches!(value, Checked::None) {
                return Field { value, origin: node.origin.clone(), given: true };
            }
        } else if let Fallback::Required(example) = key.fallback {
            self.problems.add(&table.origin, path.as_str(), format!("is missing; example: {example}"));
        }
        let data = match key.fallback {
            Fallback::Required(_) | Fallback::Absent(_) => return Field { origin: table.origin.clone(), ..ABSENT.clone() },
            Fallback::Text(_) | Fallback::Time(_) => Data::Text(usual.clone()),
            Fallback::Integer(number) => Data::Integer(number.into()),
            Fallback::Number(number) => Data::Float(number),
            Fallback::Bool(value) => Data::Bool(value),
            Fallback::Empty => Data::List(Vec::new()),
            Fallback::Table => Data::Table(Vec::new()),
        };
        let node = Node { origin: table.origin.clone(), data };
        Field { value: self.value(&node, &key.kind, &path, unit), origin: node.origin, given: false }
    }

    fn value(&mut self, node: &Node, kind: &'static Kind, path: &str, unit: Option<&str>) -> Checked {
        match (kind, &node.data) {
            (Kind::Text, Data::Text(text)) if !text.trim().is_empty() => Checked::Text(text.clone()),
            (Kind::Text, Data::Text(_)) => self.report(node, path, "must not be empty"),
            (Kind::Bool | Kind::Switch(_), Data::Bool(value)) => Checked::Bool(*value),
            (Kind::Integer(low, high), Data::Integer(number)) => match u64::try_from(*number) {
                Ok(number) if (*low..=*high).contains(&number) => Checked::Integer(number),
                _ => self.report(node, path, format!("must be a whole number from {low} to {high}, but is {number}")),
            },
            (Kind::Number(low, high), data) => match number(data) {
                Ok(number) if (*low..=*high).contains(&number) => Checked::Number(number),
                Ok(number) => self.report(node, path, format!("must be a number from {low} to {high}, but is {number}")),
                Err(message) => self.report(node, path, message),
            },
            (Kind::Quantity(dimension, bounds), data) => self.quantity(node, path, (dimension, unit, data), bounds),
            (Kind::Word(words) | Kind::Switch(words), Data::Text(text)) if words.contains(&text.as_str()) => Checked::Text(text.clone()),
            (Kind::Word(words) | Kind::Switch(words), Data::Text(text)) => {
                self.report(node, path, unknown(&last_name(path).replace('_', " "), text, words))
            }
            (Kind::Host, Data::Text(_) | Data::Table(_)) => self.host(node, path),
            (Kind::Preset(presets), _) => self.preset(node, presets, path),
            (Kind::List(kind), Data::List(items)) => {
                let mut fields = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let value = self.value(item, kind, &format!("{path}.{index}"), None);
                    self.keep(&mut fields, value, item);
                }
                Checked::List(fields)
            }
            (Kind::Table(keys) | Kind::WordOrTable(_, keys), Data::Table(_)) => Checked::Table(Box::new(self.record(node, keys, path))),
            (Kind::WordOrTable(word, _), Data::Text(text)) if text == word => Checked::Text(text.clone()),
            (Kind::Tables(keys), Data::Table(_)) => self.tables(std::slice::from_ref(node), keys, path, node),
            (Kind::Tables(keys), Data::List(items)) => self.tables(items, keys, path, node),
            (Kind::Variants(variants) | Kind::Drawn(variants), Data::Table(_)) => self.variant(node, variants, path),
            (Kind::Drawn(variants), Data::Text(_) | Data::Integer(_) | Data::Float(_)) => self.fixed(node, variants, path, unit),
            (Kind::Parts(axis, extra), Data::List(items)) => self.parts(node, items, (axis, extra), path),
            (Kind::Part(axis, extra) | Kind::Parts(axis, extra), _) => self.part(node, (axis, &axis.words()), extra, (path, unit)),
            (Kind::Names(check), Data::Table(_)) => {
                let mut names = Vec::new();
                self.names(node, *check, (path, ""), &mut names);
                Checked::Names(names)
            }
            (Kind::Sweep, Data::Table(_)) => Checked::None,
            _ => self.report(node, path, format!("must be {}, but is {}", kind.expected(), node.data.noun())),
        }
    }

    /// Adds the names in the table `node`, in which they begin with `first`. A name without quotes is nested tables.
    fn names(
        &mut self,
        node: &Node,
        check: fn(&str) -> Result<(), String>,
        (path, first): (&str, &str),
        names: &mut Vec<(String, String, Origin)>,
    ) {
        for (name, value) in entries(node) {
            let name = joined(first, name);
            let text = match &value.data {
                Data::Table(_) => {
                    self.names(value, check, (path, &name), names);
                    continue;
                }
                Data::Bool(value) => Ok(u8::from(*value).to_string()),
                Data::Integer(number) => Ok(number.to_string()),
                Data::Text(text) => written(text).map(|()| text.clone()),
                data @ (Data::Float(_) | Data::List(_)) => {
                    Err(format!("must be a whole number, true, false or a text such as \"4096 131072 6291456\", but is {}", data.noun()))
                }
            };
            let twice = names.iter().any(|(known, ..)| *known == name);
            let text = if twice { Err("is set twice, with and without quotes".to_owned()) } else { check(&name).and(text) };
            match text {
                Ok(text) => names.push((name, text, value.origin.clone())),
                Err(message) => drop(self.report(value, &joined(path, &name), message)),
            }
        }
    }

    /// A preset of end hosts: its name, or a table. Its keys are already those of the flow.
    fn host(&mut self, node: &Node, path: &str) -> Checked {
        let Data::Table(_) = node.data else { return self.preset(node, &HOSTS, path) };
        for (name, value) in entries(node).filter(|(name, _)| !["kind", "version"].contains(&name.as_str())) {
            self.report(value, &joined(path, name), unknown("key", name, &["kind", "version"]));
        }
        let Some(kind) = node.get("kind") else { return self.report(node, &joined(path, "kind"), "is missing; example: \"linux\"") };
        let checked = self.preset(kind, &HOSTS, &joined(path, "kind"));
        let (Checked::Text(name), Some(version)) = (&checked, node.get("version")) else { return checked };
        let path = joined(path, "version");
        match &version.data {
            Data::Text(text) => match hosts::check_version(name, text) {
                Ok(()) => checked,
                Err(message) => self.report(version, &path, message),
            },
            data => self.report(version, &path, format!("must be a text such as \"6.18\", but is {}", data.noun())),
        }
    }

    /// The name of a preset. Its keys are already those of the table.
    fn preset(&mut self, node: &Node, presets: &Presets, path: &str) -> Checked {
        match &node.data {
            Data::Text(name) => match presets.check_name(name) {
                Ok(()) => Checked::Text(name.clone()),
                Err(message) => self.report(node, path, message),
            },
            data => self.report(node, path, format!("must be a text, but is {}", data.noun())),
        }
    }

    fn tables(&mut self, items: &[Node], keys: &'static [Key], path: &str, whole: &Node) -> Checked {
        if items.is_empty() {
            return self.report(whole, path, format!("needs at least one entry: [[{path}]]"));
        }
        if items.len() > MANY {
            for (index, item) in items.iter().enumerate() {
                self.item(item, keys, &format!("{path}.{index}"));
            }
            if !self.problems.is_empty() {
                return Checked::None;
            }
        }
        let mut fields = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let value = self.item(item, keys, &format!("{path}.{index}"));
            self.keep(&mut fields, value, item);
        }
        Checked::List(fields)
    }

    /// Checks a table of a list.
    fn item(&mut self, item: &Node, keys: &'static [Key], path: &str) -> Checked {
        match item.data {
            Data::Table(_) => Checked::Table(Box::new(self.record(item, keys, path))),
            _ => self.report(item, path, format!("must be a table, but is {}", item.data.noun())),
        }
    }

    /// Appends an item of a list. With too many problems the rest is only checked: a checked value is far larger than its text.
    fn keep(&self, fields: &mut Vec<Field>, value: Checked, item: &Node) {
        if self.problems.too_many() {
            fields.clear();
            fields.shrink_to_fit();
        } else {
            fields.push(Field { value, origin: item.origin.clone(), given: true });
        }
    }

    fn variant(&mut self, node: &Node, variants: &'static [Variant], path: &str) -> Checked {
        let kinds: Vec<&str> = variants.iter().map(|variant| variant.kind).collect();
        let variant = match node.get("kind").map(|kind| (kind, &kind.data)) {
            None => variants.first(),
            Some((kind, Data::Text(text))) => {
                let found = variants.iter().find(|variant| variant.kind == text);
                if found.is_none() {
                    self.report(kind, &joined(path, "kind"), unknown(last_name(path), text, &kinds));
                }
                found
            }
            Some((kind, data)) => {
                self.report(kind, &joined(path, "kind"), format!("must be a text, but is {}", data.noun()));
                None
            }
        };
        let Some(variant) = variant else { return Checked::None };
        let known: Vec<&str> = std::iter::once("kind").chain(variant.keys.iter().map(|key| key.name)).collect();
        for (name, value) in entries(node).filter(|(name, _)| !known.contains(&name.as_str())) {
            let owners = variants.iter().filter(|variant| variant.keys.iter().any(|key| key.name == name));
            let owners: Vec<&str> = owners.map(|variant| variant.kind).collect();
            let message = if owners.is_empty() {
                unknown("key", name, &known)
            } else {
                let what = last_name(path);
                let article = if what.starts_with('a') { "an" } else { "a" };
                format!(
                    "{article} {what} of kind {:?} has no {name:?}; kinds that have it: {} ({})",
                    variant.kind,
                    owners.join(", "),
                    listed(&known)
                )
            };
            self.report(value, &joined(path, name), message);
        }
        Checked::Table(Box::new(Record { kind: variant.kind, ..self.fields(node, variant.keys, path) }))
    }

    /// A distribution given as a single quantity: it always draws this value.
    fn fixed(&mut self, node: &Node, variants: &'static [Variant], path: &str, unit: Option<&str>) -> Checked {
        let Some(mean) = variants.iter().find(|variant| variant.kind == part::FIXED).and_then(|fixed| fixed.keys.first()) else {
            return Checked::None;
        };
        let value = self.value(node, &mean.kind, path, unit);
        if matches!(value, Checked::None) {
            return Checked::None;
        }
        let field = Field { value, origin: node.origin.clone(), given: true };
        Checked::Table(Box::new(Record {
            path: path.to_owned(),
            origin: node.origin.clone(),
            kind: part::FIXED,
            fields: vec![(mean.name, field)],
        }))
    }

    fn quantity(&mut self, node: &Node, path: &str, read: (&'static Dimension, Option<&str>, &Data), bounds: &Bounds) -> Checked {
        let (dimension, unit, data) = read;
        let read = parse(dimension, data, unit);
        let checked = read.and_then(|quantity| {
            let bound = |text| dimension.parse(text, "").ok().and_then(Quantity::magnitude);
            let (Some(value), Some(low), Some(high)) = (quantity.magnitude(), bound(bounds.low), bound(bounds.high)) else {
                return Ok(quantity);
            };
            if value < low || bounds.above && value <= low {
                let at = if bounds.above { "above" } else { "at least" };
                return Err(format!("must be {at} {}, but is {}", bounds.low, quoted(&node.label())));
            }
            if value > high {
                return Err(format!("must be at most {}, but is {}", bounds.high, quoted(&node.label())));
            }
            Ok(quantity)
        });
        checked.map_or_else(|message| self.report(node, path, message), Checked::Quantity)
    }

    /// A list of parts.
    fn parts(&mut self, node: &Node, items: &[Node], (axis, extra): (&'static Axis, &'static [Key]), path: &str) -> Checked {
        if items.len() > MAX_PARTS {
            return self.report(node, path, format!("has {} entries; the limit is {MAX_PARTS}", items.len()));
        }
        if items.is_empty() && axis.none.is_none() {
            return self.report(node, path, format!("needs at least one {}", axis.noun));
        }
        let mut fields = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let value = self.part(item, (axis, &axis.words()), extra, (&format!("{path}.{index}"), None));
            self.keep(&mut fields, value, item);
        }
        Checked::List(fields)
    }

    /// A part of `axis`, where the value can be one of `words`. A number alone suggests `unit`.
    fn part(
        &mut self,
        node: &Node,
        (axis, words): (&'static Axis, &[&str]),
        extra: &'static [Key],
        (path, unit): (&str, Option<&str>),
    ) -> Checked {
        let data = match (&node.data, part::short_dimension(axis)) {
            (Data::Text(text), _) if axis.none == Some(text.trim()) || axis.objects.contains(&text.trim()) => {
                return if words.contains(&text.trim()) {
                    Checked::Text(text.trim().to_owned())
                } else {
                    self.report(node, path, unknown(axis.noun, text.trim(), words))
                };
            }
            (Data::Text(text), _) => part::promote(axis, text),
            (Data::Table(_), _) => node.data.clone(),
            (Data::Integer(_) | Data::Float(_), Some(dimension)) => {
                return self.report(node, path, dimension.needs_unit(&node.label(), unit.unwrap_or(dimension.unit)));
            }
            (other, _) => {
                return self.report(
                    node,
                    path,
                    format!("must be the name of a {} or a table with its kind, but is {}", axis.noun, other.noun()),
                );
            }
        };
        // Problems of a shorthand text refer to the text itself, not to the keys that it stands for.
        let short = !matches!(node.data, Data::Table(_));
        let at = |name: &str| if short { path.to_owned() } else { joined(path, name) };
        let place = |found: &Node| if short { node.origin.clone() } else { found.origin.clone() };
        let table = Node { origin: node.origin.clone(), data };
        let part = match table.get("kind").map(|kind| (kind, &kind.data)) {
            None => axis.part(axis.usual),
            Some((kind, Data::Text(name))) if axis.objects.contains(&name.as_str()) => {
                self.report_none(kind, &at("kind"), format!("is no table: write {} = {name:?}", axis.name))
            }
            Some((kind, Data::Text(name))) => {
                let part = axis.part(name);
                if part.is_none() {
                    self.problems.add(&place(kind), at("kind"), unknown(axis.noun, name, words));
                }
                part
            }
            Some((kind, other)) => self.report_none(kind, &at("kind"), format!("must be a text, but is {}", other.noun())),
        };
        let Some(part) = part else { return Checked::None };
        self.unknown_params(&table, (axis, part), extra, path);
        let mut choice =
            Choice { name: part.name, params: Params::defaults(part.params), bdp: Vec::new(), extra: self.fields(&table, extra, path) };
        let mut sound = true;
        let file = in_file(axis, part).and_then(|one| Some((one, table.get(FILE)?)));
        if let Some((one, file)) = file {
            let param = part.params.iter().find(|param| param.name == one.param);
            let set = match (table.get(one.param), param) {
                (None, Some(param)) => one.read(self.folder, &file.data, |data| choice.set(param, data)),
                _ => Err(format!("cannot be combined with {}, which it replaces", one.param)),
            };
            if let Err(message) = set {
                self.problems.add(&file.origin, at(FILE), message);
                sound = false;
            }
        }
        for param in part.params {
            let Some(given) = table.get(param.name) else { continue };
            let set = match param.kind {
                params::Kind::Part(inner) if !is_auto(param, &given.data) => {
                    let Some(inner) = self.inner(given, inner, param, &joined(path, param.name)) else {
                        sound = false;
                        continue;
                    };
                    choice.put(param, inner);
                    Ok(())
                }
                params::Kind::Parts(inner) => {
                    let Some(inner) = self.list(given, inner, &joined(path, param.name)) else {
                        sound = false;
                        continue;
                    };
                    choice.put_list(param, inner);
                    Ok(())
                }
                _ => choice.set(param, &given.data),
            };
            if let Err(mut message) = set {
                if short && message.starts_with(BOUNDS) {
                    message = format!("{message}, but is {}", quoted(&node.label()));
                }
                self.problems.add(&place(given), at(param.name), message);
                sound = false;
            }
        }
        if sound && let Err(message) = (axis.build)(part.name, &choice.params) {
            return self.report(node, path, message);
        }
        Checked::Part(Box::new(choice))
    }

    /// The part of `axis` inside another part, as its parameter `param`; `None` if it is wrong and reported.
    fn inner(&mut self, node: &Node, axis: &'static Axis, param: &Param, path: &str) -> Option<Choice> {
        let auto = (param.default == params::Default::Auto).then_some(part::AUTO);
        let words: Vec<&str> = axis.parts().iter().map(|part| part.name).chain(auto).collect();
        if let Checked::Part(choice) = self.part(node, (axis, &words), &[], (path, None)) { Some(*choice) } else { None }
    }

    /// The parts of `axis` in a list inside another part; `None` if one is wrong and reported. A part alone is a list of one.
    fn list(&mut self, node: &Node, axis: &'static Axis, path: &str) -> Option<Vec<Choice>> {
        let alone = std::slice::from_ref(node);
        let items = if let Data::List(items) = &node.data { &items[..] } else { alone };
        if items.len() > MAX_INNER_PARTS {
            return self.report_none(node, path, format!("has {} entries; the limit is {MAX_INNER_PARTS}", items.len()));
        }
        let words = axis.words();
        let place = |index: usize| if matches!(node.data, Data::List(_)) { format!("{path}.{index}") } else { path.to_owned() };
        let checked: Vec<Checked> =
            items.iter().enumerate().map(|(index, item)| self.part(item, (axis, &words), &[], (&place(index), None))).collect();
        checked.into_iter().map(|checked| if let Checked::Part(choice) = checked { Some(*choice) } else { None }).collect()
    }

    fn report_none<T>(&mut self, node: &Node, path: &str, message: String) -> Option<T> {
        self.report(node, path, message);
        None
    }

    fn unknown_params(&mut self, table: &Node, (axis, part): (&Axis, &Description), extra: &[Key], path: &str) {
        let file = in_file(axis, part).map(|_| FILE);
        let known: Vec<&str> = part.params.iter().map(|param| param.name).chain(extra.iter().map(|key| key.name)).chain(file).collect();
        for (name, value) in entries(table).filter(|(name, _)| name != "kind" && !known.contains(&name.as_str())) {
            let owners = axis.parts().iter().filter(|part| part.params.iter().any(|param| param.name == name));
            let owners: Vec<&str> = owners.map(|part| part.name).collect();
            let hint = match nearest(name, known.iter().copied()) {
                _ if !owners.is_empty() => format!("; kinds that have it: {}", owners.join(", ")),
                Some(right) => format!("; did you mean {right:?}?"),
                None => String::new(),
            };
            let message = format!("the {} {:?} has no parameter {}{hint} ({})", axis.noun, part.name, quoted(name), listed(&known));
            self.report(value, &joined(path, name), message);
        }
    }
}

impl Choice {
    /// Sets `param` to the part `inner`.
    fn put(&mut self, param: &'static Param, inner: Self) {
        let inner = self.take(param, 0, inner);
        self.params.set(param.name, Value::Part(inner));
    }

    /// Sets `param` to the list of parts `inner`.
    fn put_list(&mut self, param: &'static Param, inner: Vec<Self>) {
        let inner = inner.into_iter().enumerate().map(|(index, inner)| self.take(param, index, inner)).collect();
        self.params.set(param.name, Value::Parts(inner));
    }

    /// The part `inner` of `param`, whose multiples become this part's.
    fn take(&mut self, param: &'static Param, index: usize, inner: Self) -> PartSpec {
        self.bdp.extend(inner.bdp.into_iter().map(|mut multiple| {
            multiple.path.insert(0, (param.name, index));
            multiple
        }));
        PartSpec::new(inner.name, inner.params)
    }

    /// Sets `param` to the value of `data`.
    fn set(&mut self, param: &'static Param, data: &Data) -> Result<(), String> {
        if is_auto(param, data) {
            self.params.set(param.name, Value::Auto);
        } else if let Some(multiples) = products(param.kind, data)? {
            self.bdp.push(Multiple { path: Vec::new(), param, multiples });
        } else {
            self.params.set(param.name, read(param.name, param.kind, data)?);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
