//! The interpreter: plays the events of a script in a [`World`].
//!
//! Before an event, time passes until the event's time; packets that the stack sends meanwhile wait in a queue. An expected packet takes
//! the head of the queue, and waits for it if the queue is empty.

mod calls;
mod compare;
pub(crate) mod constants;
mod mapping;
mod packets;

use std::collections::{BTreeSet, VecDeque};

use ackclock_core::units::{Duration, Instant};

use crate::code::{self, Stop, Variables};
use crate::errno::Errno;
use crate::network::Network;
use crate::options::{Options, Tolerance};
use crate::outcome::{Crossing, Failure, Outcome, Verdict};
use crate::packet::Packet;
use crate::script::{self, Action, Call, Code, Command, Event, Kind, Nanos, Position, Script, Time};
use crate::settings::{Parameter, Qdisc, Settings};
use crate::stack::Refusal;
use crate::world::{self, Fd, Happening, Return, World};
use calls::{Sockets, Written, translate};
use mapping::Mapping;

/// Times closer than this are equal: scripts give microseconds.
const SAME: Nanos = 999;

/// Why the script ends early.
enum End {
    Failed(Failure),
    Unsupported(u32, String),
    Error(u32, String),
}

type Step = Result<(), End>;

impl From<End> for Verdict {
    fn from(end: End) -> Self {
        match end {
            End::Failed(failure) => Self::Failed(failure),
            End::Unsupported(line, reason) => Self::Unsupported { line, reason },
            End::Error(line, reason) => Self::Error { line, reason },
        }
    }
}

/// A failure without a comparison.
fn failed(line: u32, message: impl Into<String>) -> End {
    End::Failed(Failure { line, message: message.into(), expected: None, came: None })
}

/// A packet of the stack that no line has expected yet.
#[derive(Debug)]
struct Sent {
    at: Nanos,
    /// In the numbers of the script.
    packet: Packet,
    /// Its connection.
    connection: usize,
}

/// A call that blocks.
#[derive(Debug)]
struct Pending {
    line: u32,
    call: Call,
    written: Written,
    /// When it must return.
    end: Option<Nanos>,
    allowed: Nanos,
}

/// The times at which an event may happen.
#[derive(Clone, Copy, Debug)]
struct Window {
    first: Nanos,
    last: Nanos,
    /// Allowed error at both ends.
    allowed: Nanos,
}

/// A script that is being played.
struct Player<'a, W> {
    world: &'a mut W,
    options: &'a Options,
    tolerance: Tolerance,
    /// Microseconds of a tick of the timestamp clock, if timestamps are compared.
    tick: Option<u64>,
    /// Difference between the stack's timestamp clock and the script's.
    clock: Option<u32>,
    strict_segments: bool,
    non_fatal: Vec<String>,
    mapping: Mapping,
    queue: VecDeque<Sent>,
    sockets: Sockets,
    /// The connection whose `tcp_info` assertions see.
    under_test: Option<Fd>,
    /// Sockets that have begun to open a connection.
    opened: BTreeSet<Fd>,
    /// Largest segment in a block that the script injects (`--mss`).
    block: Option<u32>,
    /// The first line that was executed in another way than it says, and how: a failure after it says nothing about the stack.
    doubt: Option<(u32, &'static str)>,
    pending: Option<Pending>,
    variables: Variables,
    outcome: Outcome,
    /// When the previous event was planned, and when it ended.
    planned: Nanos,
    ended: Nanos,
    /// Whether the previous event was an injected packet.
    injected: bool,
}

