//! The memory that engine and kernel share, and in which they take turns. `ackclock.h` in the kernel's data describes the same.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use ackclock_host::Side;
use ackclock_kernel::Order;
use ackclock_linux::shared::Shared;

/// Version of the memory's layout.
const VERSION: u32 = 3;
/// Bytes of each list of records.
const RECORDS: usize = 4 << 20;
/// Most sockets.
pub const SOCKETS: usize = 4096;
/// Most interfaces.
pub const DEVICES: usize = 1024;
/// Bytes of a socket's `TCP_INFO`.
pub const INFO: usize = 512;

// Places of the words.
const TURN: usize = 4;
const REASON: usize = 8;
const DEAF: usize = 12;
const SEED: usize = 16;
const NOW: usize = 24;
const NEXT: usize = 32;
const UNTIL: usize = 40;
const IN: usize = 48;
const OUT: usize = 52;
// Places of the lists.
const TO_KERNEL: usize = 4096;
const FROM_KERNEL: usize = TO_KERNEL + RECORDS;
const STATES: usize = FROM_KERNEL + RECORDS;
/// Bytes of a socket's state before `TCP_INFO`.
const STATE: usize = 16;
const CONTROL: usize = STATES + SOCKETS * (STATE + INFO);
/// Bytes of a call of a control, and the place of its answer.
const CALL: usize = 144;
const ANSWER: usize = 120;
const ALL: usize = CONTROL + CALL;

const KERNEL: u32 = 0;
const OUTSIDE: u32 = 1;
const FULL: u32 = 1;
const CALLS_CONTROL: u32 = 2;

/// Bytes of a record's head.
const HEAD: usize = 32;
const PACKET: u32 = 1;
const LINE: u32 = 2;
const ORDER: u32 = 3;
const OUTPUT: u32 = 4;
const ENQUEUE: u32 = 5;
const FREE: u32 = 6;
const DROP: u32 = 7;

/// The time for which a kernel waits that has nothing to do.
const NEVER: u64 = i64::MAX as u64;
/// After so long the kernel's process is looked after.
const PATIENCE: Duration = Duration::from_millis(50);

/// After so many turns in a row too.
const TURNS: u32 = 256;

/// The number of an end's socket; `ackclock_control.c` computes it too, from the end's address.
pub(crate) fn socket(flow: usize, side: Side) -> u32 {
    (2 * flow + side.index()) as u32
}

/// What the kernel says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A packet leaves an interface.
    Packet {
        /// Kernel's time in nanoseconds.
        at: u64,
        /// Number of the interface.
        device: u32,
        /// Number of the packet, if the interface is a queue.
        number: u32,
        /// The packet, from its IP header on; of a queue only this header.
        frame: Vec<u8>,
    },
    /// A queue has dropped a packet.
    Dropped {
        /// Number of the interface.
        device: u32,
        /// Number of the packet.
        number: u32,
    },
    /// The first process answers.
    Line(String),
    /// A program has ended.
    Ended {
        /// Its number.
        program: u32,
        /// Its exit code, or 128 plus the number of the signal that ended it.
        code: i32,
    },
}

/// Where a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// What a line of the first process says.
fn line(text: String) -> Said {
    let numbers = text.strip_prefix("ended ").and_then(|rest| rest.split_once(' '));
    match numbers.map(|(program, code)| (program.parse(), code.parse())) {
        Some((Ok(program), Ok(code))) => Said::Ended { program, code },
        _ => Said::Line(text),
    }
}

/// The state of a socket that the kernel's thread reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketState {
    /// Bytes read in order.
    pub read: u64,
    /// The number of the last error; 0 if there was none.
    pub error: i32,
    /// Whether it is, or was, connected.
    pub connected: bool,
    /// Whether its peer has closed.
    pub closed: bool,
}

