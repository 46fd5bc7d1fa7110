//! The packets of a script as files: a capture for Wireshark, and a log in the format qlog.

use ackclock_core::units::Duration;
use ackclock_wire::pcapng::{self, Direction as Way, Writer};
use ackclock_wire::qlog::{self, Dialect, Event, Form, Head, Metrics, Tcp};

use crate::outcome::{Crossing, Outcome};
use crate::packet::Packet;
use crate::script::{Direction, Flags};

/// `tcpi_snd_ssthresh` before the first reduction.
const INFINITE: u64 = 0x7FFF_FFFF;

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

    /// The packets, and the sender's metrics whenever they change, as qlog. `title`: name of the script.
    pub fn qlog(&self, title: &str) -> String {
        let mut writer = qlog::Writer::new(Dialect::Current, Form::Contained, title);
        writer.trace(&Head { title, description: "the stack under test", server: None });
        for crossing in &self.crossings {
            let at = crossing.at.as_nanos();
            let decoded = Packet::decode(&crossing.bytes).ok();
            let flags: String = decoded.iter().flat_map(letters).collect();
            let tcp = decoded.as_ref().map(|packet| Tcp {
                flags: &flags,
                sequence: packet.seq,
                acknowledgment: packet.ack,
                window: packet.window,
                text: &crossing.text,
            });
            let length = crossing.bytes.len() as u64;
            let payload = decoded.as_ref().map(|packet| packet.payload.len() as u64);
            let packet = qlog::Packet { length, payload, tcp, ..qlog::Packet::default() };
            writer.event(at, &if crossing.direction == Direction::In { Event::Received(packet) } else { Event::Sent(packet) });
            writer.event(at, &Event::Metrics(metrics(&crossing.info)));
        }
        writer.finish()
    }
}

/// The flags of a packet as letters.
fn letters(packet: &Packet) -> impl Iterator<Item = char> {
    Flags::LETTERS.iter().filter(|(_, bit)| packet.has(*bit)).map(|(letter, _)| *letter)
}

/// The metrics among the variables of `TCP_INFO`: times in microseconds, windows in segments.
fn metrics(info: &[(&'static str, i64)]) -> Metrics {
    let find = |name: &str| info.iter().find(|(known, _)| *known == name).and_then(|(_, value)| u64::try_from(*value).ok());
    let time = |name| find(name).map(|micros| Duration::from_nanos(micros.saturating_mul(1000)));
    let size = find("tcpi_snd_mss").unwrap_or(1);
    let bytes = |name| find(name).map(|segments| segments * size);
    Metrics {
        min_rtt: time("tcpi_min_rtt"),
        smoothed_rtt: time("tcpi_rtt"),
        rtt_variance: time("tcpi_rttvar"),
        rto: time("tcpi_rto"),
        congestion_window: bytes("tcpi_snd_cwnd"),
        bytes_in_flight: bytes("tcpi_unacked"),
        ssthresh: bytes("tcpi_snd_ssthresh").filter(|_| find("tcpi_snd_ssthresh").is_some_and(|value| value < INFINITE)),
        ..Metrics::default()
    }
}
