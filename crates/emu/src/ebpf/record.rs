//! The record of an event, as `bpf/record.h` declares it.

use ackclock_kernel::Program;

/// What a record reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An ACK arrived: the parts have observed it, and the window is still the one before it.
    Arrived,
    /// The window may have grown by the last ACK that arrived.
    Grew,
    /// Congestion: the threshold is reduced, and the kernel goes on to reduce the window.
    Reduced,
    /// The reduction was spurious.
    Undone,
}

/// Number of places for quantities.
const QUANTITIES: usize = 12;
/// Those of each axis.
const QUANTITIES_PER_AXIS: usize = 4;
/// Size in bytes.
const SIZE: usize = 152;
/// The threshold of a connection that has none.
const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// A quantity of one: 20 fraction bits.
const ONE: f64 = (1_u32 << 20) as f64;
/// A quantity without a value.
const NONE: i64 = i64::MIN;

/// A record of the ring buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Time in nanoseconds of the monotonic clock.
    pub time: u64,
    /// The socket's own address and port.
    pub source: ([u8; 4], u16),
    /// Address and port of the other end.
    pub peer: ([u8; 4], u16),
    /// The event.
    pub event: Event,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow start threshold in segments, if there is one.
    pub ssthresh: Option<u32>,
    /// Segments in flight.
    pub inflight: u32,
    /// Round-trip time in microseconds that the ACK shows, if any.
    pub rtt: Option<u32>,
    /// Smoothed round-trip time in microseconds, if there is one.
    pub srtt: Option<u32>,
    /// Retransmission timeout in ticks of the kernel.
    pub rto: u32,
    /// The parts' quantities: four places for each of slow start, avoidance and loss response.
    pub quantities: [Option<f64>; QUANTITIES],
}

impl Record {
    /// The record that the ring buffer has as `bytes`; `None` if they are none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SIZE] = bytes.try_into().ok()?;
        let address = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let word = |at: usize| u32::from_ne_bytes(address(at));
        let port = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let long = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let known = |value: u32| (value != 0).then_some(value);
        let event = match bytes[20] {
            1 => Event::Arrived,
            2 => Event::Grew,
            3 => Event::Reduced,
            4 => Event::Undone,
            _ => return None,
        };
        let quantity = |index: usize| {
            let value = long(56 + 8 * index).cast_signed();
            (value != NONE).then_some(value as f64 / ONE)
        };
        Some(Self {
            time: long(0),
            source: (address(8), port(16)),
            peer: (address(12), port(18)),
            event,
            cwnd: word(24),
            ssthresh: Some(word(28)).filter(|&threshold| threshold < NO_THRESHOLD),
            inflight: word(32),
            rtt: known(word(40)),
            srtt: known(word(44)),
            rto: word(48),
            quantities: std::array::from_fn(quantity),
        })
    }
}

/// One record for each ACK: the parts' quantities after the window has grown, at the time at which the ACK arrived.
pub fn per_ack(records: &[Record]) -> Vec<Record> {
    let mut acks: Vec<Record> = Vec::new();
    for record in records {
        match record.event {
            Event::Arrived => acks.push(*record),
            Event::Grew => {
                let of_same = |ack: &&mut Record| (ack.source, ack.peer) == (record.source, record.peer);
                if let Some(ack) = acks.iter_mut().rev().find(of_same) {
                    *ack = Record { time: ack.time, event: Event::Arrived, rtt: ack.rtt, ..*record };
                }
            }
            Event::Reduced | Event::Undone => {}
        }
    }
    acks
}

