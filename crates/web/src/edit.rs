//! Edits a scenario's text: comments and layout stay. Paths mean the same keys as those of `--set`.

use ackclock_sim::scenario::shorthand;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, RawString, Table, TableLike, TomlError, Value};

use crate::error::{Refusal, problem};

/// Largest number of steps in a path.
const MOST_STEPS: usize = 16;
/// The name of the document in messages.
const ROOT: &str = "the scenario";

/// The text of TOML, with each value set at its path or, if there is none, with the key removed.
pub(crate) fn edit(text: &str, set: &[(String, Option<String>)]) -> Result<String, Refusal> {
    let mut document: DocumentMut = text.parse().map_err(|error| unreadable(text, &error))?;
    for (path, value) in set {
        let refuse = |message: String| problem(path, &message);
        let value = value.as_deref().map(literal).transpose().map_err(refuse)?;
        let steps: Vec<&str> = path.split('.').map(str::trim).collect();
        if steps.iter().any(|step| step.is_empty()) || steps.len() > MOST_STEPS {
            return Err(problem(path, "this is not the path of a key such as flow.0.rwnd or topology.bottleneck.queue.limit"));
        }
        in_item(document.as_item_mut(), ROOT, &steps, value.as_ref()).map_err(refuse)?;
    }
    Ok(document.to_string())
}

/// The problem of a text that is not TOML.
fn unreadable(text: &str, error: &TomlError) -> Refusal {
    let message = format!("this is not TOML: {}", error.message());
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = String::from_utf8_lossy(&text.as_bytes()[..at]);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    problem("", &message).at(line, column)
}

/// Reads a TOML value.
fn literal(text: &str) -> Result<Value, String> {
    text.trim().parse().map_err(|error: TomlError| format!("{text:?} is not a TOML value ({}); a text needs quotes", error.message()))
}

/// Sets `value` at `path` below `item`, which is the value of `key`.
fn in_item(item: &mut Item, key: &str, path: &[&str], value: Option<&Value>) -> Result<(), String> {
    match item {
        Item::Table(table) => in_table(table, key, path, value),
        Item::ArrayOfTables(tables) => in_tables(tables, key, path, value),
        Item::Value(found) => in_value(found, key, path, value),
        Item::None => Ok(()),
    }
}

fn in_value(found: &mut Value, key: &str, path: &[&str], value: Option<&Value>) -> Result<(), String> {
    if value.is_none() && !matches!(found, Value::InlineTable(_) | Value::Array(_)) {
        // There is nothing to remove.
        return Ok(());
    }
    if let Some(entries) = found.as_str().and_then(|text| shorthand(key, text)) {
        let decor = found.decor().clone();
        *found = Value::InlineTable(entries.into_iter().collect());
        *found.decor_mut() = decor;
    }
    match found {
        Value::InlineTable(table) => {
            let last = end(table);
            in_table(table, key, path, value)?;
            keep_end(table, last);
            Ok(())
        }
        Value::Array(items) => in_list(items, key, path, value),
        other => {
            let bare = other.clone().decorated("", "");
            Err(format!("{key} is {bare}, so it has no key {:?}", path.first().unwrap_or(&"")))
        }
    }
}

/// The last key of a table in braces, and what follows its value.
fn end(table: &InlineTable) -> Option<(String, RawString)> {
    let (key, value) = table.iter().last()?;
    Some((key.to_owned(), value.decor().suffix()?.clone()))
}

/// Gives the last entry what followed the one that was last before.
fn keep_end(table: &mut InlineTable, before: Option<(String, RawString)>) {
    let Some((key, suffix)) = before else { return };
    if table.iter().last().is_none_or(|(last, _)| last == key) {
        return;
    }
    let blank = suffix.as_str().is_none_or(|text| text.trim().is_empty());
    if let Some(value) = table.get_mut(&key).filter(|_| blank) {
        value.decor_mut().set_suffix("");
    }
    if let Some((_, value)) = table.iter_mut().last() {
        value.decor_mut().set_suffix(suffix);
    }
}

