//! The reader of scripts: a recursive descent over the text.
//!
//! It is written by hand and without a lexer, since the meaning of a character depends on the place: `.` is a flag, a decimal point or
//! part of `...`; `5` is a time, a port or the ACE field; `S` is a flag or the start of a constant. A function knows its place, and can
//! say what it expected there. A parsing library would need the same functions and would give poorer messages.

mod cursor;
mod expression;
mod packet;
#[cfg(test)]
mod tests;

use ackclock_core::limits;
use cursor::{Cursor, Read, is_word};

use crate::error::SyntaxError;
use crate::script::{Action, Code, Command, Event, Position, Script, Setting, Time};

/// A definition `NAME=VALUE`: the value replaces the name wherever it is a whole word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Define {
    /// Name.
    pub name: String,
    /// Text that replaces it.
    pub value: String,
}

impl Define {
    /// Reads `NAME=VALUE`; `None` if the text is not of that form.
    pub fn read(text: &str) -> Option<Self> {
        let (name, value) = text.split_once('=')?;
        let proper = name.chars().all(is_word) && name.starts_with(|first: char| first.is_alphabetic() || first == '_');
        let one_line = !value.contains('\n');
        (proper && one_line).then(|| Self { name: name.to_owned(), value: value.to_owned() })
    }
}

/// Reads a script. `file` appears in messages only.
///
/// Definitions of the caller come before those of the script's own options `--define`, which are not among [`Script::options`].
///
/// # Errors
/// The first place at which the text is not a script.
pub fn parse(text: &str, file: &str, defines: &[Define]) -> Result<Script, SyntaxError> {
    parse_with(text, file, |_| defines.to_vec())
}

/// Reads a script with the definitions that `usual` finds for its options.
pub(crate) fn parse_with(text: &str, file: &str, usual: impl FnOnce(&[Setting]) -> Vec<Define>) -> Result<Script, SyntaxError> {
    let mut cursor = Cursor::new(file, text, Position { line: 1, column: 1 });
    let mut own = Vec::new();
    let options = options(&mut cursor, &mut own)?;
    let mut defines = usual(&options);
    defines.extend(own);
    let replaced = replace(cursor.rest(), &defines).ok_or_else(|| {
        let most = limits::SCRIPT.most;
        cursor.error(format!("the script has more than {most} bytes with the values of its definitions; shorten them"))
    })?;
    let mut cursor = Cursor::new(file, &replaced, cursor.at());
    let before = command(&mut cursor)?;
    let mut events = Vec::new();
    let mut after = None;
    loop {
        cursor.space()?;
        if cursor.peek().is_none() {
            break;
        }
        if let Some(last) = command(&mut cursor)? {
            after = Some(last);
            cursor.space()?;
            if cursor.peek().is_some() {
                return Err(cursor.expected("the end of the script after its last command"));
            }
        } else {
            events.push(event(&mut cursor)?);
        }
    }
    if events.is_empty() {
        return Err(cursor.expected("an event"));
    }
    Ok(Script { options, before, events, after })
}

/// Reads the options at the top; definitions go to `defines`.
fn options(cursor: &mut Cursor, defines: &mut Vec<Define>) -> Read<Vec<Setting>> {
    let mut options = Vec::new();
    loop {
        cursor.space()?;
        let at = cursor.at();
        if !cursor.take("--")? {
            return Ok(options);
        }
        let name = cursor.run(|letter| is_word(letter) || letter == '-').to_owned();
        if name.is_empty() {
            return Err(cursor.expected("the name of an option"));
        }
        let mut value = None;
        if cursor.sees("=") {
            cursor.skip(1);
            value = Some(cursor.run(|letter| !letter.is_whitespace()).to_owned());
        }
        if name == "define" {
            if value.is_none() {
                cursor.blanks();
                value = Some(cursor.run(|letter| !letter.is_whitespace()).to_owned());
            }
            let define = value.as_deref().and_then(Define::read);
            defines.push(define.ok_or_else(|| cursor.error_at(at, "expected `--define NAME=VALUE`"))?);
        } else {
            options.push(Setting { at, name, value });
        }
    }
}

