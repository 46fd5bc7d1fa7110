//! How much memory the reading of a text takes: estimated from its marks, before its tree is built.
//!
//! The bytes were measured (64-bit Linux, the `toml` crate, Python 3.11) and are upper bounds: marks stand for the values of both readers of
//! a file, that of scenarios and that of Python.

use ackclock_core::limits;

use crate::scenario::error::{Origin, Problems};
pub use crate::scenario::marks::Language;
use crate::scenario::marks::{Mark, Marks};
use crate::scenario::pieces::{Piece, pieces};

/// Memory that no text takes for each of its bytes.
const DENSEST: u64 = 800;

/// Adds a problem if a text of TOML takes too much memory to read; returns whether it does.
pub(crate) fn is_too_much(text: &str, problems: &mut Problems) -> bool {
    let excess = excess(text, Language::Toml);
    if let Some((line, message)) = &excess {
        problems.add(&Origin::Line(*line), "", format!("{message}: write equal flows as one, with count"));
    }
    excess.is_some()
}

/// The line of a text at which its reading exceeds the limit of memory, and a message. The limit is a multiple of the size, and at least
/// [`limits::MEMORY`].
#[must_use]
pub fn excess(text: &str, language: Language) -> Option<(usize, String)> {
    let (size, least, times) = (text.len() as u64, limits::MEMORY.most, limits::MEMORY_TIMES.most);
    let most = least.max(times * size);
    if size.saturating_mul(DENSEST) <= most {
        return None;
    }
    let pieces = if language == Language::Toml { pieces(text) } else { Vec::new() };
    let line = exceeding(text, language, &pieces, most)?;
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let message = format!(
        "the values up to this line take {:.0} MB of memory to read, the limit of a text of {:.1} MB ({times} times its size, at least {:.0} MB)",
        megabytes(most),
        megabytes(size),
        megabytes(least)
    );
    Some((line, message))
}

/// The line, from 1, at which reading takes more than `most` bytes.
fn exceeding(text: &str, language: Language, pieces: &[Piece], most: u64) -> Option<usize> {
    // A copy of the text itself.
    let mut kept = text.len() as u64;
    let (mut line, mut passing, mut largest, mut current) = (1, 0, 0, 0);
    let mut pieces = pieces.iter().peekable();
    let mut header = false;
    for (at, mark) in Marks::new(text, language) {
        if pieces.peek().is_some_and(|piece| piece.place.end <= at) {
            pieces.next();
            (largest, current) = (current.max(largest), 0);
        }
        let inside = pieces.peek().is_some_and(|piece| piece.place.start <= at);
        header = mark == Mark::Header || header && mark != Mark::Line;
        let (stays, passes) = match language {
            Language::Toml => toml(mark, header && !inside),
            Language::Json => (json(mark), 0),
        };
        kept += stays;
        *(if inside { &mut current } else { &mut passing }) += passes;
        // A text is read before the copy of its tree is made.
        if kept.max(kept / 2 + passing + current.max(largest)) > most {
            return Some(line);
        }
        line += usize::from(mark == Mark::Line);
    }
    None
}

/// Bytes that a mark of TOML takes in the tree, twice, since a check copies the tree; and bytes while its piece is read. Python keeps each
/// header that stands `alone`, in no list of tables.
const fn toml(mark: Mark, alone: bool) -> (u64, u64) {
    const TOKEN: u64 = 48;
    let header = if alone { 800 } else { 0 };
    match mark {
        Mark::Word | Mark::Other => (0, TOKEN),
        Mark::Line => (8, TOKEN),
        Mark::Item | Mark::Extra => (380, 100 + TOKEN),
        Mark::Entry => (300, 140 + TOKEN),
        Mark::Step => (300 + header, 560 + TOKEN),
        Mark::List => (440, 410 + TOKEN),
        Mark::Table => (480, 520 + TOKEN),
        Mark::Header => (250 + header, 560 + TOKEN),
    }
}

/// Bytes that a mark of JSON takes in Python.
const fn json(mark: Mark) -> u64 {
    match mark {
        Mark::Word | Mark::Extra | Mark::Line | Mark::Header | Mark::Step => 0,
        Mark::Other => 8,
        Mark::Item => 16,
        Mark::Entry => 180,
        Mark::List => 90,
        Mark::Table => 240,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_much_is_refused_at_its_line() {
        let most = limits::MEMORY.most as usize;
        let list = |count: usize| format!("a = 1\nb = [{}]", "1,".repeat(count));
        let mut problems = Problems::default();
        assert!(!is_too_much(&list(most / 600), &mut problems) && problems.is_empty());
        assert!(is_too_much(&list(most / 350), &mut problems));
        let error = problems.unless_any("x.toml", ()).unwrap_err().to_string();
        let end = "the limit of a text of 0.4 MB (20 times its size, at least 64 MB): write equal flows as one, with count";
        assert_eq!(error, format!("x.toml:2: the values up to this line take 64 MB of memory to read, {end}"));
    }

    #[test]
    fn a_frozen_scenario_of_any_size_is_read() {
        let table = "[[flow]]\nname = \"f1\"\nfrom = \"n0\"\nto = \"n3\"\nstart = \"0.01 s\"\nprofile = \"ns2\"\npacket_size = \"1000 B\"\n\
                     initial_ssthresh = \"1000 segments\"\necn = false\ninitial_pacing = \"none\"\nrecovery = \"sack\"\n\n";
        assert_eq!(excess(&table.repeat(100_000), Language::Toml), None);
    }

    #[test]
    fn json_is_counted_as_python_keeps_it() {
        let lists = |count: usize| format!("[{}[]]", "[],".repeat(count));
        assert_eq!(excess(&lists(500_000), Language::Json), None);
        assert_eq!(excess(&lists(1_000_000), Language::Json).unwrap().0, 1);
        let entries = |count: usize| format!("{{\"a\": [{}0.5]}}", "0.123456789,".repeat(count));
        assert_eq!(excess(&entries(10_000_000), Language::Json), None);
    }
}
