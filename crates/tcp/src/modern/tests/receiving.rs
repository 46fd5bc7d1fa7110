//! A receiver with adaptive ACKs and a buffer of memory, against the numbers of Linux 6.18 (MTU 1500, a round trip of 40 ms unless the test
//! says otherwise). The kernel received the same segments through a TUN device.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};

use super::super::config::{AckRules, AdaptiveAcks, PacketMemory, ReceiveBuffer};
use super::super::endpoint::Endpoint;
use super::super::segment::{Flags, Options, Segment, Timestamps, to_wire};
use super::super::settings::Config;
use super::channel::reno;

const FULL: u64 = 1448;
const TOLERANCE: f64 = 1e-4;

/// An ACK: milliseconds since the start, position, window, and the number of SACK blocks.
type Answer = (f64, u64, u64, usize);

/// A receiver and the time.
struct Bench {
    end: Endpoint,
    now: f64,
    scale: u8,
    timestamps: bool,
    answers: Vec<Answer>,
}

fn millis(millis: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(millis / 1e3)
}

fn config() -> Config {
    Config {
        buffer: ReceiveBuffer::Memory { initial: 131_072, max: 32 << 20, first_window: u64::MAX, asked: None },
        acks: AckRules::Adaptive(AdaptiveAcks {
            delay_max: Duration::from_millis(196),
            on_growth: true,
            on_read: true,
            interactive: true,
            compression: Duration::from_millis(1),
            compressed_max: 44,
            compression_percent: 5,
            compression_slack: Duration::from_nanos(100_000),
        }),
        timer_tick: Duration::from_millis(4),
        packet_memory: PacketMemory::PowerOfTwo,
        ..Config::default()
    }
}

impl Bench {
    /// A connection that the peer has opened at time 0; its third segment arrives after `rtt` milliseconds.
    fn new(config: &Config, rtt: f64) -> Self {
        let mut bench =
            Self { end: Endpoint::listen(config, reno()), now: 0.0, scale: 0, timestamps: config.timestamps, answers: Vec::new() };
        let options = Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..Options::default() };
        bench.arrive(0.0, (0, 0), Flags::SYN, options);
        bench.arrive(rtt, (1, 0), Flags::ACK, Options::default());
        bench
    }

    /// Lets time pass.
    fn wait(&mut self, until: f64) {
        while let Some(due) = self.end.poll_timeout().filter(|due| *due <= millis(until)) {
            self.now = due.as_secs_f64() * 1e3;
            self.end.handle_timeout(due);
            self.collect();
        }
        self.now = until;
    }

    fn collect(&mut self) {
        while let Some(segment) = self.end.poll_transmit(millis(self.now)) {
            if segment.flags.has(Flags::SYN) {
                self.scale = segment.options.window_scale.unwrap_or(0);
            }
            let scale = if segment.flags.has(Flags::SYN) { 0 } else { self.scale };
            let window = u64::from(segment.window) << scale;
            self.answers.push((self.now, u64::from(segment.ack), window, segment.options.sack.as_slice().len()));
        }
    }

    fn arrive(&mut self, at: f64, (start, data): (u64, u64), flags: Flags, options: Options) {
        self.wait(at);
        let timestamps = self.timestamps.then_some(Timestamps { value: at as u32, echo: 0 });
        let segment = Segment {
            seq: to_wire(start, 0),
            ack: 1,
            flags,
            window: u16::MAX,
            options: Options { timestamps, ..options },
            payload: data as u32,
            ecn: Ecn::NotEct,
        };
        self.end.handle_segment(millis(at), &segment);
        self.collect();
    }

    /// Data arrives; returns the answers.
    fn data(&mut self, at: f64, start: u64, data: u64, push: bool) -> Vec<Answer> {
        let before = self.answers.len();
        self.arrive(at, (start, data), Flags::ACK.with(Flags::PSH, push), Options::default());
        self.answers[before..].to_vec()
    }

    /// The application reads everything; returns the answers.
    fn read(&mut self) -> Vec<Answer> {
        let before = self.answers.len();
        self.end.read(millis(self.now), u64::MAX);
        self.collect();
        self.answers[before..].to_vec()
    }

    /// `count` full segments arrive `spacing` apart from `at` on, from segment number `first`, and are read at once. Returns for each whether
    /// it was acknowledged, and the window.
    fn stream(&mut self, at: f64, spacing: f64, first: u64, count: u64) -> Vec<Option<u64>> {
        (0..count)
            .map(|index| {
                let at = at + spacing * index as f64;
                let mut answers = self.data(at, 1 + (first + index) * FULL, FULL, false);
                answers.extend(self.read());
                assert!(answers.len() <= 1 && answers.iter().all(|answer| (answer.0 - at).abs() < TOLERANCE), "{answers:?}");
                answers.first().map(|answer| answer.2)
            })
            .collect()
    }
}

