//! The little of the shell's syntax that scripts use: words, quotes, comments, lists of commands, and a redirection to a file.

use crate::error::Unsupported;
use crate::script::{Command, Position};

/// A command without operators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Place of its first word.
    pub(super) at: Position,
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// File that receives the output.
    pub(super) target: Option<String>,
}

/// Divides a command into simple ones. A failing command does not stop those after `&&`: all of them apply.
pub(super) fn split(command: &Command) -> Result<Vec<Simple>, Unsupported> {
    let mut all = Vec::new();
    let mut simple = Simple::default();
    let mut target = false;
    let mut at = command.at;
    let mut letters = command.text.chars().peekable();
    while let Some(letter) = letters.next() {
        let here = at;
        at.column += 1;
        match letter {
            '\n' => {
                at = Position { line: at.line + 1, column: 1 };
                all.push(std::mem::take(&mut simple));
            }
            ';' => all.push(std::mem::take(&mut simple)),
            '&' if letters.next_if_eq(&'&').is_some() => {
                at.column += 1;
                all.push(std::mem::take(&mut simple));
            }
            '\\' if letters.next_if_eq(&'\n').is_some() => at = Position { line: at.line + 1, column: 1 },
            '>' => {
                at.column += u32::from(letters.next_if_eq(&'>').is_some());
                target = true;
            }
            '#' => {
                while letters.next_if(|letter| *letter != '\n').is_some() {
                    at.column += 1;
                }
            }
            '|' | '&' | '<' | '(' | ')' => {
                return Err(Unsupported { at: here, what: format!("the shell's `{letter}` is not supported in commands") });
            }
            _ if letter.is_whitespace() => {}
            _ => {
                let mut word = String::new();
                let mut next = Some(letter);
                let mut quote = None;
                while let Some(letter) = next {
                    match letter {
                        _ if quote == Some(letter) => quote = None,
                        '"' | '\'' if quote.is_none() => quote = Some(letter),
                        '\\' if quote != Some('\'') => {
                            at.column += 1;
                            word.extend(letters.next());
                        }
                        _ => word.push(letter),
                    }
                    next = letters.next_if(|letter| quote.is_some() || !letter.is_whitespace() && !";&|<>()".contains(*letter));
                    at = match next {
                        Some('\n') => Position { line: at.line + 1, column: 1 },
                        Some(_) => Position { column: at.column + 1, ..at },
                        None => at,
                    };
                }
                if target {
                    simple.target = Some(word);
                    target = false;
                } else if word.chars().all(|digit| digit.is_ascii_digit()) && letters.peek() == Some(&'>') {
                    // `2>/dev/null`, `2>&1`: messages of the command, which nobody reads.
                    letters.next();
                    while letters.next_if(|letter| !letter.is_whitespace() && *letter != ';').is_some() {
                        at.column += 1;
                    }
                } else {
                    if simple.words.is_empty() {
                        simple.at = here;
                    }
                    simple.words.push(word);
                }
            }
        }
    }
    all.push(simple);
    all.retain(|simple| !simple.words.is_empty());
    Ok(all)
}

/// A word, or the product that `$((A*B*…))` is.
pub(super) fn product(word: &str) -> String {
    let inner = word.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
    let number = inner.and_then(|inner| inner.split('*').map(|factor| factor.trim().parse::<u64>().ok()).product::<Option<u64>>());
    number.map_or_else(|| word.to_owned(), |number| number.to_string())
}
