//! Answers requests and keeps the open runs.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value as Json, json};

use crate::answers::{check, describe};
use crate::edit::edit;
use crate::error::{Refusal, problem};
use crate::frame::{Columns, frame};
use crate::packets::packets;
use crate::path::path;
use crate::request::{Opening, Request};
use crate::run::Run;

/// Most runs that can be open.
pub const MOST_RUNS: usize = 64;

/// Answers requests, and keeps the open runs.
#[derive(Default)]
pub struct Laboratory {
    runs: BTreeMap<u32, Run>,
    /// Number of the last run that was opened.
    last: u32,
}

impl Laboratory {
    /// A laboratory without runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a request with a frame, as the [documentation of this crate](crate) describes.
    pub fn handle(&mut self, request: &str) -> Vec<u8> {
        let answer = caught(|| {
            let mut columns = Columns::default();
            let header = self.answer(request, &mut columns)?;
            Ok(frame(&header, &columns))
        });
        answer.unwrap_or_else(|refusal| frame(&refusal.header(), &Columns::default()))
    }

    fn answer(&mut self, request: &str, columns: &mut Columns) -> Result<Json, Refusal> {
        match serde_json::from_str(request).map_err(|error| format!("this is not a request: {error}"))? {
            Request::Describe {} => Ok(describe()),
            Request::Check(source) => check(&source),
            Request::Edit { text, set } => edit(&text, &set).map(|text| json!({ "text": text })),
            Request::Open(opening) => self.open(opening),
            Request::Advance { run: number, until, events } => {
                // A run that fails, or panics, is not put back.
                let mut run = self.take(number)?;
                let answer = run.advance(number, (until, events), columns)?;
                self.runs.insert(number, run);
                Ok(answer)
            }
            Request::Path { run: number } => {
                let run = self.take(number)?;
                let answer = path(number, run.scenario(), columns)?;
                self.runs.insert(number, run);
                Ok(answer)
            }
            Request::Finish { run } => self.take(run)?.finish(),
            Request::Packets(watching) => packets(watching, columns),
            Request::Close { run } => self.take(run).map(|_| json!({})),
        }
    }

    fn open(&mut self, opening: Opening) -> Result<Json, Refusal> {
        if self.runs.len() >= MOST_RUNS {
            return Err(problem("open", &format!("{MOST_RUNS} runs are open; finish or close one of them")));
        }
        let run = Run::new(opening)?;
        let scenario = run.outline();
        self.last += 1;
        self.runs.insert(self.last, run);
        Ok(json!({ "run": self.last, "scenario": scenario }))
    }

    fn take(&mut self, number: u32) -> Result<Run, Refusal> {
        let open = || match self.runs.len() {
            0 => "no run is open".to_owned(),
            _ => format!("open: {}", self.runs.keys().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        };
        let missing = problem("run", &format!("there is no run {number} ({})", open()));
        self.runs.remove(&number).ok_or(missing)
    }
}

/// The value of `answer`; a panic becomes a refusal.
fn caught<T>(answer: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    // The only state that outlives a panic is the map of runs, from which a run is removed while it works.
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|panic| Err(format!("internal error: {}", message(&*panic)).into()))
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message")
}
