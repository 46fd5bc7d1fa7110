//! Logs in the format qlog for Python: from the columns of traces, in the order of time.

use ackclock_core::units::Duration;
use ackclock_wire::qlog::{Dialect, Event, Form, Head, Metrics, Packet, Parameters, Writer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

/// Bytes of an event in a file, roughly.
const EVENT: usize = 150;

/// A flow as columns: arrays of numbers of the machine's byte order, each in the order of time. Times are in nanoseconds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Flow {
    title: String,
    description: String,
    /// When the connection began, and whether all was sent and acknowledged.
    started: Option<u64>,
    completed: bool,
    /// Nanoseconds.
    timer_granularity: u64,
    /// Bytes.
    smss: Option<u64>,
    initial_window: Option<u64>,
    /// Packets of the sender and ACKs: time (u64), number (u32), whether it is an ACK (u8), bytes (u32).
    packets: (PyBackedBytes, PyBackedBytes, PyBackedBytes, PyBackedBytes),
    /// Segments deemed lost: time (u64), number (u32).
    lost: (PyBackedBytes, PyBackedBytes),
    /// Metrics by name: time (u64), value (u64) in nanoseconds, bytes or bit/s.
    metrics: Vec<(String, PyBackedBytes, PyBackedBytes)>,
    /// States: time, name, trigger.
    states: Vec<(u64, String, Option<String>)>,
}

/// The numbers of a column.
fn longs(bytes: &[u8]) -> impl ExactSizeIterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|number| u64::from_ne_bytes(*number))
}

fn shorts(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|number| u32::from_ne_bytes(*number))
}

/// Where a metric's value belongs.
fn set(metrics: &mut Metrics, name: &str, value: u64) -> Result<(), String> {
    let time = Some(Duration::from_nanos(value));
    match name {
        "min_rtt" => metrics.min_rtt = time,
        "smoothed_rtt" => metrics.smoothed_rtt = time,
        "latest_rtt" => metrics.latest_rtt = time,
        "rto" => metrics.rto = time,
        "congestion_window" => metrics.congestion_window = Some(value),
        "bytes_in_flight" => metrics.bytes_in_flight = Some(value),
        "ssthresh" => metrics.ssthresh = Some(value),
        "pacing_rate" => metrics.pacing_rate = Some(value),
        _ => return Err(format!("there is no metric {name:?}")),
    }
    Ok(())
}

impl Flow {
    /// Number of its rows.
    fn rows(&self) -> usize {
        let metrics: usize = self.metrics.iter().map(|(_, times, _)| times.len() / 8).max().unwrap_or_default();
        (self.packets.0.len() + self.lost.0.len()) / 8 + metrics + self.states.len()
    }

    /// Writes its events. What has one time comes in the order of causes: a packet arrives, segments count as lost, the state changes,
    /// packets leave; the metrics are those after all of that.
    fn write(&self, writer: &mut Writer) -> Result<(), String> {
        writer.trace(&Head { title: &self.title, description: &self.description, server: Some(true) });
        if let Some(started) = self.started {
            writer.event(started, &Event::Started);
            let parameters = Parameters {
                timer_granularity: Duration::from_nanos(self.timer_granularity),
                max_datagram_size: self.smss,
                initial_congestion_window: self.initial_window,
                ..Parameters::default()
            };
            writer.event(started, &Event::Parameters(parameters));
        }
        let (times, numbers, acks, sizes) = &self.packets;
        let rows = longs(times).zip(shorts(numbers)).zip(acks.iter().zip(shorts(sizes)));
        let mut packets = rows.map(|((at, number), (ack, size))| (at, number, *ack != 0, size)).peekable();
        let mut lost = longs(&self.lost.0).zip(shorts(&self.lost.1)).peekable();
        let mut states = self.states.iter().peekable();
        let mut series: Vec<_> =
            self.metrics.iter().map(|(name, times, values)| (name.as_str(), longs(times).zip(longs(values)).peekable())).collect();
        let (mut metrics, mut acknowledged, mut state, mut last) = (Metrics::default(), 0, None, self.started.unwrap_or_default());
        let mut highest = 0;
        loop {
            let heads = [packets.peek().map(|row| row.0), lost.peek().map(|row| row.0), states.peek().map(|row| row.0)];
            let first = series.iter_mut().filter_map(|(_, rows)| Some(rows.peek()?.0)).chain(heads.into_iter().flatten()).min();
            let Some(at) = first else { break };
            last = at;
            while let Some((_, number, _, size)) = packets.next_if(|row| row.0 == at && row.2) {
                // The number beyond the last segment also counts a FIN that the segment carries.
                let next = number.min(highest + 1);
                // A duplicate acknowledges again what the last ACK did.
                let acked = (next > 0).then(|| (u64::from(if next > acknowledged { acknowledged } else { next - 1 }), u64::from(next - 1)));
                acknowledged = acknowledged.max(next);
                writer.event(at, &Event::Received(Packet { acked, length: u64::from(size), ..Packet::default() }));
            }
            while let Some((_, number)) = lost.next_if(|row| row.0 == at) {
                writer.event(at, &Event::Lost(u64::from(number)));
            }
            while let Some((_, new, trigger)) = states.next_if(|row| row.0 == at) {
                writer.event(at, &Event::State(state, new, trigger.as_deref()));
                state = Some(new.as_str());
            }
            while let Some((_, number, _, size)) = packets.next_if(|row| row.0 == at && !row.2) {
                highest = highest.max(number);
                writer.event(at, &Event::Sent(Packet { number: Some(u64::from(number)), length: u64::from(size), ..Packet::default() }));
            }
            // More arrives at the same time.
            if packets.peek().is_some_and(|row| row.0 == at) {
                continue;
            }
            for (name, rows) in &mut series {
                while let Some((_, value)) = rows.next_if(|row| row.0 == at) {
                    set(&mut metrics, name, value)?;
                }
            }
            writer.event(at, &Event::Metrics(metrics));
        }
        if self.completed {
            writer.event(last, &Event::Closed);
        }
        Ok(())
    }
}

/// A file of these flows. A sequential one has a single flow.
#[pyfunction]
#[pyo3(signature = (title, flows, *, dialect="current", sequential=false))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn qlog<'py>(py: Python<'py>, title: &str, flows: Vec<Flow>, dialect: &str, sequential: bool) -> PyResult<Bound<'py, PyBytes>> {
    let found = Dialect::ALL.iter().find(|(name, _)| *name == dialect);
    let (_, dialect) = *found.ok_or_else(|| PyValueError::new_err(format!("there is no dialect {dialect:?} of qlog")))?;
    if sequential && flows.len() != 1 {
        return Err(PyValueError::new_err("a sequential file has one flow"));
    }
    let text = py.detach(|| {
        let form = if sequential { Form::Sequential } else { Form::Contained };
        let mut writer = Writer::new(dialect, form, title);
        writer.reserve(EVENT * flows.iter().map(Flow::rows).sum::<usize>());
        flows.iter().try_for_each(|flow| flow.write(&mut writer)).map(|()| writer.finish())
    });
    Ok(PyBytes::new(py, text.map_err(PyValueError::new_err)?.as_bytes()))
}
