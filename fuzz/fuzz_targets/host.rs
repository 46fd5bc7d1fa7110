//! The endpoints of every host preset must not panic, send broken packets or leave the bounds of their window, whatever packets arrive and
//! calls are made, in any order and at any time.
//!
//! A libFuzzer target. A plain build reads the files of its arguments: `host FILE…`.
#![cfg_attr(fuzzing, no_main)]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use ackclock_core::units::Duration;
use ackclock_script::packet::{Packet, decode_options, encode_options};
use ackclock_script::script::{Flags, TcpOption};
use ackclock_script::world::{Call, Fd, Happening};
use ackclock_script::{ControlParameters, Host, IpVersion, Modern, Network, Simulated, World};
use ackclock_sim::engine::EndHost;
use arbitrary::{Arbitrary, Unstructured};

/// Presets with a `modern` endpoint; the versions differ in their rules.
const HOSTS: [&str; 9] = ["linux", "linux 5.4", "freebsd", "macos", "solaris_10", "windows_11", "windows_7", "windows_xp", "windows_98"];
/// Controls of the kernel's names; "" is the host's own.
const CONTROLS: [&str; 4] = ["", "reno", "cubic", "bbr"];
/// `MSG_DONTWAIT`.
const DONT_WAIT: i64 = 0x40;
/// Most steps, and most packets of the stack, of one input.
const MOST_STEPS: usize = 64;
const MOST_PACKETS: usize = 2000;

/// A number near one that the connection uses.
#[derive(Clone, Copy, Debug, Arbitrary)]
struct Near {
    offset: i16,
    /// Whether the offset counts 64 kB, and not bytes.
    far: bool,
}

impl Near {
    const fn to(self, number: u32) -> u32 {
        number.wrapping_add_signed(self.offset as i32 * if self.far { 1 << 16 } else { 1 })
    }
}

/// An option of a packet.
#[derive(Clone, Debug, Arbitrary)]
enum Choice {
    Nop,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    /// Blocks behind the highest number sent: distance from it, and length.
    Sack(Vec<(Near, u16)>),
    /// The peer's clock, and the distance of the echo from the stack's latest.
    Timestamps(u32, u8),
    Raw(Vec<u8>),
}

/// What happens next.
#[derive(Clone, Debug, Arbitrary)]
enum Step {
    Packet {
        flags: u8,
        seq: Near,
        ack: Near,
        window: u16,
        tos: u8,
        options: Vec<Choice>,
        payload: u16,
    },
    /// The packet that acknowledges all, with as many bytes of data.
    Acknowledge {
        payload: u16,
        marked: bool,
    },
    /// Microseconds, times 1000 if `long`.
    Wait {
        time: u16,
        long: bool,
    },
    Write(u16),
    Read(u16),
    Accept,
    Shutdown {
        read: bool,
        write: bool,
    },
    Close,
}

/// The hosts with their controls.
static MADE: LazyLock<Vec<Host>> = LazyLock::new(|| {
    let mut made = Vec::new();
    for end in HOSTS.iter().filter_map(|name| EndHost::find(name).ok()) {
        for name in CONTROLS {
            let named = (!name.is_empty()).then(|| ("tcp_congestion_control".to_owned(), name.to_owned()));
            let Ok(control) = end.control(&named.into_iter().collect::<BTreeMap<_, _>>()) else { continue };
            // A copy is faster than another control of the same parameters, and must be equal.
            made.push(Host { config: end.config().clone(), controls: Arc::new(move |_: &ControlParameters| Ok(control.clone())) });
        }
    }
    assert!(made.len() > HOSTS.len(), "every host has several controls");
    made
});

/// The peer of a stack: knows the numbers that the stack uses.
struct Peer {
    world: Simulated<Modern>,
    network: Network,
    listener: Option<Fd>,
    fd: Option<Fd>,
    /// Ports of the stack and of this peer.
    ports: (u16, u16),
    /// Number that the stack expects next, the end of what it sent, and its clock.
    expected: u32,
    sent: u32,
    clock: u32,
    packets: usize,
}

impl Peer {
    fn new(host: &Host, active: bool) -> Self {
        let network = Network::new(IpVersion::V4);
        let world = Simulated::new(Modern::new(host, &network), &network);
        let ports = (network.local_port, network.client_port);
        let mut peer = Self { world, network, listener: None, fd: None, ports, expected: 1, sent: 0, clock: 0, packets: 0 };
        let fd = peer.call(&Call::Socket { nonblocking: true }).map(|fd| fd as Fd);
        let Some(fd) = fd else { unreachable!("a socket can be made") };
        peer.call(&Call::Bind { fd, port: None });
        if active {
            peer.ports.1 = peer.network.remote_port;
            peer.fd = Some(fd);
            peer.call(&Call::Connect { fd, port: None, ends: false });
        } else {
            peer.listener = Some(fd);
            peer.call(&Call::Listen { fd, backlog: 5 });
        }
        peer
    }

    /// Makes a call that does not block; returns its value if it succeeds.
    fn call(&mut self, call: &Call) -> Option<i64> {
        let result = self.world.call(call, false).ok()??;
        (result.value >= 0).then_some(result.value)
    }