/// Plays `script` in `world`.
pub fn play<W: World>(script: &Script, world: &mut W, network: &Network, options: &Options) -> Outcome {
    let mut player = match Player::new(script, world, network, options) {
        Ok(player) => player,
        Err(end) => return Outcome::early(end.into()),
    };
    let verdict = match (player.play(script), player.doubt) {
        (Ok(()), _) => Verdict::Passed,
        (Err(End::Failed(failure)), Some((line, doubt))) => {
            Verdict::Unsupported { line, reason: format!("{doubt}; then {}", failure.message) }
        }
        (Err(end), _) => end.into(),
    };
    player.outcome.duration = player.world.now();
    Outcome { verdict, ..player.outcome }
}

impl<'a, W: World> Player<'a, W> {
    fn new(script: &Script, world: &'a mut W, network: &Network, options: &'a Options) -> Result<Self, End> {
        let known = options.known(script).map_err(|(line, reason)| End::Unsupported(line, reason))?;
        Ok(Self {
            world,
            options,
            tolerance: known.tolerance,
            tick: known.tick,
            clock: None,
            strict_segments: known.strict_segments,
            non_fatal: known.non_fatal,
            mapping: Mapping::new(*network, known.scaled_echo),
            queue: VecDeque::new(),
            sockets: Sockets::new(),
            under_test: None,
            opened: BTreeSet::new(),
            block: known.block,
            doubt: None,
            pending: None,
            variables: Variables::new(),
            outcome: Outcome::early(Verdict::Passed),
            planned: 0,
            ended: 0,
            injected: false,
        })
    }

    fn play(&mut self, script: &Script) -> Step {
        if self.options.common_settings {
            self.command(&Command { at: Position::default(), text: "defaults.sh".to_owned() })?;
        }
        if let Some(command) = &script.before {
            self.command(command)?;
        }
        for event in &script.events {
            self.event(event)?;
        }
        self.finish_pending()?;
        if self.options.strict
            && let Some(left) = self.queue.front()
        {
            let line = script.events.last().map_or(0, |event| event.at.line);
            let came = mapping::line(&left.packet, script::Direction::Out).to_string();
            let message = format!("after the last event, the stack had sent a packet that no line expects, at {} s", seconds(left.at));
            return Err(End::Failed(Failure { line, message, expected: None, came: Some(came) }));
        }
        // The last command cleans up, and the world ends with the script.
        Ok(())
    }

    /// Time of the event, and the time that the next one may count from.
    fn window(&mut self, event: &Event) -> Result<Option<Window>, End> {
        let injects = matches!(&event.action, Action::Packet(packet) if packet.direction == script::Direction::In);
        // Errors of two injected packets must not add up.
        let base = if injects && self.injected { self.planned } else { self.ended };
        let (first, last) = match event.time {
            Time::Absolute(at) => (at, at),
            Time::AbsoluteRange(first, last) => (first, last),
            Time::Relative(delta) => (base.saturating_add(delta), base.saturating_add(delta)),
            Time::RelativeRange(first, last) => (base.saturating_add(first), base.saturating_add(last)),
            Time::Any => return Ok(None),
        };
        self.check_time(last, event.at.line)?;
        if last < first {
            return Err(End::Error(event.at.line, "the range of times ends before it begins".to_owned()));
        }
        let allowed = self.tolerance.of(first.saturating_sub(self.planned));
        if first + allowed + SAME < self.planned {
            let (at, before) = (seconds(first), seconds(self.planned));
            return Err(End::Error(event.at.line, format!("the time goes back to {at} s, after an event at {before} s")));
        }
        Ok(Some(Window { first, last, allowed }))
    }

    fn event(&mut self, event: &Event) -> Step {
        if let Action::Call(_) = event.action {
            self.finish_pending()?;
        }
        let window = self.window(event)?;
        let line = event.at.line;
        let mut injected = false;
        match &event.action {
            Action::Packet(packet) if packet.direction == script::Direction::Out => {
                let result = self.expect(packet, window, line);
                self.forgive("packet", result)?;
            }
            action => {
                if let Some(window) = window {
                    self.pass_until(window.first, line)?;
                    self.refuse_unexpected(window.first, line)?;
                }
                match action {
                    Action::Packet(packet) => {
                        self.inject(packet, line)?;
                        injected = true;
                    }
                    Action::Call(call) => {
                        let result = self.call(call, event, window);
                        self.forgive("syscall", result)?;
                    }
                    Action::Command(command) => self.command(command)?,
                    Action::Code(code) => self.code(code, line)?,
                }
                self.ended = self.now().max(window.map_or(0, |window| window.first));
            }
        }
        self.injected = injected;
        self.planned = window.map_or(self.ended, |window| window.first);
        Ok(())
    }