fn buffer(bench: &Bench) -> (u64, u64) {
    bench.end.receiver.window.memory().unwrap_or_default()
}

#[test]
fn first_windows() {
    let first = |timestamps, buffer| {
        let config = Config { timestamps, buffer, ..config() };
        let bench = Bench::new(&config, 40.0);
        bench.answers[0].2
    };
    let memory = |initial, first_window| ReceiveBuffer::Memory { initial, max: 32 << 20, first_window, asked: None };
    // 45 segments of 1448 B, and 44 of 1460 B.
    assert_eq!([first(true, memory(131_072, u64::MAX)), first(false, memory(131_072, u64::MAX))], [65_160, 64_240]);
    assert_eq!(first(true, memory(540_000, u64::MAX)), 65_535, "a field of 16 bits");
    assert_eq!(first(true, memory(87_380, 29_200)), 28_960, "before Linux 4.20: twice the initial window of ten segments");
}

#[test]
fn the_second_window_is_larger_than_the_field_of_the_first() {
    // With tcp_rmem 4096 540000 15728640, the first data segment of the kernel offers 1053 · 256 B with timestamps and 1050 · 256 B without.
    let second = |timestamps| {
        let buffer = ReceiveBuffer::Memory { initial: 540_000, max: 15 << 20, first_window: u64::MAX, asked: None };
        let mut bench = Bench::new(&Config { timestamps, buffer, ..config() }, 40.0);
        bench.end.write(100);
        bench.collect();
        bench.answers.last().unwrap().2
    };
    assert_eq!([second(true), second(false)], [1053 * 256, 1050 * 256]);
}

#[test]
fn the_window_and_the_buffer_grow_and_every_step_makes_an_ack_immediate() {
    let mut bench = Bench::new(&config(), 40.0);
    let answers = bench.stream(41.9, 1.31, 0, 60);
    let singles = [67_584, 70_656, 73_728, 75_776, 78_848, 80_896].into_iter().chain([80_896; 16]).map(Some);
    // Six steps of growth, 16 quick ACKs, then every second segment.
    let pairs = [None, Some(80_896), None, Some(80_896), None, Some(80_896), None, Some(80_896), None];
    assert_eq!(answers[..31], singles.chain(pairs).collect::<Vec<_>>());
    // With the 31st segment, the application has read for a round trip. The buffer grows to 746 936 B, and the window by two segments for
    // each that arrives.
    let growing = [83_968, 87_040, 90_112, 92_160, 95_232, 98_304, 101_376, 104_448, 107_520, 109_568].map(Some);
    assert_eq!(answers[31..41], growing);
    assert_eq!(answers[59], Some(164_864));
    assert_eq!(buffer(&bench), (746_936, 466_835));
}

#[test]
fn without_scaling_the_window_is_a_number_of_segments() {
    let mut bench = Bench::new(&Config { window_scaling: false, ..config() }, 40.0);
    assert_eq!(bench.answers[0].2, 65_160);
    assert_eq!(bench.data(41.0, 1, FULL, false), [(41.0, 1449, 65_535, 0)]);
}

#[test]
fn unread_data_takes_memory() {
    let mut bench = Bench::new(&config(), 40.0);
    let windows: Vec<u64> = (0..6).flat_map(|index| bench.data(41.0, 1 + index * FULL, FULL, false)).map(|answer| answer.2).collect();
    assert_eq!(windows, [67_584, 70_656, 73_728, 75_776, 74_752, 73_728]);
}

#[test]
fn a_segment_size_with_more_overhead_lowers_ratio_and_window() {
    let mut bench = Bench::new(&config(), 10.0);
    // 1000 B in 2304 B of memory: the ratio falls to 111/256.
    bench.data(10.0, 1, 1000, false);
    assert_eq!(buffer(&bench), (131_072, 56_832));
}

#[test]
fn delayed_acks_fire_at_ticks_and_grow_with_the_spacing_up_to_the_round_trip() {
    let mut config = config();
    if let AckRules::Adaptive(rules) = &mut config.acks {
        rules.on_growth = false;
    }
    let mut bench = Bench::new(&config, 10.0);
    bench.stream(10.5, 0.5, 0, 40);
    bench.wait(100.0);
    // A segment every 103 ms, in different phases of the tick: the ACK leaves at the eleventh tick, because the round trip is short.
    for index in 0..8 {
        let at = 200.0 + 103.0 * f64::from(index);
        assert_eq!(bench.data(at, 1 + (40 + index as u64) * FULL, FULL, false), [], "{at}");
        bench.read();
        bench.wait(at + 60.0);
        let delayed = bench.answers.last().unwrap().0;
        assert!((delayed - 4.0 * ((at / 4.0).floor() + 11.0)).abs() < TOLERANCE, "{at}: {delayed}");
    }
}

