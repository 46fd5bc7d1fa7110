//! A place in the text, and the smallest things to read there: blanks, signs, words and numbers.

use crate::error::{SyntaxError, suggestion};
use crate::script::{Nanos, Position};

/// Digits of a second's nanoseconds.
const DECIMALS: usize = 9;

/// What a reading function returns.
pub(super) type Read<T> = Result<T, SyntaxError>;

/// A place in the text.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    file: &'a str,
    rest: &'a str,
    at: Position,
}

impl<'a> Cursor<'a> {
    /// The start of a text that begins at `at`.
    pub(super) fn new(file: &'a str, text: &'a str, at: Position) -> Self {
        Self { file, rest: text, at }
    }

    /// The text from here on.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// The place.
    pub(super) fn at(&self) -> Position {
        self.at
    }

    /// An error with this message, here.
    pub(super) fn error(&self, message: impl Into<String>) -> SyntaxError {
        self.error_at(self.at, message)
    }

    /// An error with this message at another place.
    pub(super) fn error_at(&self, at: Position, message: impl Into<String>) -> SyntaxError {
        SyntaxError { file: self.file.to_owned(), at, message: message.into() }
    }

    /// An error: `what` should be here.
    pub(super) fn expected(&self, what: &str) -> SyntaxError {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    /// An error: `what` should be here; the nearest of `words` is suggested.
    pub(super) fn expected_word<'b>(&self, what: &str, words: impl IntoIterator<Item = &'b str>) -> SyntaxError {
        self.error(format!("expected {what}, found {}{}", self.found(), suggestion(self.peek_word(), words)))
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match (self.peek(), self.peek_word()) {
            (None, _) => "the end of the script".to_owned(),
            (Some('\n'), _) => "the end of the line".to_owned(),
            (Some(sign), "") => format!("`{sign}`"),
            (_, word) => format!("`{word}`"),
        }
    }

    /// The next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Whether the rest starts with `text`.
    pub(super) fn sees(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    /// Moves on by `bytes`, which must end at a character's end, and returns the text passed.
    pub(super) fn skip(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        for letter in passed.chars() {
            if letter == '\n' {
                self.at = Position { line: self.at.line + 1, column: 1 };
            } else {
                self.at.column += 1;
            }
        }
        self.rest = rest;
        passed
    }

    /// Moves over blanks of this line.
    pub(super) fn blanks(&mut self) {
        self.run(|letter| letter.is_whitespace() && letter != '\n');
    }

    /// Moves over blanks, line ends and comments.
    pub(super) fn space(&mut self) -> Read<()> {
        loop {
            self.run(char::is_whitespace);
            if self.sees("//") {
                self.run(|letter| letter != '\n');
            } else if self.sees("/*") {
                let end = self.rest.find("*/").ok_or_else(|| self.error("this comment has no end `*/`"))?;
                self.skip(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    /// Reads the longest run of such characters, which may be empty.
    pub(super) fn run(&mut self, like: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|letter| !like(letter)).unwrap_or(self.rest.len());
        self.skip(end)
    }

    /// Reads `text` if it is here, after space.
    pub(super) fn take(&mut self, text: &str) -> Read<bool> {
        self.space()?;
        let here = self.sees(text);
        if here {
            self.skip(text.len());
        }
        Ok(here)
    }

    /// Reads `text`, which must be here, after space.
    pub(super) fn need(&mut self, text: &str) -> Read<()> {
        if self.take(text)? { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// The word or number here; empty if there is neither.
    pub(super) fn peek_word(&self) -> &'a str {
        let end = self.rest.find(|letter| !is_word(letter)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    /// Reads the word `word` if it is here, after space.
    pub(super) fn take_word(&mut self, word: &str) -> Read<bool> {
        self.space()?;
        let here = self.peek_word() == word;
        if here {
            self.skip(word.len());
        }
        Ok(here)
    }

    /// Reads a number up to `most`, decimal or hexadecimal, after space.
    pub(super) fn number(&mut self, what: &str, most: u64) -> Read<u64> {
        self.space()?;
        let word = self.peek_word();
        let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(digits) if digits.chars().all(|digit| digit.is_ascii_hexdigit()) => u64::from_str_radix(digits, 16),
            None if word.chars().all(|digit| digit.is_ascii_digit()) => word.parse(),
            _ => return Err(self.expected(what)),
        };
        if word.is_empty() || word.len() == 2 && value.is_err() {
            return Err(self.expected(what));
        }
        match value {
            Ok(value) if value <= most => {
                self.skip(word.len());
                Ok(value)
            }
            _ => Err(self.error(format!("expected {what}, at most {most}, found `{word}`"))),
        }
    }

    /// Reads seconds as nanoseconds, after space.
    pub(super) fn seconds(&mut self) -> Read<Nanos> {
        self.space()?;
        let whole = self.rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(self.rest.len());
        let (whole, after) = self.rest.split_at(whole);
        let fraction = after.strip_prefix('.').map_or("", |digits| {
            let end = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
            &digits[..end]
        });
        if whole.is_empty() && fraction.is_empty() {
            return Err(self.expected("a time in seconds"));
        }
        let kept = fraction.trim_end_matches('0');
        if kept.len() > DECIMALS {
            return Err(self.error(format!("the time {whole}.{fraction} is finer than nanoseconds")));
        }
        let text = format!("{whole}{kept:0<DECIMALS$}");
        let nanos = text.parse().map_err(|_| self.error(format!("the time {whole}.{fraction} is too long")))?;
        self.skip(whole.len() + if fraction.is_empty() { 0 } else { fraction.len() + 1 });
        Ok(nanos)
    }

    /// Reads up to `end` and moves past it, or says that the thing called `what` has no end.
    pub(super) fn until(&mut self, end: &str, what: &str) -> Read<&'a str> {
        let length = self.rest.find(end).ok_or_else(|| self.error(format!("{what} has no end `{end}`")))?;
        let text = self.skip(length);
        self.skip(end.len());
        Ok(text)
    }
}

/// Whether words and numbers can hold this character.
pub(super) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