    /// Refuses a time after the end of the longest script, until which a stack could send without end.
    fn check_time(&self, at: Nanos, line: u32) -> Step {
        let most = self.options.max_duration.as_nanos();
        if at <= most {
            return Ok(());
        }
        let why =
            format!("the time {} s is after the end of the longest script, {} s; --max-duration allows more", seconds(at), seconds(most));
        Err(End::Error(line, why))
    }

    fn now(&mut self) -> Nanos {
        self.world.now().as_nanos()
    }

    /// Turns a failure that the script declares as non-fatal into a warning.
    fn forgive(&mut self, kind: &str, result: Step) -> Step {
        match result {
            Err(End::Failed(failure)) if self.non_fatal.iter().any(|known| known == kind) => {
                self.outcome.warnings.push(format!("line {}: {}", failure.line, failure.message));
                self.ended = self.now();
                Ok(())
            }
            result => result,
        }
    }

    /// Lets time pass until `until`; packets of the stack wait in the queue.
    fn pass_until(&mut self, until: Nanos, line: u32) -> Step {
        while !self.pass_once(until, line)? {}
        Ok(())
    }

    /// Lets time pass until something happens or `until` is reached; returns whether it is reached.
    fn pass_once(&mut self, until: Nanos, line: u32) -> Result<bool, End> {
        match self.world.advance(Instant::from_nanos(until)).map_err(|reason| End::Error(line, reason))? {
            Happening::Reached => return Ok(true),
            Happening::Sent { at, packet } => {
                self.check_count(line)?;
                self.observe(at, packet);
            }
            Happening::Returned { at, result } => {
                if let Some(pending) = self.pending.take() {
                    self.finish(&pending, at.as_nanos(), &result)?;
                }
            }
        }
        Ok(false)
    }

    /// Refuses a packet beyond the largest number.
    pub(super) fn check_count(&self, line: u32) -> Step {
        let most = self.options.max_packets;
        if (self.outcome.crossings.len() as u64) < most {
            return Ok(());
        }
        let now = self.outcome.crossings.last().map_or(0, |crossing| crossing.at.as_nanos());
        let why = format!("more than {most} packets, the limit of a script, by {} s; --max-packets allows more", seconds(now));
        Err(End::Error(line, why))
    }

    /// In strict mode, a packet that no line has expected before this event is a failure.
    fn refuse_unexpected(&self, until: Nanos, line: u32) -> Step {
        match self.queue.front() {
            Some(sent) if self.options.strict && sent.at + SAME < until => {
                let came = mapping::line(&sent.packet, script::Direction::Out).to_string();
                let message = format!("before this event, the stack sent a packet that no line expects, at {} s", seconds(sent.at));
                Err(End::Failed(Failure { line, message, expected: None, came: Some(came) }))
            }
            _ => Ok(()),
        }
    }

    /// Executes shell commands, as far as they are settings.
    fn command(&mut self, command: &Command) -> Step {
        let mut settings = Settings::default();
        settings.apply(command).map_err(|why| End::Unsupported(why.at.line, why.what))?;
        if let Some(qdisc) = settings.qdisc {
            let name = if qdisc == Qdisc::Fq { "fq" } else { "pfifo" };
            self.configure(command.at.line, "qdisc", name)?;
        }
        for (name, Parameter { at, value }) in &settings.parameters {
            self.configure(at.line, name, value)?;
        }
        Ok(())
    }

