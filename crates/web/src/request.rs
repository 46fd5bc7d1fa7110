//! Requests: JSON, with no members other than those declared here.

use serde::Deserialize;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Request {
    /// What scenarios can say.
    Describe {},
    /// Checks a scenario.
    Check(Source),
    /// Edits a scenario's text.
    Edit { text: String, set: Vec<(String, Option<String>)> },
    /// Sets up a run.
    Open(Opening),
    /// Runs on.
    Advance { run: u32, until: Option<f64>, events: Option<u64> },
    /// Runs to the end.
    Finish { run: u32 },
    /// The path of a run over time.
    Path { run: u32 },
    /// Forgets a run.
    Close { run: u32 },
    /// The packets on all links in a part of a run.
    Packets(Watching),
}

/// A scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Its text.
    pub(crate) text: String,
    /// The file's name.
    pub(crate) name: Option<String>,
    /// Keys and values.
    #[serde(default)]
    pub(crate) settings: Vec<(String, String)>,
}

/// A scenario, and the traces to record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Opening {
    text: String,
    name: Option<String>,
    #[serde(default)]
    settings: Vec<(String, String)>,
    record: Option<Vec<String>>,
}

impl Opening {
    /// Both parts.
    pub(crate) fn parts(self) -> (Source, Option<Vec<String>>) {
        (Source { text: self.text, name: self.name, settings: self.settings }, self.record)
    }
}

/// Most packets of an answer, if the request names no number.
const MOST_PACKETS: usize = 20_000;

/// A scenario, and the part of its run whose packets are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Watching {
    text: String,
    name: Option<String>,
    #[serde(default)]
    settings: Vec<(String, String)>,
    from: f64,
    to: f64,
    most: Option<usize>,
    events: Option<u64>,
}

impl Watching {
    /// Scenario, times in seconds, the most packets, and the most events.
    pub(crate) fn parts(self) -> (Source, [f64; 2], usize, Option<u64>) {
        let source = Source { text: self.text, name: self.name, settings: self.settings };
        (source, [self.from, self.to], self.most.unwrap_or(MOST_PACKETS), self.events)
    }
}
