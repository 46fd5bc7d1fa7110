//! Time lines of one endpoint, in a small language. A line is a time in milliseconds and an event or a check:
//!
//! | line | meaning |
//! |---|---|
//! | `0 write 5000`, `0 close`, `0 finish 5000`, `0 read 100` | the application writes, closes, does both, or reads |
//! | `50 < ack 1001 sack 2001:3001` | a segment arrives |
//! | `50 notice 1001 0`, `50 notice 1001 0 connection` | a queue has dropped segment 1001, sent at time 0; the connection's timer expires |
//! | `50 > data 1001:3001` | the endpoint sends; a range can be several segments |
//! | `50 cwnd 10`, `50 ssthresh 5`, `50 state Established`, `50 pipe 3000`, `50 rto 300` | the quantity must have this value |
//!
//! Words of a segment: `syn fin rst psh ece cwr ae`, `ect ect1 ce` (in the IP header), `data START:END`, `seq`, `ack`, `win` (not scaled),
//! `mss`, `wscale`, `sackok`, `sack START:END,…`, `ts VALUE/ECHO`, `counts E0B,CEB,E1B` (AccECN option, or fewer counters), `counts1
//! E1B,CEB,E0B` (the same with ECT(1) first). Numbers count from the SYN, which is 0. A script must expect every segment that
//! the endpoint sends. It compares the words of the line, and always the flags except `ack` and `psh`.

use ackclock_core::cc::CongestionControl;
use ackclock_core::qdisc::{Ecn, Notice};
use ackclock_core::units::{Duration, Instant};
use ackclock_host::DropNotice;

use super::super::endpoint::Endpoint;
use super::super::info::Info;
use super::super::segment::{EcnCounts, Flags, Options, SackBlocks, Segment, Timestamps, to_wire};
use super::super::settings::Config;
use super::channel::reno;

/// Time 0 of a script.
const BASE: Duration = Duration::from_millis(100_000);
/// The peer's initial sequence number.
const PEER: u32 = 0xffff_f000;
const FLAGS: [(&str, Flags); 7] = [
    ("syn", Flags::SYN),
    ("fin", Flags::FIN),
    ("rst", Flags::RST),
    ("psh", Flags::PSH),
    ("ece", Flags::ECE),
    ("cwr", Flags::CWR),
    ("ae", Flags::AE),
];

/// An endpoint with a time line.
pub(super) struct Script {
    pub(super) endpoint: Endpoint,
    initial: u32,
    /// Segments sent and not yet matched with a line.
    sent: Vec<(Instant, Segment)>,
    now: Instant,
    /// The window of arriving segments whose line has no `win`.
    pub(super) window: u16,
}

/// Settings with segments of 1000 bytes and no options in data segments.
pub(super) fn plain() -> Config {
    Config { mss: 1000, timestamps: false, initial_sequence: u32::MAX - 500, quick_acks: 0, ..Config::default() }
}

impl Script {
    /// An endpoint at time 0 that opens the connection if `active`, and otherwise listens.
    pub(super) fn new(config: &Config, active: bool) -> Self {
        Self::over(config, if active { Endpoint::open(config, reno()) } else { Endpoint::listen(config, reno()) })
    }

    fn over(config: &Config, endpoint: Endpoint) -> Self {
        Self { endpoint, initial: config.initial_sequence, sent: Vec::new(), now: Instant::ZERO + BASE, window: u16::MAX }
    }

    /// A connection that the endpoint has opened with a round-trip time of 100 ms. The SYN-ACK arrives at time −1 ms.
    pub(super) fn established(config: &Config) -> Self {
        Self::established_with(config, reno())
    }

    /// The same with another congestion control.
    pub(super) fn established_with(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        let mut script = Self::over(config, Endpoint::open(config, control));
        let before = |millis| Instant::ZERO + (BASE - Duration::from_millis(millis));
        script.now = before(101);
        script.transmit();
        let syn = script.sent.remove(0).1;
        script.now = before(1);
        let options = Options { timestamps: syn.options.timestamps.map(|it| Timestamps { value: 7, echo: it.value }), ..syn.options };
        let flags = Flags::SYN.with(Flags::ACK, true).with(Flags::ECE, syn.flags.has(Flags::ECE));
        let answer = Segment { seq: PEER, ack: to_wire(1, script.initial), flags, options, ..syn };
        script.endpoint.handle_segment(script.now, &answer);
        script.transmit();
        assert_eq!(script.sent.len(), 1, "the ACK that ends the handshake");
        script.sent.clear();
        // The window of the SYN was not scaled; the window of this ACK is.
        let ack = script.parse(&["ack", "1"]).unwrap_or(answer);
        script.endpoint.handle_segment(script.now, &ack);
        script
    }