    fn configure(&mut self, line: u32, name: &str, value: &str) -> Step {
        self.world.configure(name, value).map_err(|why| match why {
            Refusal::Unsupported(what) => End::Unsupported(line, what),
            Refusal::Error(errno) => End::Error(line, format!("{name} = {value}: {errno}")),
        })
    }

    /// Runs a block on the `tcp_info` of this moment.
    fn code(&mut self, code: &Code, line: u32) -> Step {
        let block = code::read(code).map_err(|why| End::Unsupported(why.at.line, why.what))?;
        if let Some(fd) = self.under_test {
            let info = self.world.info(fd).map_err(|why| match why {
                Refusal::Error(errno) => End::Error(line, format!("tcp_info: {errno}")),
                Refusal::Unsupported(what) => End::Unsupported(line, what),
            })?;
            self.variables.extend(info.into_iter().map(|(name, value)| (name.to_owned(), code::Value::Integer(value))));
        }
        block.run(&mut self.variables, &mut self.outcome.printed).map_err(|stop| match stop {
            Stop::Failed { at, message } => failed(at.line, message),
            Stop::Unsupported(why) => End::Unsupported(why.at.line, why.what),
        })
    }

    /// Executes a system call.
    fn call(&mut self, call: &Call, event: &Event, window: Option<Window>) -> Step {
        let line = event.at.line;
        let (translated, written) = translate(call, &self.sockets).map_err(|what| End::Unsupported(call.at.line, what))?;
        if calls::scatters(call) {
            self.doubt.get_or_insert((line, "MSG_ZEROCOPY: several buffers are sent as one"));
        }
        // The end counts from the same point as the event's time.
        let base = match event.time {
            Time::Relative(delta) => window.map_or(0, |window| window.first - delta),
            Time::RelativeRange(first, _) => window.map_or(0, |window| window.first - first),
            _ => 0,
        };
        let end = call.end.map(|end| base.saturating_add(end));
        self.check_time(end.unwrap_or(0), line)?;
        let allowed = end.zip(window).map_or(0, |(end, window)| self.tolerance.of(end.saturating_sub(window.first)));
        let pending = Pending { line, call: call.clone(), written, end, allowed };
        let result = self.world.call(&translated, end.is_some()).map_err(|why| match why {
            Refusal::Unsupported(what) => End::Unsupported(line, what),
            Refusal::Error(errno) => End::Error(line, errno.to_string()),
        })?;
        let opened = match translated {
            world::Call::Connect { fd, ends: false, .. } => Some(fd),
            world::Call::Write { fd, flags, .. } if flags & constants::FAST_OPEN != 0 => Some(fd),
            world::Call::Listen { .. } => {
                self.mapping.listen();
                None
            }
            world::Call::Close { fd } => {
                self.opened.remove(&fd);
                None
            }
            _ => None,
        };
        if let Some(fd) = opened {
            self.under_test = Some(fd);
            let begun = result.as_ref().is_none_or(|result| result.errno.is_none_or(|errno| errno == Errno::EINPROGRESS));
            if begun && self.opened.insert(fd) {
                self.mapping.connect();
            }
        }
        match result {
            Some(result) => {
                let now = self.now();
                self.finish(&pending, now, &result)
            }
            None if end.is_some() => {
                self.pending = Some(pending);
                Ok(())
            }
            None => {
                self.pending = Some(pending);
                self.finish_pending()
            }
        }
    }

    /// Waits for the call that blocks.
    fn finish_pending(&mut self) -> Step {
        let Some(pending) = &self.pending else { return Ok(()) };
        let (line, name) = (pending.line, pending.call.name.clone());
        let patience = self.ended + self.world.patience().as_nanos();
        let latest = pending.end.map_or(patience, |end| end + pending.allowed + SAME);
        while self.pending.is_some() {
            if self.pass_once(latest, line)? && self.pending.is_some() {
                let since = if latest < patience { format!("at {} s", seconds(latest)) } else { "for ever".to_owned() };
                return Err(failed(line, format!("{name} still blocks {since}")));
            }
        }
        self.ended = self.now();
        Ok(())
    }

