//! Messages about a script: the place, the expectation, and the nearest right word.

use thiserror::Error;

use crate::script::Position;

/// A text that is not a script.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{}:{}: {message}", at.line, at.column)]
pub struct SyntaxError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Place of the mistake.
    pub at: Position,
    /// The expectation, the text found, and the nearest right word.
    pub message: String,
}

/// Something that the language has and this crate does not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {}: {what}", at.line)]
pub struct Unsupported {
    /// Its place in the script.
    pub at: Position,
    /// What is not supported, and why.
    pub what: String,
}

/// The candidate that is spelled almost like `word`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    // One mistake in three letters: more would suggest words that have nothing in common.
    let most = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= most && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The end of a message: the nearest right word.
pub(crate) fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |candidate| format!("; did you mean `{candidate}`?"))
}
