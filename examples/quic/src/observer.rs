//! Watches the controls of an endpoint's connections.

use std::sync::{Arc, Mutex};

use ackclock_host::{Controls, SharedSeat};

/// Keeps the seat of the latest connection.
#[derive(Clone, Default)]
pub(crate) struct Observer(Arc<Mutex<Option<SharedSeat>>>);

impl Observer {
    /// The controls of this name, which the observer watches.
    pub(crate) fn controls(&self, name: &str) -> Result<Controls, String> {
        let latest = Arc::clone(&self.0);
        Ok(Controls::parse(name)?.watch(move |seat| *latest.lock().unwrap() = Some(seat)))
    }

    /// Window, and how slow start has ended.
    pub(crate) fn report(&self) -> String {
        let latest = self.0.lock().unwrap();
        let Some(seat) = &*latest else { return String::new() };
        seat.with(|seat| {
            let exit = seat.exit().get().map_or("slow start goes on".to_owned(), |(reason, at, cwnd)| {
                format!("slow start ended after {:.3} s at {cwnd:.0} packets by {}", at.as_secs_f64(), reason.name())
            });
            format!("cwnd {:.1} packets, {} reductions, {exit}", seat.window().cwnd, seat.reductions())
        })
    }
}
