//! Texts with values in them: f-strings.

use super::tree::Expression;
use super::value::Value;
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