    /// Compares the result of a call with the script.
    fn finish(&mut self, pending: &Pending, at: Nanos, result: &Return) -> Step {
        let Pending { line, ref call, ref written, end, allowed } = *pending;
        let failure = |message: &str, expected: String, came: String| {
            let message = format!("{} {message}", call.name);
            End::Failed(Failure { line, message, expected: Some(expected), came: Some(came) })
        };
        let shown = |value: i64, errno: Option<&Errno>| errno.map_or_else(|| value.to_string(), |errno| format!("{value} {errno}"));
        let came = shown(result.value, result.errno.as_ref());
        let accepts = matches!(call.name.as_str(), "accept" | "accept4");
        let opens = accepts || matches!(call.name.as_str(), "socket" | "epoll_create" | "epoll_create1");
        if call.result.kind != Kind::Any {
            let expected = calls::integer(&call.result).map_err(|what| End::Unsupported(line, what))?;
            let wanted = call.errno.clone().map_or_else(|| expected.to_string(), |errno| format!("{expected} {errno}"));
            let named = opens && expected >= 0 && result.value >= 0;
            if named {
                self.sockets.insert(expected, result.value as Fd);
            } else if expected != result.value {
                return Err(failure("returned something else", wanted, came));
            }
            if let Some(name) = &call.errno {
                let errno = Errno::find(name).ok_or_else(|| End::Unsupported(line, format!("the error {name} is unknown")))?;
                if result.errno != Some(errno) {
                    return Err(failure("failed with another error", wanted, came));
                }
            }
        } else if opens && result.value >= 0 {
            self.sockets.insert(result.value, result.value as Fd);
        }
        if accepts && result.value >= 0 {
            self.under_test = Some(result.value as Fd);
        }
        if result.value >= 0 {
            written
                .compare(&result.output, self.tolerance.of(0) + SAME)
                .map_err(|(expected, came)| failure("wrote something else", expected, came))?;
        }
        if let Some(end) = end
            && at.abs_diff(end) > allowed + SAME
        {
            return Err(failure("returned at another time", format!("{} s", seconds(end)), format!("{} s", seconds(at))));
        }
        Ok(())
    }

    /// Records a packet of the stack, which waits for a line.
    fn observe(&mut self, at: Instant, bytes: Vec<u8>) {
        match Packet::decode(&bytes) {
            Ok(live) => {
                let (connection, packet) = self.mapping.observe(&live);
                let text = mapping::line(&packet, script::Direction::Out).to_string();
                self.record(at, script::Direction::Out, text, bytes);
                self.queue.push_back(Sent { at: at.as_nanos(), packet, connection });
            }
            // Neighbour discovery and the like are none of the script's business.
            Err(why) => self.outcome.warnings.push(format!("at {} s the stack sent a packet that is not read: {why}", at.as_secs_f64())),
        }
    }

    fn record(&mut self, at: Instant, direction: script::Direction, text: String, bytes: Vec<u8>) {
        let info = self.under_test.and_then(|fd| self.world.info(fd).ok()).unwrap_or_default();
        let cwnd = info.iter().find(|(name, _)| *name == "tcpi_snd_cwnd").map(|(_, value)| *value);
        let rwnd = self.mapping.current().map_or(0, |connection| connection.windows().1);
        self.outcome.crossings.push(Crossing { at, direction, text, bytes, cwnd, rwnd, info });
    }
}

/// A time in seconds, for messages.
fn seconds(nanos: Nanos) -> String {
    let text = format!("{:.6}", Duration::from_nanos(nanos).as_secs_f64());
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}
