//! Runs whose first flow has a witness before its control.

use std::sync::Arc;

use ackclock_core::cc::{CongestionControl, Court, Phase, Recipe, Testimony, Wants, Window, Witness};
use ackclock_core::events::{Ack, CongestionEvent, Established, Sent};
use ackclock_core::units::{Duration, Instant, Rate, Segments};
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{ControlSpec, Document};

/// A window of 40 segments at 20 Mbit/s that is halved at congestion, and a timer every 50 ms after a segment.
#[derive(Clone, Debug)]
struct Steady {
    cwnd: Segments,
    timer: Option<Instant>,
}

impl CongestionControl for Steady {
    fn on_established(&mut self, _event: &Established) {
        self.cwnd = 40.0;
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.timer = self.timer.or(Some(sent.now + Duration::from_millis(50)));
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.cwnd += f64::from(u8::from(ack.may_grow)) / self.cwnd;
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.cwnd = (self.cwnd / 2.0).max(event.least);
    }
    fn on_timer(&mut self, _now: Instant) {
        self.timer = None;
    }
    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: 2.0 }
    }
    fn paces(&self) -> bool {
        true
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_sec(20_000_000)
    }
    fn timer(&self) -> Option<Instant> {
        self.timer
    }
    fn owns_recovery(&self) -> bool {
        true
    }
    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}

/// A constant window.
#[derive(Clone, Debug)]
struct Constant(Segments);

impl CongestionControl for Constant {
    fn on_established(&mut self, _event: &Established) {}
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _event: &CongestionEvent) {}
    fn window(&self) -> Window {
        Window { cwnd: self.0, ssthresh: 2.0 }
    }
    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}

/// The control of a [`Recipe`], or one of this file: `steady`, or a constant window in segments, as `constant 20`.
pub(crate) fn control(recipe: &str) -> Box<dyn CongestionControl> {
    if recipe == "steady" {
        return Box::new(Steady { cwnd: 1.0, timer: None });
    }
    if let Some(cwnd) = recipe.strip_prefix("constant ") {
        return Box::new(Constant(cwnd.parse().unwrap()));
    }
    recipe.parse::<Recipe>().and_then(|recipe| recipe.build()).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs the scenario `text` with controls that `make` returns for the first flow, and what the witness before them says. `identifies`: whether
/// its host can tell which segments a duplicate ACK stands for.
pub(crate) fn witnessed(
    text: &str,
    make: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static,
    wants: Wants,
    identifies: bool,
) -> (RunResult, Testimony) {
    let document = Document::from_toml(text, "witnessed.toml");
    let mut scenario = document.and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let court = Court::default();
    let shared = Arc::clone(&court);
    scenario.flows[0].control =
        ControlSpec::Custom(Arc::new(move || Box::new(Witness::new(make(), wants, identifies, &shared)) as Box<dyn CongestionControl>));
    let result = run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let testimony = court.lock().unwrap().clone();
    (result, testimony)
}
