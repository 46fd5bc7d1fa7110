//! From TOML to a tree of values. A text is read piece by piece, because reading takes several times the memory of the tree.

use std::borrow::Cow;

use ackclock_core::limits;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use crate::scenario::amount::{self, Language};
use crate::scenario::error::{Origin, Problems};
use crate::scenario::pieces::{Piece, pieces};
use crate::scenario::value::{Data, Node};

/// Deepest nesting of values: far more than the format needs, far less than overflows a stack.
const MAX_DEPTH: usize = limits::DEPTH.most as usize;

/// Longest text, in bytes, in which all errors are reported, and not only the first: each takes about a hundred times its text.
const ALL_ERRORS: usize = 100_000;

/// Reads TOML; reports the lines that are not TOML, in a long piece only the first.
pub(crate) fn read_toml(text: &str, problems: &mut Problems) -> Node {
    let whole = Whole::new(text);
    let rest = whole.rest();
    let place = |at| whole.place(at);
    let Some(table) = whole.parse(&rest, &place, problems) else {
        for piece in &whole.pieces {
            whole.parse(&text[piece.place.clone()], &|at| piece.place.start + at, problems);
        }
        return Node::new(Data::Table(Vec::new()));
    };
    let data = Reader { origin: &|at| whole.origin(place(at)), whole: Some(&whole), problems }.table(&table, 0);
    Node::new(data)
}

/// Reads the value of a setting as TOML or, failing that, as text.
pub(crate) fn read_setting(text: &str, origin: &Origin, problems: &mut Problems) -> Node {
    if let Some((_, message)) = amount::excess(text, Language::Toml) {
        problems.add(origin, "", message);
        return Node { origin: origin.clone(), data: Data::Text(text.to_owned()) };
    }
    match DeValue::parse(text) {
        Ok(value) => Reader { origin: &|_| origin.clone(), whole: None, problems }.value(value.get_ref(), 0, 0),
        Err(_) => Node { origin: origin.clone(), data: Data::Text(text.to_owned()) },
    }
}

/// A text of TOML, and where its lines and pieces are.
struct Whole<'a> {
    text: &'a str,
    /// Places of the starts of lines.
    lines: Vec<usize>,
    pieces: Vec<Piece>,
    /// The parts that are in no piece.
    parts: Vec<Part>,
}

/// The start of a part that is in no piece.
struct Part {
    /// Place in [`Whole::rest`].
    of_rest: usize,
    /// Place in the text.
    of_text: usize,
}

impl<'a> Whole<'a> {
    fn new(text: &'a str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let pieces = pieces(text);
        let mut parts = vec![Part { of_rest: 0, of_text: 0 }];
        let mut removed = 0;
        for piece in &pieces {
            removed += piece.place.len();
            parts.push(Part { of_rest: piece.place.end - removed, of_text: piece.place.end });
        }
        Self { text, lines, pieces, parts }
    }

    /// The text without its pieces.
    fn rest(&self) -> Cow<'a, str> {
        if self.pieces.is_empty() {
            return self.text.into();
        }
        let ends = self.pieces.iter().map(|piece| piece.place.start).chain([self.text.len()]);
        self.parts.iter().zip(ends).map(|(part, end)| &self.text[part.of_text..end]).collect::<String>().into()
    }

    /// The place in the text of a place in [`Whole::rest`].
    fn place(&self, at: usize) -> usize {
        let part = &self.parts[self.parts.partition_point(|part| part.of_rest <= at) - 1];
        part.of_text + (at - part.of_rest)
    }

    /// The line of a place, from 1.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    fn origin(&self, at: usize) -> Origin {
        Origin::Line(self.line(at))
    }

    /// Reads a part of the text, whose places are `place` in the text; `None` if it is not TOML.
    fn parse<'b>(&self, part: &'b str, place: &dyn Fn(usize) -> usize, problems: &mut Problems) -> Option<DeTable<'b>> {
        let (table, errors) = parse(part);
        let mut last = 0;
        for error in &errors {
            let at = place(error.span().map_or(0, |span| span.start).min(part.len()));
            // After the first error in a line, the parser is out of step.
            if self.line(at) != last {
                last = self.line(at);
                let start = self.lines[last - 1];
                let column = String::from_utf8_lossy(&self.text.as_bytes()[start..at]).chars().count() + 1;
                problems.add_syntax((last, column), format!("this is not TOML: {}", error.message()));
            }
        }
        errors.is_empty().then_some(table)
    }
}

fn parse(text: &str) -> (DeTable<'_>, Vec<Error>) {
    if text.len() <= ALL_ERRORS {
        let (table, errors) = DeTable::parse_recoverable(text);
        return (table.into_inner(), errors);
    }
    match DeTable::parse(text) {
        Ok(table) => (table.into_inner(), Vec::new()),
        Err(error) => (DeTable::new(), vec![error]),
    }
}