fn in_table(entries: &mut dyn TableLike, key: &str, path: &[&str], value: Option<&Value>) -> Result<(), String> {
    let [step, rest @ ..] = path else { return Ok(()) };
    let index = step.parse::<usize>().ok();
    // A single `[flow]` table is flow 0.
    if index == Some(0) && key == "flow" && !rest.is_empty() && !entries.contains_key(step) {
        return in_table(entries, key, rest, value);
    }
    let Some(value) = value else {
        return match entries.get_mut(step) {
            Some(found) if !rest.is_empty() => in_item(found, step, rest, None),
            _ => {
                entries.remove(step);
                Ok(())
            }
        };
    };
    if rest.is_empty() {
        put(entries, step, value);
        return Ok(());
    }
    if let Some(found) = entries.get_mut(step) {
        return in_item(found, step, rest, Some(value));
    }
    if index.is_some() || *step == "flow" {
        return Err(format!("there is no {step} in {key}"));
    }
    let mut made = if key == ROOT { Item::Table(Table::new()) } else { Item::Value(InlineTable::new().into()) };
    in_item(&mut made, step, rest, Some(value))?;
    entries.insert(step, made);
    Ok(())
}

/// Sets an entry. A value keeps the comment of the one that it replaces.
fn put(entries: &mut dyn TableLike, key: &str, value: &Value) {
    match entries.get_mut(key) {
        Some(Item::Value(found)) => {
            let decor = found.decor().clone();
            *found = value.clone();
            *found.decor_mut() = decor;
        }
        _ => drop(entries.insert(key, Item::Value(value.clone()))),
    }
}

/// Sets a value in one of several tables, or in all if the path has no index. The index after the last adds a table.
fn in_tables(tables: &mut ArrayOfTables, key: &str, path: &[&str], value: Option<&Value>) -> Result<(), String> {
    let Some((index, rest)) = indexed(path) else {
        return tables.iter_mut().try_for_each(|table| in_table(table, key, path, value));
    };
    let count = tables.len();
    match (rest, value) {
        ([], Some(Value::InlineTable(table))) if index <= count => {
            let table = table.clone().into_table();
            if index == count {
                tables.push(table);
            } else {
                drop(tables.replace(index, table));
            }
            Ok(())
        }
        ([], Some(_)) if index <= count => Err(format!("a {key} must be a table")),
        ([], None) if index < count => {
            tables.remove(index);
            Ok(())
        }
        _ => tables.get_mut(index).ok_or_else(|| missing(key, index, count)).and_then(|table| in_table(table, key, rest, value)),
    }
}

/// Like [`in_tables`], for a list in brackets.
fn in_list(items: &mut Array, key: &str, path: &[&str], value: Option<&Value>) -> Result<(), String> {
    let Some((index, rest)) = indexed(path) else {
        return items.iter_mut().try_for_each(|item| in_value(item, key, path, value));
    };
    let count = items.len();
    match (rest, value) {
        ([], Some(value)) if index == count => items.push(value.clone()),
        ([], Some(value)) if index < count => drop(items.replace(index, value.clone())),
        ([], None) if index < count => drop(items.remove(index)),
        _ => {
            let item = items.get_mut(index).ok_or_else(|| missing(key, index, count))?;
            return in_value(item, key, rest, value);
        }
    }
    Ok(())
}

/// The index with which a path begins, and the rest of the path.
fn indexed<'a, 'b>(path: &'a [&'b str]) -> Option<(usize, &'a [&'b str])> {
    let (first, rest) = path.split_first()?;
    Some((first.parse().ok()?, rest))
}

fn missing(key: &str, index: usize, count: usize) -> String {
    format!("there is no {key} {index}: there are {count}, counted from 0")
}