/// Replaces the names of definitions; `None` if the values make the text longer than any script may be.
fn replace(text: &str, defines: &[Define]) -> Option<String> {
    let most = text.len().max(limits::SCRIPT.most as usize);
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_word(first) { rest.find(|letter| !is_word(letter)) } else { rest.find(is_word) };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let define = defines.iter().rev().find(|define| define.name == word);
        replaced.push_str(define.map_or(word, |define| &define.value));
        if replaced.len() > most {
            return None;
        }
        rest = after;
    }
    Some(replaced)
}

/// Reads a command in backquotes, if there is one.
fn command(cursor: &mut Cursor) -> Read<Option<Command>> {
    if !cursor.take("`")? {
        return Ok(None);
    }
    let at = cursor.at();
    Ok(Some(Command { at, text: cursor.until("`", "this command")?.to_owned() }))
}

/// Reads an event.
fn event(cursor: &mut Cursor) -> Read<Event> {
    cursor.space()?;
    let at = cursor.at();
    let time = time(cursor)?;
    let mut end = None;
    if cursor.take("...")? {
        if !matches!(time, Time::Absolute(_) | Time::Relative(_)) {
            return Err(cursor.error_at(at, "the time of a blocking call must be `START...END`"));
        }
        cursor.take("+")?;
        let (Time::Absolute(start) | Time::Relative(start)) = time else { return Err(cursor.expected("a time")) };
        let at = cursor.at();
        let time = cursor.seconds()?;
        if time < start {
            return Err(cursor.error_at(at, "the call ends before it starts"));
        }
        end = Some(time);
    }
    cursor.space()?;
    let place = cursor.at();
    let blocking = end.is_some();
    let action = match cursor.peek() {
        Some('<' | '>') => Action::Packet(packet::packet(cursor)?),
        Some('`') => command(cursor)?.map(Action::Command).ok_or_else(|| cursor.expected("a command"))?,
        Some('%') => Action::Code(code(cursor)?),
        Some(first) if first.is_alphabetic() || first == '_' => Action::Call(expression::call(cursor, end)?),
        _ => return Err(cursor.expected("`<`, `>`, a system call, a command in backquotes or `%{`")),
    };
    if blocking && !matches!(action, Action::Call(_)) {
        return Err(cursor.error_at(place, "only a system call can have an end time"));
    }
    Ok(Event { at, time, action })
}

/// Reads the time of an event.
fn time(cursor: &mut Cursor) -> Read<Time> {
    const TIME: &str = "a time (`0.5`, `+0.5`, `0.5~0.7`, `+0.5~+0.7` or `*`)";
    if cursor.sees("*") {
        cursor.skip(1);
        return Ok(Time::Any);
    }
    if !cursor.peek().is_some_and(|first| first.is_ascii_digit() || ".+".contains(first)) {
        return Err(cursor.expected(TIME));
    }
    let relative = cursor.take("+")?;
    let from = cursor.seconds()?;
    if !cursor.take("~")? {
        return Ok(if relative { Time::Relative(from) } else { Time::Absolute(from) });
    }
    let at = cursor.at();
    if cursor.take("+")? != relative {
        return Err(cursor.error_at(at, "both ends of a range must have a `+`, or neither"));
    }
    let to = cursor.seconds()?;
    if to < from {
        return Err(cursor.error_at(at, "the range ends before it starts"));
    }
    Ok(if relative { Time::RelativeRange(from, to) } else { Time::AbsoluteRange(from, to) })
}

/// Reads a block `%{ … }%`.
fn code(cursor: &mut Cursor) -> Read<Code> {
    cursor.need("%{")?;
    let at = cursor.at();
    let (text, most) = (cursor.until("}%", "this block")?, limits::SCRIPT_CODE.most);
    if text.len() as u64 > most {
        return Err(cursor.error_at(at, format!("this block has {} bytes; the limit is {most}: make several blocks of it", text.len())));
    }
    Ok(Code { at, text: text.to_owned() })
}
