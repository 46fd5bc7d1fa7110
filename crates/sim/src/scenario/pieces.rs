//! Pieces of a text of TOML that can be read one after another. Reading takes several times the memory of the values, so that a piece at a
//! time takes less. A header `[[flow]]` that repeats the one before, with its keys and subtables, is such a piece: it adds an item to a list,
//! and nothing else.

use std::ops::Range;

use crate::scenario::marks::{Language, Mark, Marks};

/// Smallest length of a piece that is followed by another one, in bytes: shorter ones are read together.
const LENGTH: usize = 32_768;
/// Most lists whose items are pieces; a text has few.
const MOST_LISTS: usize = 16;

/// Items of a list, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Their place.
    pub(crate) place: Range<usize>,
    /// Place of the header of the list's item that they follow; this item is no piece.
    pub(crate) after: usize,
}

/// A list, whose items are written as tables with headers.
#[derive(Debug)]
struct List<'a> {
    name: &'a str,
    /// Place of the first header.
    first: usize,
}

/// Finds the pieces of a text, in order. Without them, the text is as valid as with them.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut current: Option<List<'_>> = None;
    // Start of the item that is being read, if it is in a piece.
    let mut start = None;
    let mut done: Vec<&str> = Vec::new();
    let headers = Marks::new(text, Language::Toml).filter(|(_, mark)| *mark == Mark::Header).map(|(at, _)| at);
    for at in headers.chain([text.len()]) {
        let (name, repeats) = header(&text[at..]);
        let within = |list: &str| name.strip_prefix(list).is_some_and(|rest| rest.starts_with('.'));
        if at < text.len() && current.as_ref().is_some_and(|list| within(list.name)) {
            continue;
        }
        if let (Some(list), Some(from)) = (&current, start) {
            add(&mut pieces, from..at, list.first);
        }
        start = None;
        if current.as_ref().is_some_and(|list| repeats && list.name == name) {
            start = Some(at);
            continue;
        }
        if let Some(list) = current.take().filter(|list| pieces.last().is_some_and(|piece| piece.after == list.first)) {
            done.push(list.name);
        }
        // A later subtable would belong to the last item, which may be in a piece; and a name can be written in several ways.
        let doubtful = !is_plain(name) && done.iter().any(|list| first_step(list) == first_step(name) || first_step(name).is_empty());
        if at < text.len() && (doubtful || done.iter().any(|list| within(list))) {
            return Vec::new();
        }
        if repeats && is_plain(name) && done.len() < MOST_LISTS {
            current = Some(List { name, first: at });
        }
    }
    pieces
}

/// Adds an item, to the piece before if that is short.
fn add(pieces: &mut Vec<Piece>, place: Range<usize>, after: usize) {
    match pieces.last_mut() {
        Some(last) if last.after == after && last.place.len() < LENGTH => last.place.end = place.end,
        _ => pieces.push(Piece { place, after }),
    }
}

/// The name in a header, and whether the header has two brackets.
fn header(text: &str) -> (&str, bool) {
    let line = text.split('\n').next().unwrap_or(text);
    let (name, repeats) = match line.strip_prefix("[[") {
        Some(rest) => (rest, true),
        None => (line.strip_prefix('[').unwrap_or(line), false),
    };
    (name.split(']').next().unwrap_or(name).trim(), repeats)
}

/// Whether a name is of bare keys without spaces.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// The first key of a name, if it is bare; otherwise empty.
fn first_step(name: &str) -> &str {
    let end = name.find(|letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))).unwrap_or(name.len());
    &name[..end]
}
