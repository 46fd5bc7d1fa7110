//! The file format qlog: what a sender sends, hears and decides, event by event, in the terms of QUIC.
//!
//! One dialect is that of the current drafts. The other is the older one (0.3) that the tool qvis reads. A stack that is not QUIC is
//! described in the same events, so that the same tools show it; what it does not know is absent.
//!
//! ## References
//! draft-ietf-quic-qlog-main-schema-13 (file, trace, event) and draft-ietf-quic-qlog-quic-events-12 (events and their fields); RFC 7464
//! (JSON text sequences); for the older dialect draft-ietf-quic-qlog-main-schema-02.

use std::fmt::Write as _;

use ackclock_core::units::Duration;

/// Begins each record of a JSON text sequence (RFC 7464 §2.2).
const RECORD: char = '\u{1e}';

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The current drafts.
    Current,
    /// Version 0.3, which qvis reads.
    Qvis,
}

impl Dialect {
    /// Every dialect, by its name in options.
    pub const ALL: [(&'static str, Self); 2] = [("current", Self::Current), ("qvis", Self::Qvis)];
}

/// How events follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON text with all traces.
    Contained,
    /// A JSON text sequence of one trace: the head, then a record for each event.
    Sequential,
}

/// The names of the events.
#[derive(Clone, Copy)]
enum Name {
    Started,
    Closed,
    Parameters,
    Sent,
    Received,
    Lost,
    Metrics,
    State,
}

impl Name {
    /// The name in a dialect.
    const fn text(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (Self::Started, Dialect::Current) => "quic:connection_started",
            (Self::Started, Dialect::Qvis) => "connectivity:connection_started",
            (Self::Closed, Dialect::Current) => "quic:connection_closed",
            (Self::Closed, Dialect::Qvis) => "connectivity:connection_closed",
            (Self::Parameters, Dialect::Current) => "quic:recovery_parameters_set",
            (Self::Parameters, Dialect::Qvis) => "recovery:parameters_set",
            (Self::Sent, Dialect::Current) => "quic:packet_sent",
            (Self::Sent, Dialect::Qvis) => "transport:packet_sent",
            (Self::Received, Dialect::Current) => "quic:packet_received",
            (Self::Received, Dialect::Qvis) => "transport:packet_received",
            (Self::Lost, Dialect::Current) => "quic:packet_lost",
            (Self::Lost, Dialect::Qvis) => "recovery:packet_lost",
            (Self::Metrics, Dialect::Current) => "quic:recovery_metrics_updated",
            (Self::Metrics, Dialect::Qvis) => "recovery:metrics_updated",
            (Self::State, Dialect::Current) => "quic:congestion_state_updated",
            (Self::State, Dialect::Qvis) => "recovery:congestion_state_updated",
        }
    }
}

/// Fields of a TCP header, beside those of QUIC.
#[derive(Clone, Debug)]
pub struct Tcp<'a> {
    /// Its flags as letters.
    pub flags: &'a str,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number.
    pub acknowledgment: u32,
    /// Window, as in the header.
    pub window: u16,
    /// The packet in words.
    pub text: &'a str,
}

/// A packet that was sent or received.
#[derive(Clone, Debug, Default)]
pub struct Packet<'a> {
    /// Its number, if it has one. For TCP the number of the segment: a retransmission has that of the original.
    pub number: Option<u64>,
    /// Numbers of the first and the last packet that it acknowledges.
    pub acked: Option<(u64, u64)>,
    /// Bytes with headers.
    pub length: u64,
    /// Bytes of data, if known.
    pub payload: Option<u64>,
    /// What TCP has beside.
    pub tcp: Option<Tcp<'a>>,
}

/// Quantities of a sender; `None`: unknown. The writer writes those that have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Smallest round-trip time.
    pub min_rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// The last round-trip time.
    pub latest_rtt: Option<Duration>,
    /// Variation of the round-trip time.
    pub rtt_variance: Option<Duration>,
    /// Retransmission timeout; not of QUIC.
    pub rto: Option<Duration>,
    /// Congestion window in bytes.
    pub congestion_window: Option<u64>,
    /// Bytes in flight.
    pub bytes_in_flight: Option<u64>,
    /// Slow start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// Pacing rate in bit/s.
    pub pacing_rate: Option<u64>,
}