/// What happens to a connection, of which its congestion control is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is established.
    Begin,
    /// An ACK has arrived.
    Ack,
    /// Congestion; the answer's result is the threshold.
    Congestion,
    /// The state of recovery has changed.
    Recovery,
    /// Recovery is over.
    Recovered,
    /// The last reduction was spurious; the answer's result is the window.
    Spurious,
    /// The first segment after an idle time leaves.
    Transmit,
}

/// A call of a congestion control, with the facts of the kernel. Counts are segments, durations microseconds (−1: unknown).
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, clippy::struct_excessive_bools, reason = "named as in ackclock.h, which describes them")]
pub struct Call {
    pub event: Event,
    pub socket: u32,
    /// Kernel's time in nanoseconds.
    pub now: u64,
    pub una: u32,
    pub nxt: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost: u32,
    pub flight: u32,
    pub inflight: u32,
    pub prior_inflight: u32,
    pub acked: u32,
    pub grows: bool,
    pub limited: bool,
    pub echo: bool,
    pub cause: u32,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub mss: u32,
    pub rtt: i32,
    pub srtt: i32,
    pub min_rtt: i32,
    pub rate_delivered: i32,
    pub rate_interval: u32,
    pub rate_prior_delivered: u32,
    pub rate_app_limited: bool,
    pub rate_prior: u64,
}

/// What a congestion control answers; `None`: the kernel keeps what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The window in segments.
    pub cwnd: Option<u32>,
    /// The threshold in segments.
    pub ssthresh: Option<u32>,
    /// The pacing rate in bytes per second.
    pub pacing: Option<u64>,
    /// What the event asks for.
    pub result: u32,
}

/// The events by their numbers.
const EVENTS: [Event; 7] =
    [Event::Begin, Event::Ack, Event::Congestion, Event::Recovery, Event::Recovered, Event::Spurious, Event::Transmit];

impl Call {
    /// The call in these bytes; `None`: it is none.
    fn read(bytes: &[u8; CALL]) -> Option<Self> {
        let word = |place: usize| u32::from_ne_bytes(std::array::from_fn(|index| bytes[place + index]));
        let long = |place: usize| u64::from_ne_bytes(std::array::from_fn(|index| bytes[place + index]));
        let signed = |place: usize| word(place).cast_signed();
        Some(Self {
            event: *EVENTS.get(word(0) as usize)?,
            socket: word(4),
            now: long(8),
            una: word(16),
            nxt: word(20),
            delivered: word(24),
            delivered_ce: word(28),
            lost: word(32),
            flight: word(36),
            inflight: word(40),
            prior_inflight: word(44),
            acked: word(48),
            grows: word(52) != 0,
            limited: word(56) != 0,
            echo: word(60) != 0,
            cause: word(64),
            cwnd: word(68),
            ssthresh: word(72),
            mss: word(76),
            rtt: signed(80),
            srtt: signed(84),
            min_rtt: signed(88),
            rate_delivered: signed(92),
            rate_interval: word(96),
            rate_prior_delivered: word(100),
            rate_app_limited: word(104) != 0,
            rate_prior: long(112),
        })
    }
}

/// What the kernel needs while it runs.
pub trait Attendant {
    /// Why the run ends.
    type Error;

    /// Called now and then while the kernel runs.
    ///
    /// # Errors
    /// If it does not run any more.
    fn check(&mut self) -> Result<(), Self::Error>;

    /// A congestion control is called.
    fn control(&mut self, call: &Call) -> Answer;

