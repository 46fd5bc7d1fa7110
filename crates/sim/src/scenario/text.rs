//! Words in messages: quotations of the user's text, and the nearest valid word.

use std::borrow::Cow;

use ackclock_core::limits;

/// Largest number of the user's characters that a message repeats.
const SHOWN: usize = limits::SHOWN.most as usize;

/// `text` for a message, shortened if long.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// `text` in quotes for a message, shortened if long.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// The last name of a path, without list indices.
pub(crate) fn last_name(path: &str) -> &str {
    path.rsplit('.').find(|step| step.parse::<usize>().is_err()).unwrap_or(path)
}

/// The candidate nearest to `word`, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Case and hyphens are the most frequent mistakes. Beyond these, four letters in ten may differ.
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let word = plain(word);
    if word.chars().count() > SHOWN {
        return None;
    }
    let scored = candidates.into_iter().map(|candidate| (strsim::normalized_damerau_levenshtein(&word, &plain(candidate)), candidate));
    let best = scored.fold(None, |best: Option<(f64, &str)>, next| if best.is_some_and(|b| b.0 >= next.0) { best } else { Some(next) });
    best.filter(|(score, _)| *score >= 0.6).map(|(_, candidate)| candidate)
}

/// `there is no <what> "word"; did you mean "…"? (known: …)`.
pub(crate) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let hint = nearest(word, known.iter().copied()).map_or_else(String::new, |right| format!("; did you mean {right:?}?"));
    format!("there is no {what} {}{hint} ({})", quoted(word), listed(known))
}

/// Largest number of names that a message lists.
const LISTED: usize = 24;

/// `known: a, b, c`.
pub(crate) fn listed(known: &[&str]) -> String {
    match known {
        [] => "known: none".to_owned(),
        _ if known.len() > LISTED => format!("known: {}, and {} more", known[..LISTED].join(", "), known.len() - LISTED),
        _ => format!("known: {}", known.join(", ")),
    }
}
