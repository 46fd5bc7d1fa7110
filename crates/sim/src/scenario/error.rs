//! Problems of a scenario, with everything needed to fix them: place, key, reason, and the nearest valid value.

use std::fmt;
use std::sync::Arc;

use ackclock_core::limits;

use crate::scenario::text::shortened;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nowhere: a default, or a value made in Python.
    Nowhere,
    /// On a line of the file, from 1.
    Line(usize),
    /// On a line of a table that a key of the file names.
    Row(usize),
    /// In a setting from the command line, or in a cell of a table.
    Elsewhere(Arc<str>),
}

/// One problem of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: Option<usize>,
    /// Column of the file, from 1; only for text that is not TOML or JSON.
    pub column: Option<usize>,
    /// The setting that caused the problem, such as `--set flow.rwnd=5`, or the cell of a table, instead of a line.
    pub setting: Option<String>,
    /// Dotted path of the key; empty for the file as a whole.
    pub key: String,
    /// What is wrong, why, and the nearest valid value.
    pub message: String,
}

/// All problems of a scenario, in the order of the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Name of the file.
    pub file: String,
    /// At least one problem.
    pub problems: Vec<Problem>,
    /// Number of further problems, which were not kept.
    pub more: usize,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(SHOWN).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            match &problem.setting {
                Some(setting) => f.write_str(setting)?,
                None => f.write_str(&self.file)?,
            }
            for place in [problem.line, problem.column].into_iter().flatten() {
                write!(f, ":{place}")?;
            }
            if !problem.key.is_empty() {
                write!(f, ": {}", problem.key)?;
            }
            write!(f, ": {}", problem.message)?;
        }
        match self.problems.len().saturating_sub(SHOWN) + self.more {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// Problems that a message shows.
const SHOWN: usize = limits::PROBLEMS.most as usize;
/// Problems that are kept, so that the first lines among them can be shown.
const KEPT: usize = 50 * SHOWN;

/// Collects problems: all of a file that a person has written, and the number of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problems {
    kept: Vec<Problem>,
    more: usize,
}

impl Problems {
    /// Adds the problem `message` of the key `key`, whose value was written at `origin`.
    pub(crate) fn add(&mut self, origin: &Origin, key: impl Into<String>, message: impl Into<String>) {
        let (line, setting) = match origin {
            Origin::Nowhere | Origin::Row(_) => (None, None),
            Origin::Line(line) => (Some(*line), None),
            Origin::Elsewhere(text) => (None, Some(text.to_string())),
        };
        let key = key.into().split('.').map(shortened).collect::<Vec<_>>().join(".");
        self.push(Problem { line, column: None, setting, key, message: message.into() });
    }

    /// Adds a syntax error at a line and column.
    pub(crate) fn add_syntax(&mut self, (line, column): (usize, usize), message: impl Into<String>) {
        let (line, column) = (Some(line), Some(column));
        self.push(Problem { line, column, setting: None, key: String::new(), message: message.into() });
    }

    fn push(&mut self, problem: Problem) {
        if self.kept.len() < KEPT {
            self.kept.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Whether there are more problems than a message shows. What a value contains is then of no use any more.
    pub(crate) fn too_many(&self) -> bool {
        self.kept.len() > SHOWN
    }

    /// Whether a problem concerns the top-level key `top` or a key below it.
    pub(crate) fn concerns(&self, top: &str) -> bool {
        self.more > 0 || self.kept.iter().any(|problem| problem.key.split('.').next() == Some(top))
    }

    /// Whether there is a problem with the key `key`.
    pub(crate) fn about(&self, key: &str) -> bool {
        self.more > 0 || self.kept.iter().any(|problem| problem.key == key)
    }

    /// Whether there is a problem with the key `key` or a key below it.
    pub(crate) fn about_any(&self, key: &str) -> bool {
        self.more > 0
            || self.kept.iter().any(|problem| problem.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// Whether there is no problem.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// `value` if there are no problems.
    pub(crate) fn unless_any<T>(mut self, file: &str, value: T) -> Result<T, ScenarioError> {
        if self.kept.is_empty() {
            return Ok(value);
        }
        self.kept.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        self.kept.dedup();
        Err(ScenarioError { file: file.to_owned(), problems: self.kept, more: self.more })
    }
}