    /// A program writes.
    ///
    /// # Errors
    /// If nobody can hear it.
    fn hear(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// The memory that a kernel shares with the engine. Times are nanoseconds of the kernel's clock.
#[derive(Debug)]
pub struct Joint {
    memory: Shared,
}

impl Joint {
    /// Memory for a kernel whose random numbers come from `seed`. It runs first, until it sends anything.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(seed: u64) -> io::Result<Self> {
        let memory = Shared::new(c"ackclock", ALL)?;
        memory.word(0).store(VERSION, Ordering::Relaxed);
        memory.long(SEED).store(seed, Ordering::Relaxed);
        memory.long(UNTIL).store(u64::MAX, Ordering::Relaxed);
        Ok(Self { memory })
    }

    /// The kernel's time.
    pub fn now(&self) -> u64 {
        self.memory.long(NOW).load(Ordering::Relaxed)
    }

    /// When the kernel does something by itself; `None`: never.
    pub fn next(&self) -> Option<u64> {
        Some(self.memory.long(NEXT).load(Ordering::Relaxed)).filter(|next| *next < NEVER)
    }

    /// Whether the kernel goes to its next time, whatever arrives before: a process waits for the clock with interrupts off.
    pub fn is_deaf(&self) -> bool {
        self.memory.word(DEAF).load(Ordering::Relaxed) != 0
    }

    /// Whether records wait for the kernel.
    pub fn has_input(&self) -> bool {
        self.memory.word(IN).load(Ordering::Relaxed) != 0
    }

    /// Adds a record for the kernel, which takes it when its turn comes.
    fn put(&mut self, kind: u32, (index, about): (u32, u32), value: u64, bytes: &[u8]) {
        let start = self.memory.word(IN).load(Ordering::Relaxed) as usize;
        let end = start + HEAD + bytes.len().next_multiple_of(8);
        // At one time arrive a few packets, not megabytes.
        assert!(end <= RECORDS, "no room for what arrives at the kernel");
        let mut head = [0; HEAD];
        head[8..16].copy_from_slice(&value.to_ne_bytes());
        for (place, word) in head[16..].chunks_exact_mut(4).zip([kind, index, about, bytes.len() as u32]) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        self.memory.write(TO_KERNEL + start, &head);
        self.memory.write(TO_KERNEL + start + HEAD, bytes);
        self.memory.word(IN).store(end as u32, Ordering::Relaxed);
    }

    /// A packet arrives at an interface. The kernel's thread then looks after `socket`.
    pub fn packet(&mut self, device: u32, socket: u32, frame: &[u8]) {
        self.put(PACKET, (device, socket), 0, frame);
    }

    /// The packet of this `number`, which is not 0, arrives at an interface that is a queue: its `headers`, and its `size` with all that
    /// follows them.
    pub fn enqueue(&mut self, device: u32, number: u32, headers: &[u8], size: u64) {
        self.put(ENQUEUE, (device, number), size, headers);
    }

    /// The link behind an interface that is a queue is free.
    pub fn free(&mut self, device: u32) {
        self.put(FREE, (device, 0), 0, &[]);
    }

    /// The first process reads a line.
    pub fn line(&mut self, text: &str) {
        self.put(LINE, (0, 0), 0, text.as_bytes());
    }

    /// The kernel's thread gets an order for `socket`.
    pub fn order(&mut self, socket: u32, order: Order) {
        let (number, value) = match order {
            Order::Write(bytes) => (0, bytes),
            Order::Endless => (1, 0),
            Order::Stop => (2, 0),
            Order::Close => (3, 0),
        };
        self.put(ORDER, (socket, number), value, &[]);
    }

    /// Lets the kernel run at `now` and further, up to the first time of `until` or later; it stops earlier after the time at which it says
    /// anything. Appends what it says to `said`.
    ///
    /// # Errors
    /// That of the attendant.
    pub fn run<A: Attendant>(&mut self, now: u64, until: u64, said: &mut Vec<Said>, attendant: &mut A) -> Result<(), A::Error> {
        self.memory.long(NOW).store(now, Ordering::Relaxed);
        self.memory.long(UNTIL).store(until, Ordering::Relaxed);
        self.give_turn();
        self.wait(said, attendant)
    }

    fn give_turn(&self) {
        self.memory.word(TURN).store(KERNEL, Ordering::Release);
        self.memory.wake(TURN);
    }

    /// Waits until the kernel hands over.
    ///
    /// # Errors
    /// That of the attendant.
    pub fn wait<A: Attendant>(&mut self, said: &mut Vec<Said>, attendant: &mut A) -> Result<(), A::Error> {
        let mut turn = 0_u32;
        loop {
            turn = turn.wrapping_add(1);
            while self.memory.word(TURN).load(Ordering::Acquire) != OUTSIDE {
                self.memory.wait(TURN, KERNEL, PATIENCE);
                if self.memory.word(TURN).load(Ordering::Acquire) != OUTSIDE {
                    attendant.check()?;
                }
            }
            // A broken kernel can hand over without end.
            if turn.is_multiple_of(TURNS) {
                attendant.check()?;
            }
            match self.memory.word(REASON).load(Ordering::Relaxed) {
                CALLS_CONTROL => self.answer(attendant),
                FULL => self.take(said, attendant)?,
                _ => return self.take(said, attendant),
            }
            self.give_turn();
        }
    }

    /// Lets the attendant answer a call of a congestion control.
    fn answer<A: Attendant>(&mut self, attendant: &mut A) {
        let mut bytes = [0; CALL];
        self.memory.read(CONTROL, &mut bytes);
        let Answer { cwnd, ssthresh, pacing, result } = Call::read(&bytes).map_or_else(Answer::default, |call| attendant.control(&call));
        let set = u32::from(cwnd.is_some()) | u32::from(ssthresh.is_some()) << 1 | u32::from(pacing.is_some()) << 2;
        let words = [set, cwnd.unwrap_or_default(), ssthresh.unwrap_or_default(), result];
        for (index, word) in words.into_iter().enumerate() {
            self.memory.word(CONTROL + ANSWER + 4 * index).store(word, Ordering::Relaxed);
        }
        self.memory.long(CONTROL + ANSWER + 16).store(pacing.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Empties the kernel's list.
    fn take<A: Attendant>(&mut self, said: &mut Vec<Said>, attendant: &mut A) -> Result<(), A::Error> {
        let end = (self.memory.word(OUT).load(Ordering::Relaxed) as usize).min(RECORDS);
        let mut at = 0;
        while at + HEAD <= end {
            let mut head = [0; HEAD];
            self.memory.read(FROM_KERNEL + at, &mut head);
            let word = |place: usize| u32::from_ne_bytes(std::array::from_fn(|index| head[place + index]));
            let (kind, device, number, length) = (word(16), word(20), word(24), word(28) as usize);
            at += HEAD;
            // A guest that is broken can say anything.
            let mut frame = vec![0; length.min(RECORDS - at)];
            self.memory.read(FROM_KERNEL + at, &mut frame);
            at += length.next_multiple_of(8);
            match kind {
                PACKET => {
                    said.push(Said::Packet { at: u64::from_ne_bytes(std::array::from_fn(|index| head[index])), device, number, frame });
                }
                DROP => said.push(Said::Dropped { device, number }),
                LINE => said.push(line(String::from_utf8_lossy(&frame).into_owned())),
                OUTPUT => attendant.hear(if device == 1 { Stream::Output } else { Stream::Errors }, &frame)?,
                _ => {}
            }
        }
        self.memory.word(OUT).store(0, Ordering::Relaxed);
        Ok(())
    }

    /// The state of a socket.
    pub fn socket(&self, socket: usize) -> SocketState {
        let mut bytes = [0; STATE];
        self.memory.read(STATES + socket * (STATE + INFO), &mut bytes);
        let flags = u32::from_ne_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        SocketState {
            read: u64::from_ne_bytes(std::array::from_fn(|index| bytes[index])),
            error: i32::from_ne_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
            connected: flags & 1 != 0,
            closed: flags & 2 != 0,
        }
    }

    /// `TCP_INFO` of a socket, as the kernel left it after the last packet.
    pub fn info(&self, socket: usize) -> [u8; INFO] {
        let mut bytes = [0; INFO];
        self.memory.read(STATES + socket * (STATE + INFO) + STATE, &mut bytes);
        bytes
    }
}

impl AsFd for Joint {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }
}