/// What a sender was set to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters {
    /// Segments of higher number that make one count as lost.
    pub reordering_threshold: Option<u64>,
    /// Granularity of timers, which the schema demands.
    pub timer_granularity: Duration,
    /// Bytes of a segment.
    pub max_datagram_size: Option<u64>,
    /// Bytes of the first window.
    pub initial_congestion_window: Option<u64>,
}

/// An event.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The connection begins.
    Started,
    /// All was sent and acknowledged.
    Closed,
    /// The sender's parameters.
    Parameters(Parameters),
    /// A packet leaves.
    Sent(Packet<'a>),
    /// A packet arrives.
    Received(Packet<'a>),
    /// The packet of this number counts as lost.
    Lost(u64),
    /// The sender's quantities.
    Metrics(Metrics),
    /// The sender's state: the former one, the new one, and why.
    State(Option<&'a str>, &'a str, Option<&'a str>),
}

/// The head of a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// Its title.
    pub title: &'a str,
    /// Description; empty for none.
    pub description: &'a str,
    /// Whether the sender under test, who writes the log, accepted the connection; `None`: unknown.
    pub server: Option<bool>,
}

/// A file under construction.
#[derive(Debug)]
pub struct Writer {
    text: String,
    dialect: Dialect,
    form: Form,
    /// Traces so far.
    traces: usize,
    /// Events of the trace so far.
    events: usize,
    known: Metrics,
}

impl Writer {
    /// A file with this title. A sequential one has a single trace.
    pub fn new(dialect: Dialect, form: Form, title: &str) -> Self {
        let mut writer = Self { text: String::new(), dialect, form, traces: 0, events: 0, known: Metrics::default() };
        if form == Form::Sequential {
            writer.text.push(RECORD);
        }
        writer.text.push_str(match (dialect, form) {
            (Dialect::Current, Form::Contained) => {
                r#"{"file_schema":"urn:ietf:params:qlog:file:contained","serialization_format":"application/qlog+json","#
            }
            (Dialect::Current, Form::Sequential) => {
                r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","#
            }
            (Dialect::Qvis, Form::Contained) => r#"{"qlog_version":"0.3","qlog_format":"JSON","#,
            (Dialect::Qvis, Form::Sequential) => r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","#,
        });
        writer.text.push_str(r#""title":"#);
        writer.quote(title);
        if form == Form::Contained {
            writer.text.push_str(r#","traces":["#);
        }
        writer
    }

    /// Makes room for `bytes` more, so that a long file does not grow by copying.
    pub fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
    }

    /// Begins a trace, in which times do not decrease.
    ///
    /// # Panics
    /// If the file is sequential and has a trace.
    pub fn trace(&mut self, head: &Head<'_>) {
        assert!(self.form == Form::Contained || self.traces == 0, "a sequential file has one trace");
        match self.form {
            Form::Sequential => self.text.push_str(r#","trace":"#),
            Form::Contained if self.traces > 0 => self.text.push_str("]},\n"),
            Form::Contained => self.text.push('\n'),
        }
        (self.traces, self.events, self.known) = (self.traces + 1, 0, Metrics::default());
        self.text.push_str(r#"{"title":"#);
        self.quote(head.title);
        if !head.description.is_empty() {
            self.text.push_str(r#","description":"#);
            self.quote(head.description);
        }
        let side = match head.server {
            Some(true) => "server",
            Some(false) => "client",
            None => "unknown",
        };
        // Writing into a string cannot fail.
        let _ = write!(self.text, r#","vantage_point":{{"name":"ackclock","type":"{side}"}},"common_fields":"#);
        self.text.push_str(match self.dialect {
            Dialect::Current => {
                r#"{"time_format":"relative_to_epoch","reference_time":{"clock_type":"monotonic","epoch":"unknown"}},"event_schemas":["urn:ietf:params:qlog:events:quic-12"]"#
            }
            Dialect::Qvis => r#"{"time_format":"relative","reference_time":0}"#,
        });
        match self.form {
            Form::Contained => self.text.push_str(r#","events":["#),
            Form::Sequential => self.text.push_str("}}\n"),
        }
    }

    /// Adds an event at `at` nanoseconds.
    pub fn event(&mut self, at: u64, event: &Event<'_>) {
        match event {
            // Version 0.3 demands addresses.
            Event::Started if self.dialect == Dialect::Qvis => {}
            Event::Started => self.write(at, Name::Started, |text| text.push_str(r#""local":{},"remote":{}"#)),
            Event::Closed => self.write(at, Name::Closed, |text| text.push_str(r#""initiator":"local","trigger":"application""#)),
            Event::Parameters(parameters) => self.write(at, Name::Parameters, |text| put_parameters(text, parameters)),
            Event::Sent(packet) => self.write(at, Name::Sent, |text| put_packet(text, packet)),
            Event::Received(packet) => self.write(at, Name::Received, |text| put_packet(text, packet)),
            Event::Lost(number) => self.write(at, Name::Lost, |text| put_header(text, Some(*number))),
            Event::Metrics(metrics) => {
                let changed = self.known.change_to(metrics);
                if changed != Metrics::default() {
                    self.write(at, Name::Metrics, |text| put_metrics(text, &changed));
                }
            }
            &Event::State(old, new, trigger) => self.write(at, Name::State, |text| {
                let fields = [("old", old), ("new", Some(new)), ("trigger", trigger)];
                for (index, (key, value)) in fields.iter().filter_map(|(key, value)| Some((key, (*value)?))).enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    let _ = write!(text, r#"{comma}"{key}":"#);
                    put_quoted(text, value);
                }
            }),
        }
    }

    /// The file.
    pub fn finish(mut self) -> String {
        match self.form {
            Form::Contained if self.traces > 0 => self.text.push_str("]}]}\n"),
            Form::Contained => self.text.push_str("]}\n"),
            Form::Sequential => {}
        }
        self.text
    }

    fn write(&mut self, at: u64, name: Name, data: impl FnOnce(&mut String)) {
        let text = &mut self.text;
        match self.form {
            Form::Sequential => text.push(RECORD),
            Form::Contained if self.events > 0 => text.push_str(",\n"),
            Form::Contained => text.push('\n'),
        }
        self.events += 1;
        text.push_str(r#"{"time":"#);
        put_millis(text, at);
        text.push_str(r#","name":""#);
        text.push_str(name.text(self.dialect));
        text.push_str(r#"","data":{"#);
        data(text);
        text.push_str("}}");
        if self.form == Form::Sequential {
            text.push('\n');
        }
    }

    fn quote(&mut self, value: &str) {
        put_quoted(&mut self.text, value);
    }
}

impl Metrics {
    /// Takes the known values of `next`, and returns those that are new.
    fn change_to(&mut self, next: &Self) -> Self {
        fn change<T: Copy + PartialEq>(known: &mut Option<T>, next: Option<T>) -> Option<T> {
            let changed = next.filter(|_| *known != next);
            *known = changed.or(*known);
            changed
        }
        Self {
            min_rtt: change(&mut self.min_rtt, next.min_rtt),
            smoothed_rtt: change(&mut self.smoothed_rtt, next.smoothed_rtt),
            latest_rtt: change(&mut self.latest_rtt, next.latest_rtt),
            rtt_variance: change(&mut self.rtt_variance, next.rtt_variance),
            rto: change(&mut self.rto, next.rto),
            congestion_window: change(&mut self.congestion_window, next.congestion_window),
            bytes_in_flight: change(&mut self.bytes_in_flight, next.bytes_in_flight),
            ssthresh: change(&mut self.ssthresh, next.ssthresh),
            pacing_rate: change(&mut self.pacing_rate, next.pacing_rate),
        }
    }
}

/// The header of a packet. TCP has one number space, as QUIC has after its handshake.
fn put_header(text: &mut String, number: Option<u64>) {
    text.push_str(r#""header":{"packet_type":"1RTT""#);
    if let Some(number) = number {
        text.push_str(r#","packet_number":"#);
        put_whole(text, number);
    }
    text.push('}');
}

fn put_packet(text: &mut String, packet: &Packet<'_>) {
    put_header(text, packet.number);
    if let Some((first, last)) = packet.acked {
        text.push_str(r#","frames":[{"frame_type":"ack","acked_ranges":[["#);
        put_whole(text, first);
        text.push(',');
        put_whole(text, last);
        text.push_str("]]}]");
    }
    text.push_str(r#","raw":{"length":"#);
    put_whole(text, packet.length);
    if let Some(payload) = packet.payload {
        text.push_str(r#","payload_length":"#);
        put_whole(text, payload);
    }
    text.push('}');
    if let Some(Tcp { flags, sequence, acknowledgment, window, text: words }) = &packet.tcp {
        text.push_str(r#","tcp":{"flags":"#);
        put_quoted(text, flags);
        let _ = write!(text, r#","sequence_number":{sequence},"acknowledgment_number":{acknowledgment},"window":{window},"text":"#);
        put_quoted(text, words);
        text.push('}');
    }
}

fn put_metrics(text: &mut String, metrics: &Metrics) {
    let start = text.len();
    let key = |text: &mut String, key: &str| {
        if text.len() > start {
            text.push(',');
        }
        text.push('"');
        text.push_str(key);
        text.push_str("\":");
    };
    let times = [
        ("min_rtt", metrics.min_rtt),
        ("smoothed_rtt", metrics.smoothed_rtt),
        ("latest_rtt", metrics.latest_rtt),
        ("rtt_variance", metrics.rtt_variance),
        ("rto", metrics.rto),
    ];
    for (name, value) in times {
        if let Some(value) = value {
            key(text, name);
            put_millis(text, value.as_nanos());
        }
    }
    let counts = [
        ("congestion_window", metrics.congestion_window),
        ("bytes_in_flight", metrics.bytes_in_flight),
        ("ssthresh", metrics.ssthresh),
        ("pacing_rate", metrics.pacing_rate),
    ];
    for (name, value) in counts {
        if let Some(value) = value {
            key(text, name);
            put_whole(text, value);
        }
    }
}

fn put_parameters(text: &mut String, parameters: &Parameters) {
    text.push_str(r#""timer_granularity":"#);
    // Whole milliseconds, up to the schema's 16 bits.
    put_whole(text, parameters.timer_granularity.as_nanos().div_ceil(1_000_000).min(u64::from(u16::MAX)));
    let counts = [
        ("reordering_threshold", parameters.reordering_threshold),
        ("max_datagram_size", parameters.max_datagram_size),
        ("initial_congestion_window", parameters.initial_congestion_window),
    ];
    for (name, value) in counts {
        if let Some(value) = value {
            let _ = write!(text, r#","{name}":{value}"#);
        }
    }
}

/// Nanoseconds as milliseconds, exactly.
fn put_millis(text: &mut String, nanos: u64) {
    put_whole(text, nanos / 1_000_000);
    let mut rest = nanos % 1_000_000;
    if rest > 0 {
        let mut digits = [b'0'; 6];
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        let end = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        text.push('.');
        text.extend(digits[..end].iter().map(|digit| char::from(*digit)));
    }
}

/// A whole number; faster than the formatter, of which a long file would need millions of calls.
fn put_whole(text: &mut String, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] += (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// A text of JSON (RFC 8259 §7).
fn put_quoted(text: &mut String, value: &str) {
    text.push('"');
    for letter in value.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            letter if letter < ' ' => {
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(writer: &mut Writer) {
        writer.event(0, &Event::Started);
        let parameters =
            Parameters { timer_granularity: Duration::from_nanos(1_500_000), max_datagram_size: Some(1000), ..Parameters::default() };
        writer.event(0, &Event::Parameters(parameters));
        writer.event(1_050_000, &Event::Sent(Packet { number: Some(7), length: 1040, ..Packet::default() }));
        let metrics = Metrics { congestion_window: Some(10_000), latest_rtt: Some(Duration::from_nanos(1)), ..Metrics::default() };
        writer.event(2_000_000, &Event::Metrics(metrics));
        writer.event(2_500_000, &Event::Metrics(metrics));
        writer.event(3_000_000, &Event::Metrics(Metrics { ssthresh: Some(5), ..metrics }));
        writer.event(3_000_000, &Event::Received(Packet { acked: Some((0, 7)), length: 40, ..Packet::default() }));
        writer.event(3_000_000, &Event::State(Some("slow_start"), "recovery", Some("a \"b\"\\\n\u{1}")));
        writer.event(4_000_000, &Event::Lost(8));
        writer.event(1_000_000_000_001, &Event::Closed);
    }

    const WRITTEN: [&str; 8] = [
        r#"{"time":0,"name":"quic:recovery_parameters_set","data":{"timer_granularity":2,"max_datagram_size":1000}}"#,
        r#"{"time":1.05,"name":"quic:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":7},"raw":{"length":1040}}}"#,
        r#"{"time":2,"name":"quic:recovery_metrics_updated","data":{"latest_rtt":0.000001,"congestion_window":10000}}"#,
        r#"{"time":3,"name":"quic:recovery_metrics_updated","data":{"ssthresh":5}}"#,
        r#"{"time":3,"name":"quic:packet_received","data":{"header":{"packet_type":"1RTT"},"frames":[{"frame_type":"ack","acked_ranges":[[0,7]]}],"raw":{"length":40}}}"#,
        r#"{"time":3,"name":"quic:congestion_state_updated","data":{"old":"slow_start","new":"recovery","trigger":"a \"b\"\\\n\u0001"}}"#,
        r#"{"time":4,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":8}}}"#,
        r#"{"time":1000000.000001,"name":"quic:connection_closed","data":{"initiator":"local","trigger":"application"}}"#,
    ];

    #[test]
    fn a_sequence_has_a_record_for_each_event() {
        let mut writer = Writer::new(Dialect::Current, Form::Sequential, "t");
        writer.trace(&Head { title: "f", server: Some(true), ..Head::default() });
        events(&mut writer);
        let text = writer.finish();
        let records: Vec<&str> = text.split('\u{1e}').skip(1).map(|record| record.strip_suffix('\n').unwrap()).collect();
        assert!(records[0].starts_with(r#"{"file_schema":"urn:ietf:params:qlog:file:sequential""#), "{}", records[0]);
        assert!(records[0].ends_with(r#""event_schemas":["urn:ietf:params:qlog:events:quic-12"]}}"#), "{}", records[0]);
        assert_eq!(records[1], r#"{"time":0,"name":"quic:connection_started","data":{"local":{},"remote":{}}}"#);
        assert_eq!(records[2..], WRITTEN);
    }

    #[test]
    fn a_contained_file_has_traces_and_each_begins_anew() {
        let mut writer = Writer::new(Dialect::Qvis, Form::Contained, "t");
        for title in ["a", "b"] {
            writer.trace(&Head { title, ..Head::default() });
            events(&mut writer);
        }
        let text = writer.finish();
        assert!(text.starts_with(r#"{"qlog_version":"0.3","qlog_format":"JSON","title":"t","traces":["#));
        assert!(text.ends_with("]}]}\n"));
        assert_eq!(text.matches(r#""events":["#).count(), 2);
        for name in ["transport:packet_sent", "transport:packet_received", "recovery:packet_lost", "recovery:congestion_state_updated"] {
            assert_eq!(text.matches(name).count(), 2, "{name}");
        }
        assert_eq!(text.matches("recovery:metrics_updated").count(), 4);
        assert_eq!(text.matches("connection_started").count(), 0, "version 0.3 demands addresses");
        assert_eq!(Writer::new(Dialect::Current, Form::Contained, "").finish().lines().count(), 1);
    }
}