/// The places of the quantities of a program's parts in [`Record::quantities`], by name. A quantity of several parts is listed once, as in
/// traces of the simulation.
pub(crate) fn quantities(program: &Program) -> Vec<(usize, &'static str)> {
    let mut all: Vec<(usize, &'static str)> = Vec::new();
    // The parts are in the order of the record's axes: slow start, avoidance, loss response.
    for (axis, part) in program.parts().iter().enumerate() {
        let declared = part.entry().map(|entry| entry.quantities).unwrap_or_default();
        for (index, quantity) in declared.iter().enumerate().take(QUANTITIES_PER_AXIS) {
            if all.iter().all(|(_, name)| *name != quantity.name) {
                all.push((QUANTITIES_PER_AXIS * axis + index, quantity.name));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use ackclock_core::cc::{avoidance, loss_response, slow_start};

    use super::*;
    use crate::ebpf::testing::part;

    const HEADER: &str = include_str!("../../bpf/record.h");

    /// Offset and size of every field of `struct ack_record`, from its declaration.
    fn fields() -> Vec<(&'static str, usize, usize)> {
        let body = HEADER.split("struct ack_record {").nth(1).unwrap().split("};").next().unwrap();
        let mut at = 0;
        let mut fields = Vec::new();
        for line in body.lines().filter_map(|line| line.trim().split(';').next()).filter(|line| line.starts_with("__")) {
            let (kind, name) = line.split_once(' ').unwrap();
            let size = kind[3..].parse::<usize>().unwrap() / 8;
            let (name, count) = name.split_once('[').map_or((name, 1), |(name, _)| (name, QUANTITIES));
            assert_eq!(at % size, 0, "{name} is aligned");
            fields.push((name, at, size * count));
            at += size * count;
        }
        fields
    }

    #[test]
    fn the_header_declares_the_same_fields_at_the_same_places() {
        let fields = fields();
        let (_, at, size) = fields[fields.len() - 1];
        assert_eq!(at + size, SIZE);
        let offset = |name| fields.iter().find(|field| field.0 == name).unwrap().1;
        let places = [
            ("time", 0),
            ("source", 8),
            ("peer", 12),
            ("source_port", 16),
            ("peer_port", 18),
            ("event", 20),
            ("cwnd", 24),
            ("ssthresh", 28),
            ("inflight", 32),
            ("rtt", 40),
            ("srtt", 44),
            ("rto", 48),
            ("quantities", 56),
        ];
        for (name, place) in places {
            assert_eq!(offset(name), place, "{name}");
        }
        assert!(HEADER.contains(&format!("#define QUANTITIES {QUANTITIES}\n")));
        assert!(HEADER.contains(&format!("#define QUANTITIES_AVOIDANCE {QUANTITIES_PER_AXIS}\n")));
        assert!(HEADER.contains("#define QUANTITY_BITS 20\n"));
    }

    #[test]
    fn a_record_is_read_from_its_bytes() {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&(7_u64 << 40 | 5).to_ne_bytes());
        bytes[8..12].copy_from_slice(&[10, 0, 1, 1]);
        bytes[16..18].copy_from_slice(&4000_u16.to_ne_bytes());
        bytes[20] = 2;
        bytes[24..28].copy_from_slice(&10_u32.to_ne_bytes());
        bytes[28..32].copy_from_slice(&NO_THRESHOLD.to_ne_bytes());
        bytes[40..44].copy_from_slice(&1234_u32.to_ne_bytes());
        bytes[56..64].copy_from_slice(&(-(3_i64 << 19)).to_ne_bytes());
        bytes[64..72].copy_from_slice(&NONE.to_ne_bytes());
        let record = Record::parse(&bytes).unwrap();
        assert_eq!((record.time, record.source, record.event), (7 << 40 | 5, ([10, 0, 1, 1], 4000), Event::Grew));
        assert_eq!((record.cwnd, record.ssthresh, record.rtt, record.srtt), (10, None, Some(1234), None));
        assert_eq!(record.quantities[..3], [Some(-1.5), None, Some(0.0)]);
        assert_eq!(Record::parse(&bytes[1..]), None, "too short");
        let other = Record { source: ([10, 0, 2, 1], 4000), event: Event::Arrived, time: 3, ..record };
        let first = Record { event: Event::Arrived, time: 1, cwnd: 9, rtt: Some(7), ..record };
        let merged = Record { time: 1, event: Event::Arrived, rtt: Some(7), ..record };
        let reduced = Record { event: Event::Reduced, ..record };
        assert_eq!(per_ack(&[first, other, record, reduced]), [merged, other], "growth belongs to the ACK of its connection");
        bytes[20] = 9;
        assert_eq!(Record::parse(&bytes), None, "no such event");
    }

    #[test]
    fn each_quantity_has_one_place() {
        let parts = vec![
            part(&slow_start::AXIS, "search", &[]),
            part(&avoidance::AXIS, "bandwidth_ratio", &[]),
            part(&loss_response::AXIS, "westwood", &[]),
        ];
        let expected = [(0, "bin_duration"), (1, "norm"), (4, "bwe"), (5, "bwe_avg"), (6, "bwe_max"), (7, "delta")];
        assert_eq!(quantities(&Program::new(parts, f64::INFINITY)), expected);
    }

    #[test]
    fn no_part_with_a_program_has_more_quantities_than_places() {
        let programs = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("bpf");
        let mut known = 0;
        for axis in [&slow_start::AXIS, &avoidance::AXIS, &loss_response::AXIS] {
            for entry in axis.parts().iter().filter(|entry| programs.join(axis.name).join(format!("{}.h", entry.name)).exists()) {
                assert!(entry.quantities.len() <= QUANTITIES_PER_AXIS, "{}", entry.name);
                known += 1;
            }
        }
        assert!(known > 10, "{known}");
    }
}