    /// Plays lines; a mismatch fails with the line.
    #[track_caller]
    pub(super) fn play(&mut self, lines: &str) {
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Err(problem) = self.step(line) {
                panic!("at `{line}`: {problem}{}", self.rest());
            }
        }
        assert!(self.sent.is_empty(), "{}", self.rest());
    }

    /// The state that the endpoint reports.
    pub(super) fn info(&self) -> Info {
        self.endpoint.info(self.now)
    }

    /// The application writes `bytes`; returns whether each segment sent at once carries PSH.
    pub(super) fn pushes_of(&mut self, bytes: u64) -> Vec<bool> {
        self.endpoint.write(bytes);
        self.transmit();
        self.sent.drain(..).map(|(_, segment)| segment.flags.has(Flags::PSH)).collect()
    }

    fn rest(&self) -> String {
        let line = |(at, segment): &(Instant, Segment)| format!("\nnot expected, at {at:?}: {}", describe(segment, self.initial));
        self.sent.iter().map(line).collect()
    }

    fn step(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        let time: f64 = words.next().and_then(|word| word.parse().ok()).ok_or("no time")?;
        let at = Instant::ZERO + BASE + Duration::from_nanos((time * 1e6).round() as u64);
        let verb = words.next().ok_or("no verb")?;
        let rest: Vec<&str> = words.collect();
        self.advance(at);
        if verb == ">" {
            return self.expect(at, &rest);
        }
        let input = ["<", "notice", "write", "finish", "close", "read"].contains(&verb);
        if self.sent.iter().any(|(when, _)| input || *when < at) {
            return Err("an unexpected segment was sent before".to_owned());
        }
        let first = rest.first().copied().unwrap_or_default();
        match verb {
            "<" => {
                let segment = self.parse(&rest)?;
                self.endpoint.handle_segment(self.now, &segment);
            }
            "notice" => {
                let sent = BASE + Duration::from_millis(number(rest.get(1).ok_or("no time of sending")?)?);
                let notice = if rest.contains(&"connection") { Notice::Connection } else { Notice::Segment };
                let dropped = DropNotice { key: to_wire(number(first)?, self.initial), sent: Instant::ZERO + sent, notice };
                self.endpoint.handle_notice(self.now, &dropped);
            }
            "write" => self.endpoint.write(number(first)?),
            "close" => self.endpoint.close(),
            "finish" => {
                self.endpoint.write(number(first)?);
                self.endpoint.close();
            }
            "read" => {
                self.endpoint.read(self.now, number(first)?);
            }
            _ => return self.check(verb, first),
        }
        self.transmit();
        Ok(())
    }

    fn check(&self, verb: &str, wanted: &str) -> Result<(), String> {
        let millis = |time: Duration| format!("{}", time.as_nanos() as f64 / 1e6);
        let found = match verb {
            "cwnd" => format!("{}", (self.endpoint.sender.seat().window().cwnd * 1000.0).round() / 1000.0),
            "ssthresh" => format!("{}", self.endpoint.window().ssthresh),
            "state" => format!("{:?}", self.endpoint.state()),
            "pipe" => format!("{}", self.endpoint.sender.board().pipe()),
            "rto" => millis(self.endpoint.timing().2),
            "readable" => format!("{}", self.endpoint.readable()),
            _ => return Err("unknown verb".to_owned()),
        };
        if found == wanted { Ok(()) } else { Err(format!("{verb} is {found}")) }
    }

    /// Lets timers expire up to `at`, within a nanosecond because scripts give decimal times.
    fn advance(&mut self, at: Instant) {
        self.transmit();
        while let Some(due) = self.endpoint.poll_timeout().filter(|due| *due <= at + Duration::NANOSECOND) {
            self.now = self.now.max(due);
            self.endpoint.handle_timeout(self.now);
            self.transmit();
        }
        self.now = self.now.max(at);
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.endpoint.poll_transmit(self.now) {
            self.sent.push((self.now, segment));
        }
    }

    /// Matches the sent segments with a line: one segment, or those that make up its range.
    fn expect(&mut self, at: Instant, words: &[&str]) -> Result<(), String> {
        let range = value(words, "data").map(range).transpose()?;
        let mut next = range.map(|range| range.0);
        loop {
            if self.sent.is_empty() {
                return Err("no segment was sent".to_owned());
            }
            let (when, segment) = self.sent.remove(0);
            let found = describe(&segment, self.initial);
            if when.since(at).as_nanos() > 1000 || at.since(when).as_nanos() > 1000 {
                return Err(format!("sent at {when:?}: {found}"));
            }
            let wanted = self.wanted(words, &segment, next)?;
            if wanted != segment {
                return Err(format!("sent {found}\nexpected {}", describe(&wanted, self.initial)));
            }
            next = next.map(|start| start + u64::from(segment.payload));
            if range.is_none_or(|range| next >= Some(range.1)) {
                return Ok(());
            }
        }
    }

    /// The segment that a line expects, completed from the sent segment.
    fn wanted(&self, words: &[&str], sent: &Segment, next: Option<u64>) -> Result<Segment, String> {
        let mut wanted = Segment { flags: flags(words), ..*sent };
        // `ack` and `psh` are compared only if the line has them.
        wanted.flags = wanted.flags.with(Flags::ACK, sent.flags.has(Flags::ACK));
        wanted.flags = wanted.flags.with(Flags::PSH, sent.flags.has(Flags::PSH));
        wanted.payload = if next.is_some() { sent.payload.max(1) } else { 0 };
        if let Some(start) = next {
            wanted.seq = to_wire(start, self.initial);
        }
        if let Some(seq) = value(words, "seq") {
            wanted.seq = to_wire(number(seq)?, self.initial);
        }
        if let Some(ack) = value(words, "ack") {
            wanted.ack = to_wire(number(ack)?, PEER);
            wanted.flags = wanted.flags.with(Flags::ACK, true);
        }
        wanted.ecn = ecn(words).unwrap_or(if next.is_some() { sent.ecn } else { Ecn::NotEct });
        fill(&mut wanted, words, PEER)?;
        if !words.contains(&"sack") {
            wanted.options.sack = SackBlocks::EMPTY;
        }
        Ok(wanted)
    }

    /// The arriving segment of a line.
    fn parse(&self, words: &[&str]) -> Result<Segment, String> {
        let range = value(words, "data").map(range).transpose()?;
        let start = match value(words, "seq") {
            Some(seq) => number(seq)?,
            None => range.map_or(self.endpoint.receiver.rcv_nxt(), |range| range.0),
        };
        let ack = value(words, "ack").map(number).transpose()?;
        let mut segment = Segment {
            seq: to_wire(start, PEER),
            ack: to_wire(ack.unwrap_or(0), self.initial),
            flags: flags(words).with(Flags::ACK, ack.is_some()),
            window: self.window,
            options: Options::default(),
            payload: range.map_or(0, |range| range.1 - range.0) as u32,
            ecn: ecn(words).unwrap_or(Ecn::NotEct),
        };
        fill(&mut segment, words, self.initial)?;
        Ok(segment)
    }
}

