//! An open run: advances, and gives the rows that are new.

use ackclock_core::units::{Duration, Instant};
use ackclock_sim::columns::seconds;
use ackclock_sim::columns::traces::{TraceColumn, Values};
use ackclock_sim::completion::{BYTE_CLASSES, CLASSES};
use ackclock_sim::engine::{Prepared, RunError, Summary, digest};
use ackclock_sim::scenario::{Scenario, TraceKind};
use serde_json::{Map, Value as Json, json};

use crate::answers::{outline, read};
use crate::error::{Refusal, problem};
use crate::frame::{Columns, with};
use crate::request::Opening;

/// A run.
pub(crate) struct Run {
    scenario: Scenario,
    hash: String,
    prepared: Prepared<'static>,
    /// All events before this time, in seconds, are processed.
    time: f64,
    /// What was sent of each recorded trace.
    sent: Vec<Sent>,
}

/// What was sent of a trace.
struct Sent {
    kind: TraceKind,
    rows: usize,
    /// The words of each column, in the order of their codes.
    words: Vec<Vec<&'static str>>,
}

impl Run {
    /// Sets up a run.
    pub(crate) fn new(opening: Opening) -> Result<Self, Refusal> {
        let (source, record) = opening.parts();
        let (mut scenario, frozen) = read(&source)?.scenario_and_frozen()?;
        if scenario.placeholder {
            return Err("a congestion control or slow start is a Python object, which cannot run here".to_owned().into());
        }
        if let Some(names) = record {
            let kinds = names.iter().map(|name| TraceKind::named(name)).collect::<Result<_, _>>();
            scenario.record = kinds.map_err(|message| problem("record", &message))?;
        }
        let recorded = TraceKind::ALL.iter().filter(|(_, kind)| scenario.record.contains(kind));
        let sent = recorded.map(|&(_, kind)| Sent { kind, rows: 0, words: Vec::new() }).collect();
        let prepared = Prepared::owning(scenario.clone())?;
        Ok(Self { scenario, hash: digest(&frozen), prepared, time: 0.0, sent })
    }

    /// The scenario.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What a page shows of the scenario.
    pub(crate) fn outline(&self) -> Json {
        outline(&self.scenario)
    }

    /// Processes the events before `until` seconds, at most `events` of them. Answers with the rows that are new.
    pub(crate) fn advance(
        &mut self,
        number: u32,
        (until, events): (Option<f64>, Option<u64>),
        columns: &mut Columns,
    ) -> Result<Json, Refusal> {
        let end = Instant::ZERO + self.scenario.duration;
        let until = until.map_or(end, |seconds| instant(seconds).min(end));
        self.prepared.limit(events.map_or(u64::MAX, |most| self.prepared.events().saturating_add(most)));
        let (time, done) = match self.prepared.advance(until, &mut || false) {
            Ok(()) => (until.as_secs_f64(), until == end),
            // The next event is too many: the run can go on from there.
            Err(RunError::Events { at, .. }) => (at, false),
            Err(error) => return Err(error.into()),
        };
        self.time = self.time.max(time);
        let mut tables = Map::new();
        if let Some(traces) = self.prepared.traces() {
            for sent in &mut self.sent {
                let found = traces.columns_from(sent.kind, sent.rows).unwrap_or_default();
                tables.insert(sent.kind.name().to_owned(), sent.table(&found, columns));
            }
        }
        let (events, duration) = (self.prepared.events(), end.as_secs_f64());
        Ok(json!({ "run": number, "time": self.time, "duration": duration, "events": events, "done": done, "tables": tables }))
    }

    /// Runs what is left. Answers with the summary and the digest.
    pub(crate) fn finish(mut self) -> Result<Json, Refusal> {
        self.prepared.limit(u64::MAX);
        let result = self.prepared.run(&mut || false)?;
        let (scenario, hash) = (&self.scenario, self.hash);
        let summary = Summary { scenario, hash, result: &result, classes: &CLASSES, byte_classes: &BYTE_CLASSES, cpu_seconds: None };
        let summary = serde_json::to_value(&summary).map_err(|error| error.to_string())?;
        Ok(json!({ "summary": summary, "digest": result.digest() }))
    }
}

/// The time `seconds` after the start; 0 if it is negative.
fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds.max(0.0))
}

impl Sent {
    /// Adds the columns of the rows that are new, and describes them.
    fn table(&mut self, found: &[TraceColumn<'_>], columns: &mut Columns) -> Json {
        let mut rows = 0;
        self.words.resize(found.len(), Vec::new());
        let described = found.iter().zip(&mut self.words).map(|(column, words)| {
            let (name, length) = (column.name, column.values.len());
            rows = length;
            match &column.values {
                Values::Seconds(nanos) => columns.doubles(name, nanos.iter().map(|&nanos| seconds(nanos))),
                Values::MaybeSeconds(nanos) => columns.doubles(name, nanos.iter().map(|nanos| nanos.map_or(f64::NAN, seconds))),
                Values::Whole(numbers) => columns.doubles(name, numbers.iter().map(|&number| number as f64)),
                Values::Numbers(numbers) => columns.doubles(name, numbers.iter().copied()),
                Values::Short(numbers) => columns.wholes(name, numbers.iter().copied()),
                Values::Flows(indices) => with(columns.wholes(name, indices.iter().copied()), "names", json!("flows")),
                Values::Links(indices) => with(columns.wholes(name, indices.iter().copied()), "names", json!("links")),
                Values::Words(found) => {
                    let described = columns.bytes(name, found.iter().map(|word| code(words, word)));
                    with(described, "words", json!(words))
                }
            }
        });
        let described: Vec<Json> = described.collect();
        self.rows += rows;
        json!({ "rows": rows, "columns": described })
    }
}

/// The code of `word`; a new word gets the next code. All parts together have fewer quantities than there are codes.
fn code(words: &mut Vec<&'static str>, word: &'static str) -> u8 {
    let known = words.iter().position(|known| *known == word);
    known.unwrap_or_else(|| {
        words.push(word);
        words.len() - 1
    }) as u8
}
