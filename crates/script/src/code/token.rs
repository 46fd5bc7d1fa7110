//! Tokens of a block, each with its place.

use crate::error::Unsupported;
use crate::script::Position;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Integer(i64),
    Float(f64),
    Word(String),
    /// A text; `format`: with the prefix `f`. Escapes are already replaced.
    Text {
        text: String,
        format: bool,
    },
    Sign(&'static str),
    /// The end of a statement.
    End,
}

/// A token with its place and the bytes of the block's text that it covers.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: Position,
    pub(super) span: (usize, usize),
}

/// Signs; one that starts like another comes after it.
const SIGNS: [&str; 35] = [
    "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "+", "-",
    "*", "/", "%", "<", ">", "=", "(", ")", "[", "]", ",", ":", ".",
];
/// Signs of one character beyond those above.
const SINGLE: [&str; 6] = ["|", "&", "^", "~", "{", "}"];

/// Divides a text that starts at `at` into tokens. The last one is [`Token::End`].
pub(super) fn tokens(text: &str, mut at: Position) -> Result<Vec<Placed>, Unsupported> {
    let mut tokens: Vec<Placed> = Vec::new();
    let mut depth = 0_u32;
    let mut index = 0;
    while let Some(first) = text[index..].chars().next() {
        let rest = &text[index..];
        let start = at;
        let (token, length) = match first {
            '\n' | ';' => ((depth == 0).then_some(Token::End), 1),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '\\' if rest[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') => (None, rest.find('\n').unwrap_or(0) + 1),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|digit: char| digit.is_ascii_digit()) => {
                let (token, length) = number(rest).ok_or_else(|| unsupported(at, rest))?;
                (Some(token), length)
            }
            '"' | '\'' => {
                let (text, length) = quoted(rest, at)?;
                (Some(Token::Text { text, format: false }), length)
            }
            _ if first.is_alphabetic() || first == '_' => {
                let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                if after.starts_with(['"', '\'']) {
                    let format = word == "f" || word == "F";
                    if !format && !matches!(word, "b" | "u") {
                        return Err(unsupported(at, rest));
                    }
                    let (text, more) = quoted(after, at)?;
                    (Some(Token::Text { text, format }), length + more)
                } else {
                    (Some(Token::Word(word.to_owned())), length)
                }
            }
            _ => {
                let sign = SIGNS.iter().chain(&SINGLE).find(|sign| rest.starts_with(**sign)).ok_or_else(|| unsupported(at, rest))?;
                match *sign {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                (Some(Token::Sign(sign)), sign.len())
            }
        };
        for letter in rest[..length].chars() {
            if letter == '\n' {
                at = Position { line: at.line + 1, column: 1 };
            } else {
                at.column += 1;
            }
        }
        if let Some(token) = token {
            tokens.push(Placed { token, at: start, span: (index, index + length) });
        }
        index += length;
    }
    tokens.push(Placed { token: Token::End, at, span: (index, index) });
    Ok(tokens)
}

/// An error about the text at this place.
fn unsupported(at: Position, rest: &str) -> Unsupported {
    let line = rest.lines().next().unwrap_or_default().trim_end();
    Unsupported { at, what: format!("the assertion reader does not know `{line}`") }
}

/// Reads a number, and returns its length.
fn number(rest: &str) -> Option<(Token, usize)> {
    let end = |radix: u32, from: usize| {
        rest[from..].find(|digit: char| !digit.is_digit(radix) && digit != '_').map_or(rest.len(), |end| from + end)
    };
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0o", 8)] {
        if rest.starts_with(prefix) {
            let end = end(radix, 2);
            let value = i64::from_str_radix(&rest[2..end].replace('_', ""), radix).ok()?;
            return ends(rest, end).then_some((Token::Integer(value), end));
        }
    }
    let whole = end(10, 0);
    let mut length = whole;
    if rest[length..].starts_with('.') {
        length = end(10, length + 1);
    }
    if let Some(exponent) = rest[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        length = end(10, length + 1 + sign);
    }
    let text = rest[..length].replace('_', "");
    let token = if length == whole { Token::Integer(text.parse().ok()?) } else { Token::Float(text.parse().ok()?) };
    ends(rest, length).then_some((token, length))
}

/// Whether no letter follows a number of this length.
fn ends(rest: &str, length: usize) -> bool {
    !rest[length..].starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
}

/// Reads a text in quotes, and returns its length.
fn quoted(rest: &str, at: Position) -> Result<(String, usize), Unsupported> {
    let quote = rest.chars().next().unwrap_or('"');
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((index, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, same @ ('"' | '\'' | '\\'))) => text.push(same),
                _ => break,
            },
            '\n' => break,
            _ if letter == quote => {
                // Three quotes start a text of several lines.
                if index == 1 && rest[2..].starts_with(quote) {
                    break;
                }
                return Ok((text, index + 1));
            }
            _ => text.push(letter),
        }
    }
    Err(unsupported(at, rest))
}
