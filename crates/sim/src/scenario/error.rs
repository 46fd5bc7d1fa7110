//! Problems of a scenario, with everything needed to fix them: place, key, reason, and the nearest valid value.

use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nowhere: a default, or a value made in Python.
    Nowhere,
    /// On a line of the file, from 1.
    Line(usize),
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
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
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
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// Collects problems.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds the problem `message` of the key `key`, whose value was written at `origin`.
    pub(crate) fn add(&mut self, origin: &Origin, key: impl Into<String>, message: impl Into<String>) {
        let (line, setting) = match origin {
            Origin::Nowhere => (None, None),
            Origin::Line(line) => (Some(*line), None),
            Origin::Elsewhere(text) => (None, Some(text.to_string())),
        };
        self.0.push(Problem { line, column: None, setting, key: key.into(), message: message.into() });
    }

    /// Adds a syntax error at a line and column.
    pub(crate) fn add_syntax(&mut self, (line, column): (usize, usize), message: impl Into<String>) {
        let (line, column) = (Some(line), Some(column));
        self.0.push(Problem { line, column, setting: None, key: String::new(), message: message.into() });
    }

    /// Whether a problem concerns the top-level key `top` or a key below it.
    pub(crate) fn concerns(&self, top: &str) -> bool {
        self.0.iter().any(|problem| problem.key.split('.').next() == Some(top))
    }

    /// Whether there is a problem with the key `key`.
    pub(crate) fn about(&self, key: &str) -> bool {
        self.0.iter().any(|problem| problem.key == key)
    }

    /// Whether there is a problem with the key `key` or a key below it.
    pub(crate) fn about_any(&self, key: &str) -> bool {
        self.0.iter().any(|problem| problem.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    }

    /// Whether there is no problem.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `value` if there are no problems.
    pub(crate) fn unless_any<T>(mut self, file: &str, value: T) -> Result<T, ScenarioError> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        self.0.dedup();
        Err(ScenarioError { file: file.to_owned(), problems: self.0 })
    }
}