    fn inject(&mut self, flags: u16, (seq, ack): (u32, u32), window: u16, tos: u8, options: Vec<u8>, payload: u16) {
        let [source, target] = [(self.network.remote, self.ports.1), (self.network.local, self.ports.0)].map(Into::into);
        let payload = vec![0; usize::from(payload.min(3000))];
        let packet =
            Packet { source, target, tos, ttl: 64, flow_label: 0, seq, ack, flags, reserved: 0, window, urgent: 0, options, payload };
        let Ok(bytes) = packet.encode() else { return };
        assert_eq!(Packet::decode(&bytes).as_ref(), Ok(&packet));
        let _ = self.world.inject(&bytes);
    }

    /// The options as bytes, as many as fit.
    fn options(&self, choices: &[Choice]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for choice in choices {
            let option = match choice {
                Choice::Nop => TcpOption::Nop,
                Choice::Mss(mss) => TcpOption::Mss(*mss),
                Choice::WindowScale(shift) => TcpOption::WindowScale(*shift),
                Choice::SackPermitted => TcpOption::SackPermitted,
                Choice::Sack(blocks) => {
                    let block = |&(near, length): &(Near, u16)| (near.to(self.sent), near.to(self.sent).wrapping_add(length.into()));
                    TcpOption::Sack(blocks.iter().take(4).map(block).collect())
                }
                Choice::Timestamps(value, age) => TcpOption::Timestamps { value: *value, echo: self.clock.wrapping_sub(u32::from(*age)) },
                Choice::Raw(raw) => {
                    bytes.extend(raw);
                    continue;
                }
            };
            // No-operations pad every option.
            let padding = (0..4).map(|nops| [vec![TcpOption::Nop; nops], vec![option.clone()]].concat());
            bytes.extend(padding.filter_map(|list| encode_options(&list).ok()).next().unwrap_or_default());
        }
        bytes.truncate(40);
        bytes.resize(bytes.len().next_multiple_of(4), 1);
        bytes
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Packet { flags, seq, ack, window, tos, options, payload } => {
                let options = self.options(options);
                self.inject(u16::from(*flags), (seq.to(self.expected), ack.to(self.sent)), *window, *tos, options, *payload);
            }
            Step::Acknowledge { payload, marked } => {
                let flags = Flags::ACK | if *marked { Flags::ECE } else { 0 };
                self.inject(flags, (self.expected, self.sent), u16::MAX, 0, Vec::new(), *payload);
            }
            Step::Wait { time, long } => {
                let micros = u64::from(*time) * if *long { 1000 } else { 1 };
                let until = self.world.now() + Duration::from_nanos(micros * 1000);
                self.pass(until);
            }
            Step::Write(bytes) => {
                self.on_socket(|fd| Call::Write { fd, bytes: u64::from(*bytes), flags: DONT_WAIT, connects: false, null: false })
            }
            Step::Read(most) => {
                self.on_socket(|fd| Call::Read { fd, most: u64::from(*most), flags: DONT_WAIT, control: false, null: false })
            }
            Step::Shutdown { read, write } => self.on_socket(|fd| Call::Shutdown { fd, read: *read, write: *write }),
            Step::Close => self.on_socket(|fd| Call::Close { fd }),
            Step::Accept => {
                if let Some(fd) = self.listener {
                    let accepted = self.call(&Call::Accept { fd, nonblocking: true });
                    self.fd = accepted.map(|fd| fd as Fd).or(self.fd);
                }
            }
        }
        let now = self.world.now();
        self.pass(now);
        if let Some(fd) = self.fd
            && let Ok(info) = self.world.info(fd)
        {
            for (name, value) in info {
                // A pacing rate of -1 is unlimited, as in Linux.
                let least = match name {
                    "tcpi_snd_cwnd" => 1,
                    "tcpi_pacing_rate" => -1,
                    _ => 0,
                };
                assert!(value >= least, "{name} is {value}");
            }
        }
    }

    fn on_socket(&mut self, call: impl FnOnce(Fd) -> Call) {
        if let Some(fd) = self.fd {
            self.call(&call(fd));
        }
    }

    /// Lets time pass, and follows the numbers of the stack.
    fn pass(&mut self, until: ackclock_core::units::Instant) {
        while self.packets < MOST_PACKETS {
            match self.world.advance(until).expect("the stack comes to rest") {
                Happening::Reached => return,
                Happening::Returned { .. } => {}
                Happening::Sent { packet, .. } => {
                    self.packets += 1;
                    let packet = Packet::decode(&packet).expect("the stack sends sound packets");
                    let options = decode_options(&packet.options).expect("the stack sends sound options");
                    self.clock = options.iter().fold(self.clock, |clock, option| match option {
                        TcpOption::Timestamps { value, .. } => *value,
                        _ => clock,
                    });
                    let end = packet.seq.wrapping_add(packet.length());
                    if end.wrapping_sub(self.sent).cast_signed() > 0 || packet.has(Flags::SYN) {
                        self.sent = end;
                    }
                    if packet.has(Flags::ACK) {
                        self.expected = packet.ack;
                    }
                }
            }
        }
    }
}

/// Plays the steps in `data` against a host.
fn exercise(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let (Ok(host), Ok(active)) = (input.choose_index(MADE.len()), input.arbitrary()) else { return };
    let mut peer = Peer::new(&MADE[host], active);
    let Ok(steps) = input.arbitrary_take_rest_iter::<Step>() else { return };
    for step in steps.take(MOST_STEPS) {
        let Ok(step) = step else { return };
        peer.step(&step);
        if peer.packets >= MOST_PACKETS {
            return;
        }
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| exercise(data));

#[cfg(not(fuzzing))]
mod mutation;

#[cfg(not(fuzzing))]
fn main() {
    mutation::replay();
}
