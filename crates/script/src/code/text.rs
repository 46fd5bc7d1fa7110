//! Texts with values in them: f-strings, and the operator `%`.

use super::{Expression, Value};
use crate::error::Unsupported;
use crate::script::Position;

/// Reads an f-string. `read` reads the expression between braces.
pub(super) fn format(
    text: &str,
    at: Position,
    mut read: impl FnMut(&str) -> Result<Expression, Unsupported>,
) -> Result<Expression, Unsupported> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some(index) = rest.find(['{', '}']) {
        plain.push_str(&rest[..index]);
        let after = &rest[index + 1..];
        if let Some(doubled) = after.strip_prefix(&rest[index..=index]) {
            plain.push_str(&rest[index..=index]);
            rest = doubled;
            continue;
        }
        let inside = if rest[index..].starts_with('{') { after.split_once('}') } else { None };
        let Some((code, after)) = inside.filter(|(code, _)| !code.contains([':', '!', '{'])) else {
            return Err(Unsupported { at, what: format!("the assertion reader does not know the format `{text}`") });
        };
        parts.push(Expression::Value(Value::Text(std::mem::take(&mut plain))));
        // `{x=}` shows the expression too.
        let (shown, code) = match code.trim_end().strip_suffix('=') {
            Some(inner) if !inner.ends_with(['=', '!', '<', '>']) => (code.to_owned(), inner),
            _ => (String::new(), code),
        };
        parts.push(Expression::Value(Value::Text(shown)));
        parts.push(read(code)?);
        rest = after;
    }
    plain.push_str(rest);
    parts.push(Expression::Value(Value::Text(plain)));
    Ok(Expression::Format(parts))
}

/// Puts values into a text with `%d`, `%s` and others.
pub(super) fn percent(text: &str, values: &Value) -> Result<String, String> {
    let values = match values {
        Value::List(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut values = values.iter();
    let mut out = String::new();
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        out.push_str(plain);
        let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.').ok_or("the format ends after `%`")?;
        let letter = after[end..].chars().next().unwrap_or('%');
        rest = &after[end + letter.len_utf8()..];
        if letter == '%' {
            out.push('%');
            continue;
        }
        let value = values.next().ok_or("the format needs more values")?;
        let decimals = after[..end].split_once('.').and_then(|(_, decimals)| decimals.parse().ok()).unwrap_or(6_usize).min(100);
        let shown = match (letter, value) {
            ('s', value) => value.to_string(),
            ('r', value) => value.quoted(),
            ('d' | 'i' | 'u', Value::Float(number)) => number.trunc().to_string(),
            ('d' | 'i' | 'u', value) => value.integer()?.to_string(),
            ('x', value) => format!("{:x}", value.integer()?),
            ('X', value) => format!("{:X}", value.integer()?),
            ('f' | 'F', value) => format!("{:.decimals$}", value.float()?),
            _ => return Err(format!("the format `%{letter}` is unknown")),
        };
        out.push_str(&shown);
    }
    if values.next().is_some() {
        return Err("the format has fewer places than values".to_owned());
    }
    out.push_str(rest);
    Ok(out)
}