/// Sets the window and options of a line.
fn fill(segment: &mut Segment, words: &[&str], initial: u32) -> Result<(), String> {
    if let Some(window) = value(words, "win") {
        segment.window = number(window)? as u16;
    }
    let options = &mut segment.options;
    if let Some(mss) = value(words, "mss") {
        options.mss = Some(number(mss)? as u16);
    }
    if let Some(scale) = value(words, "wscale") {
        options.window_scale = Some(number(scale)? as u8);
    }
    if words.contains(&"sackok") {
        options.sack_permitted = true;
    }
    if let Some((stamp, echo)) = value(words, "ts").and_then(|text| text.split_once('/')) {
        options.timestamps = Some(Timestamps { value: number(stamp)? as u32, echo: number(echo)? as u32 });
    }
    for (word, kind) in ["counts", "counts1"].into_iter().zip(EcnCounts::KINDS) {
        let Some(counts) = value(words, word) else { continue };
        let counts = counts.split(',').map(|count| number(count).map(|count| count as u32)).collect::<Result<Vec<_>, _>>()?;
        options.ecn = Some(EcnCounts::new(kind, &counts));
    }
    if let Some(blocks) = value(words, "sack") {
        options.sack = SackBlocks::EMPTY;
        for block in blocks.split(',') {
            let (start, end) = range(block)?;
            options.sack.push((to_wire(start, initial), to_wire(end, initial)));
        }
    }
    Ok(())
}

fn flags(words: &[&str]) -> Flags {
    FLAGS.iter().fold(Flags::NONE, |flags, (name, flag)| flags.with(*flag, words.contains(name)))
}

fn ecn(words: &[&str]) -> Option<Ecn> {
    let named = [("ect", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce), ("notect", Ecn::NotEct)];
    named.iter().find(|(name, _)| words.contains(name)).map(|(_, ecn)| *ecn)
}

/// The word after `name`.
fn value<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let index = words.iter().position(|word| *word == name)?;
    words.get(index + 1).copied()
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let (start, end) = text.split_once(':').ok_or("not a range START:END")?;
    Ok((number(start)?, number(end)?))
}

/// A segment in the words of a line.
fn describe(segment: &Segment, initial: u32) -> String {
    let names = FLAGS.iter().filter(|(_, flag)| segment.flags.has(*flag)).map(|(name, _)| *name);
    let start = segment.seq.wrapping_sub(initial);
    let sack: Vec<String> = segment
        .options
        .sack
        .as_slice()
        .iter()
        .map(|block| format!("{}:{}", block.0.wrapping_sub(PEER), block.1.wrapping_sub(PEER)))
        .collect();
    format!(
        "{} data {start}:{} ack {} win {} sack {} {:?} ts {:?} counts {:?}",
        names.collect::<Vec<_>>().join(" "),
        start.wrapping_add(segment.payload),
        segment.ack.wrapping_sub(PEER),
        segment.window,
        sack.join(","),
        segment.ecn,
        segment.options.timestamps.map(|it| (it.value, it.echo)),
        segment.options.ecn.map(|counts| counts.fields().collect::<Vec<_>>()),
    )
}
