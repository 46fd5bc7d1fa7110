//! Refusals: what is wrong with a request or its scenario, and where.

use ackclock_sim::engine::RunError;
use ackclock_sim::scenario::ScenarioError;
use serde_json::{Value as Json, json};

/// The reason why a request has no other answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    problems: Vec<Json>,
    text: String,
}

impl Refusal {
    /// At a line and column, from 1, of the scenario's text.
    pub(crate) fn at(mut self, line: usize, column: usize) -> Self {
        for problem in &mut self.problems {
            problem["line"] = line.into();
            problem["column"] = column.into();
        }
        self.text = format!("{line}:{column}: {}", self.text);
        self
    }

    /// The header of its frame.
    pub(crate) fn header(self) -> Json {
        json!({ "error": { "problems": self.problems, "text": self.text } })
    }
}

/// A problem of one key.
pub(crate) fn problem(key: &str, message: &str) -> Refusal {
    let text = if key.is_empty() { message.to_owned() } else { format!("{key}: {message}") };
    let place = json!({ "line": null, "column": null, "setting": null, "key": key, "message": message });
    Refusal { problems: vec![place], text }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        problem("", &message)
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        error.to_string().into()
    }
}

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Self {
        let problems = error
            .problems
            .iter()
            .map(|it| json!({ "line": it.line, "column": it.column, "setting": it.setting, "key": it.key, "message": it.message }));
        Self { problems: problems.collect(), text: error.to_string() }
    }
}