#[test]
fn the_end_of_a_write_is_acknowledged_once_read() {
    let mut bench = Bench::new(&config(), 40.0);
    bench.stream(41.0, 1.0, 0, 25);
    bench.wait(130.0);
    assert_eq!(bench.data(150.0, 1 + 25 * FULL, FULL, true), []);
    assert_eq!(bench.read(), [(150.0, 1 + 26 * FULL, 80_896, 0)], "a full segment with PSH");
    assert_eq!(bench.data(160.0, 1 + 26 * FULL, 100, false), []);
    assert_eq!(bench.read().len(), 1, "a small segment");
}

#[test]
fn answers_carry_acks_until_a_delay_expires() {
    let mut bench = Bench::new(&config(), 40.0);
    bench.stream(41.0, 1.0, 0, 25);
    bench.data(150.0, 1 + 25 * FULL, 100, true);
    bench.end.write(20);
    bench.collect();
    // The answer has acknowledged the request. The next request is not acknowledged on its own, although the application reads it.
    let before = bench.answers.len();
    bench.read();
    bench.data(160.0, 101 + 25 * FULL, 100, true);
    bench.read();
    assert_eq!(bench.answers.len(), before);
    bench.wait(240.0);
    assert_eq!(bench.answers.iter().skip(before).map(|answer| answer.1).collect::<Vec<_>>(), [201 + 25 * FULL]);
}

#[test]
fn out_of_order_segments_beyond_the_third_share_an_ack() {
    let mut bench = Bench::new(&config(), 10.0);
    // Four steps of growth and three duplicate ACKs, 0.5 ms apart; then ACKs after a twentieth of the round trip and the slack of the timer.
    let count = |bench: &Bench| bench.answers.len();
    let start = count(&bench);
    for index in 0..14 {
        bench.data(10.0 + 0.45 * f64::from(index), 1 + (1 + index as u64) * FULL, FULL, false);
        if index == 6 {
            assert_eq!(count(&bench), start + 7);
        }
    }
    assert_eq!(count(&bench), start + 10);
    assert_eq!(bench.answers.last().unwrap().2, 75_776);
    // The segment that fills the hole is acknowledged at once. Half of the buffer is in use, so the window shrinks.
    assert_eq!(bench.data(16.3, 1, FULL, false), [(16.0, 1, 75_776, 1), (16.3, 1 + 15 * FULL, 60_416, 0)]);
}

#[test]
fn data_above_a_hole_enlarges_the_buffer() {
    let mut bench = Bench::new(&config(), 10.0);
    for index in 10..47 {
        bench.data(20.0 + f64::from(index), 1 + index as u64 * FULL, FULL, false);
    }
    assert_eq!(buffer(&bench), (155_225, 97_015), "twice the first flight and the span from the hole on");
}

#[test]
fn data_that_waits_does_not_count_as_read() {
    // Ten milliseconds apart, 1 or 6 segments arrive above a hole; it is filled, and the application reads the first segment.
    let per_round = |above: u64| {
        let mut bench = Bench::new(&config(), 20.0);
        bench.stream(20.3, 0.3, 0, 14);
        for index in 0..above {
            bench.data(30.0 + index as f64, 1 + (15 + index) * FULL, FULL, false);
        }
        bench.data(90.0, 1 + 14 * FULL, FULL, false);
        bench.end.read(millis(90.0), FULL);
        bench.end.receiver.window.read_per_round()
    };
    assert_eq!([per_round(1), per_round(6)], [14 * FULL, 10 * FULL]);
}

#[test]
fn a_duplicate_restarts_quick_acks() {
    let mut bench = Bench::new(&config(), 40.0);
    let answers = bench.stream(41.0, 0.5, 0, 30);
    assert_eq!(answers[28..].iter().flatten().count(), 1, "every second segment");
    assert_eq!(bench.data(60.0, 1, FULL, false).len(), 1, "with a D-SACK block");
    assert_eq!(bench.stream(61.0, 0.5, 30, 12).iter().flatten().count(), 12);
}

#[test]
fn a_fin_waits_for_the_answer() {
    let mut bench = Bench::new(&config(), 40.0);
    bench.stream(41.0, 1.0, 0, 30);
    bench.wait(200.0);
    let before = bench.answers.len();
    bench.arrive(200.0, (1 + 30 * FULL, 0), Flags::ACK | Flags::FIN, Options::default());
    assert_eq!(bench.answers.len(), before);
    bench.end.close();
    bench.collect();
    assert_eq!(bench.answers.last().unwrap().1, 2 + 30 * FULL);
}