struct Reader<'a> {
    /// The origin of a place.
    origin: &'a dyn Fn(usize) -> Origin,
    /// The text whose rest is read.
    whole: Option<&'a Whole<'a>>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Data {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let node = self.value(value.get_ref(), key.span().start, depth + 1);
            entries.push((key.get_ref().to_string(), node));
        }
        Data::Table(entries)
    }

    fn value(&mut self, value: &DeValue<'_>, at: usize, depth: usize) -> Node {
        let origin = (self.origin)(at);
        if depth > MAX_DEPTH {
            self.problems.add(&origin, "", format!("values are nested deeper than {MAX_DEPTH} levels"));
            return Node { origin, data: Data::Bool(false) };
        }
        let data = match value {
            DeValue::String(text) => Data::Text(text.to_string()),
            DeValue::Boolean(value) => Data::Bool(*value),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Data::Integer(number),
                Err(_) => Data::Float(number.as_str().parse().unwrap_or(f64::INFINITY)),
            },
            DeValue::Float(number) => Data::Float(number.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Datetime(date) => Data::Text(date.to_string()),
            DeValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    let at = item.span().start;
                    list.push(self.value(item.get_ref(), at, depth + 1));
                    if let (DeValue::Table(_), Some(whole)) = (item.get_ref(), self.whole) {
                        self.pieces(whole, whole.place(at), depth + 1, &mut list);
                    }
                }
                list.shrink_to_fit();
                Data::List(list)
            }
            DeValue::Table(table) => self.table(table, depth),
        };
        Node { origin, data }
    }

    /// Reads the pieces after the item whose header is at `after`.
    fn pieces(&mut self, whole: &Whole<'_>, after: usize, depth: usize, list: &mut Vec<Node>) {
        let first = whole.pieces.partition_point(|piece| piece.after < after);
        for piece in whole.pieces[first..].iter().take_while(|piece| piece.after == after) {
            let place = |at| piece.place.start + at;
            let Some(table) = whole.parse(&whole.text[piece.place.clone()], &place, self.problems) else { continue };
            let mut reader = Reader { origin: &|at| whole.origin(place(at)), whole: None, problems: &mut *self.problems };
            // The piece is a list in the tables that its headers name.
            let mut found = table.values().next();
            while let Some(DeValue::Table(table)) = found.map(Spanned::get_ref) {
                found = table.values().next();
            }
            if let Some(DeValue::Array(items)) = found.map(Spanned::get_ref) {
                list.extend(items.iter().map(|item| reader.value(item.get_ref(), item.span().start, depth)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a text without pieces.
    fn at_once(text: &str, problems: &mut Problems) -> Node {
        let whole = Whole { pieces: Vec::new(), ..Whole::new(text) };
        let Some(table) = whole.parse(text, &|at| at, problems) else { return Node::new(Data::Table(Vec::new())) };
        let data = Reader { origin: &|at| whole.origin(at), whole: None, problems }.table(&table, 0);
        Node::new(data)
    }

    fn compare(text: &str) -> Result<usize, TestCaseError> {
        let (mut one, mut other) = (Problems::default(), Problems::default());
        let (pieces, whole) = (read_toml(text, &mut one), at_once(text, &mut other));
        prop_assert_eq!(one.is_empty(), other.is_empty(), "{:?} {:?} {}", one, other, text);
        if one.is_empty() {
            // The output for debugging has the lines too.
            prop_assert_eq!(format!("{:?}", pieces), format!("{:?}", whole), "{}", text);
        }
        Ok(Whole::new(text).pieces.len())
    }

    #[test]
    fn pieces_make_the_same_tree() {
        let flows = "[[flow]]\nname = 'a'\n[flow.application]\nkind = 'web'\n[[flow.part]]\nx = 1\n[[flow.part]]\n# end\n";
        for (text, pieces) in [
            (format!("duration = 1\n{}[sweep]\nx = [1, 2]\n", flows.repeat(3)), 1),
            (format!("[topology]\n{}{}", "[[topology.link]]\na.b = 1\n".repeat(4), flows.repeat(2)), 2),
            (format!("{}[[other]]\n{}", flows.repeat(2), flows.repeat(2)), 2),
            (format!("{}{}", flows.repeat(2), "x = [\n[[1]],\n]\n"), 1),
            (format!("  {}[flow.late]\ny = \"\"\"\n[[flow]]\n\"\"\"\n", flows.repeat(2)), 1),
            (flows.repeat(4000), 12),
            (flows.to_owned(), 0),
            // The subtable belongs to the last item, in whichever way its header is written.
            (format!("{}[z]\n[flow.late]\ny = 1\n", flows.repeat(2)), 0),
            (format!("{}[ flow . late ]\ny = 1\n", flows.repeat(2)), 0),
            (format!("{}[\"fl\\u006fw\".late]\ny = 1\n", flows.repeat(2)), 0),
        ] {
            assert_eq!(compare(&text).unwrap(), pieces, "{text}");
        }
    }

    #[test]
    fn every_wrong_line_is_reported() {
        let mut problems = Problems::default();
        read_toml("a = \n[[b]]\n[[b]]\nc = \n[[b]]\n[[c]]\n[[c]]\nd\n", &mut problems);
        let lines: Vec<Option<usize>> = problems.unless_any("t", ()).unwrap_err().problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(1), Some(4), Some(8)]);
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(lines in proptest::collection::vec(prop_oneof![
            4 => Just("[[a]]"),
            2 => Just("[[a.b]]"),
            1 => Just("[[b]]"),
            1 => Just("  [[a]] # again"),
            1 => Just("[a.c]"),
            1 => Just("[b]"),
            1 => Just("[b.c]"),
            1 => Just("[ a.d ]"),
            1 => Just("['a'.e]"),
            3 => Just("x = 1"),
            3 => Just("y.z = 2"),
            1 => Just("a.x = 1"),
            1 => Just("z = [[1], [\n[2]\n]]"),
            1 => Just("w = \"\"\"\n[[a]]\n\"\"\""),
            1 => Just("v = { a = 1, b.c = [{}] }"),
            1 => Just(""),
        ], 0..12)) {
            compare(&lines.join("\n"))?;
        }
    }
}
