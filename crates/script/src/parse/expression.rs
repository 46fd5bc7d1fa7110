//! System calls and the values in them.

use super::cursor::{Cursor, Read, is_word};
use crate::script::{Call, Expression, Field, Kind, Nanos, Operator};

/// How deep values may be nested: more than any script needs, and few enough for the stack.
const DEEPEST: u32 = 32;

/// Reads a system call that returns at `end`.
pub(super) fn call(cursor: &mut Cursor, end: Option<Nanos>) -> Read<Call> {
    let at = cursor.at();
    let name = cursor.run(is_word).to_owned();
    if !cursor.take("(")? {
        return Err(cursor.expected(&format!("`(` after the system call `{name}`")));
    }
    let arguments = list(cursor, ")", DEEPEST)?;
    cursor.need("=")?;
    let result = expression(cursor, DEEPEST)?;
    cursor.blanks();
    let named = cursor.peek().is_some_and(|first| first.is_ascii_uppercase());
    let errno = named.then(|| cursor.run(is_word).to_owned());
    cursor.blanks();
    let note = if cursor.sees("(") { Some(note(cursor)?) } else { None };
    Ok(Call { at, end, name, arguments, result, errno, note })
}

/// Reads a note; parentheses in it must be in pairs.
fn note(cursor: &mut Cursor) -> Read<String> {
    let mut depth = 0_u32;
    for (index, letter) in cursor.rest().char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' => break,
            _ => {}
        }
        if depth == 0 {
            let text = cursor.skip(index + 1);
            return Ok(text[1..index].to_owned());
        }
    }
    Err(cursor.error("this note has no end `)` on its line"))
}

/// Reads values between commas up to `end`.
fn list(cursor: &mut Cursor, end: &str, depth: u32) -> Read<Vec<Expression>> {
    let mut values = Vec::new();
    if cursor.take(end)? {
        return Ok(values);
    }
    loop {
        values.push(expression(cursor, depth)?);
        if cursor.take(end)? {
            return Ok(values);
        }
        if !cursor.take(",")? {
            return Err(cursor.expected(&format!("`,` or `{end}`")));
        }
    }
}

/// Reads a value, which may have operators.
pub(super) fn expression(cursor: &mut Cursor, depth: u32) -> Read<Expression> {
    binary(cursor, 1, depth)
}

/// Reads operands between operators that bind at least as tightly as `least`.
fn binary(cursor: &mut Cursor, least: u8, depth: u32) -> Read<Expression> {
    let mut left = unary(cursor, depth)?;
    // A tree of operators grows with every one; the limit holds for it as for nesting.
    for _ in 0..DEEPEST {
        // An operator on the next line would be taken for a part of this value.
        cursor.blanks();
        let Some((sign, operator, tightness)) =
            Operator::ALL.into_iter().find(|(sign, _, tightness)| cursor.sees(sign) && *tightness >= least)
        else {
            return Ok(left);
        };
        cursor.skip(sign.len());
        let right = binary(cursor, tightness + 1, depth)?;
        left = Expression { at: left.at, kind: Kind::Binary(operator, Box::new(left), Box::new(right)) };
    }
    Err(cursor.error(format!("more than {DEEPEST} operators")))
}

/// Reads a value without operators between values.
fn unary(cursor: &mut Cursor, depth: u32) -> Read<Expression> {
    cursor.space()?;
    let at = cursor.at();
    let Some(depth) = depth.checked_sub(1) else { return Err(cursor.error("values are nested too deeply")) };
    let first = cursor.peek().ok_or_else(|| cursor.expected("a value"))?;
    let kind = match first {
        '.' if cursor.sees("...") => {
            cursor.skip(3);
            Kind::Any
        }
        '[' => {
            cursor.skip(1);
            Kind::List(list(cursor, "]", depth)?)
        }
        '{' => {
            cursor.skip(1);
            Kind::Struct(fields(cursor, depth)?)
        }
        '(' => {
            cursor.skip(1);
            let inner = expression(cursor, depth)?;
            cursor.need(")")?;
            return Ok(inner);
        }
        '"' => Kind::Text(text(cursor)?),
        '-' => {
            cursor.skip(1);
            Kind::Negative(Box::new(unary(cursor, depth)?))
        }
        '~' => {
            cursor.skip(1);
            Kind::Complement(Box::new(unary(cursor, depth)?))
        }
        digit if digit.is_ascii_digit() => Kind::Integer(cursor.number("a number", i64::MAX as u64)?.cast_signed()),
        letter if is_word(letter) => {
            let name = cursor.run(is_word).to_owned();
            if cursor.sees("(") {
                cursor.skip(1);
                Kind::Function(name, list(cursor, ")", depth)?)
            } else {
                Kind::Name(name)
            }
        }
        _ => return Err(cursor.expected("a value (a number, a constant, `...`, `[`, `{` or a text in quotes)")),
    };
    Ok(Expression { at, kind })
}

/// Reads the fields of a struct.
fn fields(cursor: &mut Cursor, depth: u32) -> Read<Vec<Field>> {
    let mut fields = Vec::new();
    if cursor.take("}")? {
        return Ok(fields);
    }
    loop {
        fields.push(field(cursor, depth)?);
        if cursor.take("}")? {
            return Ok(fields);
        }
        if !cursor.take(",")? {
            return Err(cursor.expected("`,` or `}`"));
        }
    }
}

/// Reads a field: with a name if an equals sign follows the name, or its size in parentheses.
fn field(cursor: &mut Cursor, depth: u32) -> Read<Field> {
    cursor.space()?;
    let at = cursor.at();
    let value = expression(cursor, depth)?;
    if !cursor.take("=")? {
        return Ok(Field { at, name: None, size: None, value });
    }
    let (name, size) = match value.kind {
        Kind::Name(name) => (name, None),
        Kind::Function(name, mut sizes) if sizes.len() == 1 => (name, sizes.pop()),
        _ => return Err(cursor.error_at(at, "expected the name of a field before `=`")),
    };
    Ok(Field { at, name: Some(name), size, value: expression(cursor, depth)? })
}

/// Reads a text in double quotes, with the escapes of C for quotes, backslashes, line ends, tabs and bytes.
fn text(cursor: &mut Cursor) -> Read<String> {
    let start = cursor.at();
    cursor.skip(1);
    let mut text = String::new();
    loop {
        text.push_str(cursor.run(|letter| !"\"\\\n".contains(letter)));
        match cursor.peek() {
            Some('"') => {
                cursor.skip(1);
                return Ok(text);
            }
            Some('\\') => {
                cursor.skip(1);
                let escape = cursor.peek();
                let letter = match escape {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('0') => '\0',
                    Some(same @ ('"' | '\\')) => same,
                    Some('x') => {
                        let digits = cursor.rest().get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
                        let byte = digits.ok_or_else(|| cursor.error("expected two hexadecimal digits after `\\x`"))?;
                        cursor.skip(2);
                        char::from(byte)
                    }
                    _ => return Err(cursor.expected("one of n, t, r, 0, x, `\"` and `\\` after the backslash")),
                };
                cursor.skip(1);
                text.push(letter);
            }
            _ => return Err(cursor.error_at(start, "this text has no end `\"` on its line")),
        }
    }
}
