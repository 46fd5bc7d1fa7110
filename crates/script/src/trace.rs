//! The packets of a script as files: a capture for Wireshark, and a log in the manner of qlog.
//!
//! ## References
//! draft-ietf-quic-qlog-main-schema (file, trace, event) and draft-ietf-quic-qlog-quic-events (names of the fields of recovery metrics). The
//! events of TCP have no schema yet; they are called `tcp:packet_sent`, `tcp:packet_received` and `tcp:recovery_metrics_updated`.

use ackclock_wire::pcapng::{self, Direction as Way, Writer};
use serde_json::{Map, Value, json};

use crate::outcome::{Crossing, Outcome};
use crate::packet::Packet;
use crate::script::{Direction, Flags};

/// Where to look for a metric, and how it is called in the log; `true`: in segments, to be shown in bytes; `false`: in microseconds.
const METRICS: [(&str, &str, bool); 7] = [
    ("tcpi_snd_cwnd", "congestion_window", true),
    ("tcpi_snd_ssthresh", "ssthresh", true),
    ("tcpi_unacked", "bytes_in_flight", true),
    ("tcpi_rtt", "smoothed_rtt", false),
    ("tcpi_rttvar", "rtt_variance", false),
    ("tcpi_min_rtt", "min_rtt", false),
    ("tcpi_rto", "rto", false),
];
/// `tcpi_snd_ssthresh` before the first reduction.
const INFINITE: i64 = 0x7FFF_FFFF;

impl Outcome {
    /// The packets as a pcapng file, written by `program`; `name`: the interface.
    pub fn pcapng(&self, program: &str, name: &str) -> Vec<u8> {
        let mut writer = Writer::new(program);
        writer.interface(name, "the stack under test", None, 65_535);
        for Crossing { at, direction, bytes, .. } in &self.crossings {
            writer.packet(&pcapng::Packet {
                interface: 0,
                at: at.as_nanos(),
                headers: bytes,
                length: bytes.len() as u32,
                snaplen: 65_535,
                direction: if *direction == Direction::In { Way::Inbound } else { Way::Outbound },
                comment: None,
            });
        }
        writer.finish()
    }

    /// The packets, and the sender's metrics whenever they change, as JSON in the manner of qlog. `title`: name of the script.
    pub fn qlog(&self, title: &str) -> String {
        let mut events = Vec::new();
        let mut known = Map::new();
        for crossing in &self.crossings {
            let time = crossing.at.as_nanos() as f64 / 1e6;
            let name = if crossing.direction == Direction::In { "tcp:packet_received" } else { "tcp:packet_sent" };
            events.push(json!({ "time": time, "name": name, "data": packet(crossing) }));
            let changed = changed(&mut known, &crossing.info);
            if !changed.is_empty() {
                events.push(json!({ "time": time, "name": "tcp:recovery_metrics_updated", "data": changed }));
            }
        }
        let log = json!({
            "file_schema": "urn:ietf:params:qlog:file:contained",
            "serialization_format": "application/qlog+json",
            "title": title,
            "traces": [{
                "title": title,
                "vantage_point": { "name": "the stack under test of ackclock", "type": "unknown" },
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
                "events": events,
            }],
        });
        format!("{log:#}\n")
    }
}

/// The data of a packet's event.
fn packet(crossing: &Crossing) -> Value {
    let length = crossing.bytes.len();
    let Ok(packet) = Packet::decode(&crossing.bytes) else { return json!({ "raw": { "length": length } }) };
    let flags: String = Flags::LETTERS.iter().filter(|(_, bit)| packet.has(*bit)).map(|(letter, _)| *letter).collect();
    json!({
        "header": {
            "flags": flags,
            "sequence_number": packet.seq,
            "acknowledgment_number": packet.ack,
            "window": packet.window,
        },
        "raw": { "length": length, "payload_length": packet.payload.len() },
        "text": crossing.text,
    })
}

/// The metrics that differ from `known`, which takes the new values.
fn changed(known: &mut Map<String, Value>, info: &[(&'static str, i64)]) -> Map<String, Value> {
    let find = |name: &str| info.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let size = find("tcpi_snd_mss").unwrap_or(1);
    let mut changed = Map::new();
    for (name, metric, segments) in METRICS {
        let Some(value) = find(name).filter(|value| name != "tcpi_snd_ssthresh" || *value < INFINITE) else { continue };
        let value = if segments { json!(value * size) } else { json!(value as f64 / 1000.0) };
        if known.get(metric) != Some(&value) {
            known.insert(metric.to_owned(), value.clone());
            changed.insert(metric.to_owned(), value);
        }
    }
    changed
}
