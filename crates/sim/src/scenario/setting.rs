//! Settings: values with the paths of their keys.

use crate::scenario::error::{Origin, Problems};
use crate::scenario::part;
use crate::scenario::toml_reader::read_setting;
use crate::scenario::value::{Data, Node};

/// Largest number of steps in the path of a setting.
const MAX_PATH: usize = 16;

/// A value and the path of its key.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// Dotted path.
    pub(crate) path: String,
    /// The value.
    pub(crate) value: Node,
}

/// Reads the value of a setting of the key `path`. A version is a text, also without quotes: 6.10 is not 6.1.
pub(crate) fn value(path: &str, text: &str, origin: &Origin, problems: &mut Problems) -> Node {
    let value = read_setting(text, origin, problems);
    match value.data {
        Data::Integer(_) | Data::Float(_) if path.ends_with(".version") => Node { data: Data::Text(text.trim().to_owned()), ..value },
        _ => value,
    }
}

impl Setting {
    /// Sets the value in `root`.
    pub(crate) fn apply(&self, root: &mut Node) -> Result<(), String> {
        let path: Vec<&str> = self.path.split('.').map(str::trim).collect();
        if path.iter().any(|step| step.is_empty()) || path.len() > MAX_PATH {
            return Err("this is not the path of a key such as flow.0.rwnd or topology.bottleneck.queue.limit".to_owned());
        }
        assign(root, "the scenario", &path, &self.value)
    }
}

/// Sets `value` at `path` below `node`; `key` is the key of `node`.
fn assign(node: &mut Node, key: &str, path: &[&str], value: &Node) -> Result<(), String> {
    let [step, rest @ ..] = path else {
        *node = value.clone();
        return Ok(());
    };
    let index = step.parse::<usize>().ok();
    if let (Data::Text(text), Some(axis)) = (&node.data, part::axis(key)) {
        node.data = part::promote(axis, text);
    }
    match &mut node.data {
        // A single `[flow]` table is flow 0.
        Data::Table(entries) if index == Some(0) && key == "flow" && !entries.iter().any(|(name, _)| name == step) => {
            assign(node, key, rest, value)
        }
        Data::Table(entries) => {
            // The name of a kernel's parameter has dots.
            if let Some((_, entry)) = entries.iter_mut().find(|(name, _)| name.contains('.') && *name == path.join(".")) {
                return assign(entry, step, &[], value);
            }
            if let Some((_, entry)) = entries.iter_mut().find(|(name, _)| name == step) {
                return assign(entry, step, rest, value);
            }
            if index.is_some() || (*step == "flow" && !rest.is_empty()) {
                return Err(format!("there is no {step} in {key}"));
            }
            let mut entry = Node { origin: value.origin.clone(), data: Data::Table(Vec::new()) };
            assign(&mut entry, step, rest, value)?;
            entries.push(((*step).to_owned(), entry));
            Ok(())
        }
        Data::List(items) => match index {
            Some(index) => {
                let count = items.len();
                let item = items.get_mut(index).ok_or_else(|| format!("there is no {key} {index}: there are {count}, counted from 0"))?;
                assign(item, key, rest, value)
            }
            None => items.iter_mut().try_for_each(|item| assign(item, key, path, value)),
        },
        other => Err(format!("{key} is {}, so it has no key {step:?}", other.noun())),
    }
}
