//! Thousands of connections over bad channels: every byte arrives once and in order, and every connection ends.

use ackclock_core::rng::Generator;
use ackclock_core::units::Duration;
use proptest::prelude::*;

use super::super::config::{AckRules, AdaptiveAcks, Feedback, Growth, Pacing, ProbeMargins, ReceiveBuffer, Recovery};
use super::super::settings::Config;
use super::channel::{Channel, Pair, Reader};

/// A number below `limit`.
fn below(random: &mut Generator, limit: u64) -> u64 {
    (random.uniform() * limit as f64) as u64
}

fn random_config(random: &mut Generator) -> Config {
    let mut coin = |probability: f64| random.uniform() < probability;
    let recovery = if coin(0.5) {
        Recovery::Rack
    } else if coin(0.6) {
        Recovery::Sack
    } else {
        Recovery::NewReno
    };
    let pacing = if coin(0.3) { Pacing::Window { slow_start: 2.0, avoidance: 1.2 } } else { Pacing::Control };
    let mut config = Config {
        recovery,
        pacing,
        timestamps: coin(0.7),
        window_scaling: coin(0.8),
        ecn: coin(0.5).then_some(Feedback::Classic),
        limited_transmit: coin(0.8),
        prr: coin(0.8),
        tlp: coin(0.8),
        frto: coin(0.8),
        undo: coin(0.8),
        idle_restart: coin(0.8),
        ..Config::default()
    };
    let sizes = [1, 10, 536, 1200, 1460, 8960];
    config.mss = [100, 536, 1460, 8960][below(random, 4) as usize];
    config.buffer = match below(random, 4) {
        0 => ReceiveBuffer::Fixed(sizes[below(random, 6) as usize] * (1 + below(random, 10))),
        1 => ReceiveBuffer::Fixed(1 << (10 + below(random, 12))),
        _ => ReceiveBuffer::Autotuned { initial: 16_384, max: 1 << 20 },
    };
    config.quick_acks = below(random, 20) as u32;
    config.delayed_ack = Duration::from_millis(1 + below(random, 300));
    config.probe_margins.single = config.delayed_ack;
    if random.uniform() < 0.5 {
        follow_linux(&mut config, random);
        receive_like_linux(&mut config, random);
    }
    // Close to the wrap of sequence numbers, so that many connections cross it.
    config.initial_sequence = u32::MAX - below(random, 100_000) as u32;
    config.initial_timestamp = u32::MAX - below(random, 20_000) as u32;
    config.ecn = config.ecn.map(|_| Feedback::ALL[config.initial_sequence as usize % Feedback::ALL.len()]);
    config.ecn_option = !config.initial_timestamp.is_multiple_of(4);
    config
}

/// Some of the receiver's rules as in Linux.
fn receive_like_linux(config: &mut Config, random: &mut Generator) {
    if below(random, 3) > 0 {
        let initial = [10_000, 87_380, 131_072][below(random, 3) as usize];
        config.buffer =
            ReceiveBuffer::Memory { initial, max: 1 << 20, first_window: [3_000, u64::MAX][below(random, 2) as usize], asked: None };
    }
    let mut coin = || random.uniform() < 0.8;
    if coin() {
        config.acks = AckRules::Adaptive(AdaptiveAcks {
            delay_max: config.delayed_ack.max(Duration::from_millis(196)),
            on_growth: coin(),
            on_read: coin(),
            interactive: coin(),
            compression: Duration::from_millis(u64::from(coin())),
            compressed_max: 44,
            compression_percent: 33,
            compression_slack: Duration::from_nanos(10_000),
        });
    }
}

/// Some of the sender's rules as in Linux.
fn follow_linux(config: &mut Config, random: &mut Generator) {
    let mut coin = || random.uniform() < 0.8;
    let millis = Duration::from_millis;
    (config.whole_segments, config.gradual_marks, config.recover_again) = (coin(), coin(), coin());
    (config.rtt_of_sacked, config.rto.per_round) = (coin(), coin());
    config.growth = if coin() { Growth::Flight } else { Growth::Full };
    config.timer_tick = if coin() { millis(4) } else { Duration::ZERO };
    if coin() {
        config.reordering_margin = millis(2);
        config.probe_margins = ProbeMargins { several: millis(2), single: millis(200) };
    }
}

fn random_channel(random: &mut Generator) -> Channel {
    let mut rare = |share: f64, most: f64| if random.uniform() < share { random.uniform() * most } else { 0.0 };
    let (loss, ack_loss, duplication, marking) = (rare(0.7, 0.3), rare(0.4, 0.5), rare(0.3, 0.3), rare(0.5, 0.2));
    let jitter = if random.uniform() < 0.5 { Duration::ZERO } else { Duration::from_nanos(below(random, 100_000_000)) };
    Channel { delay: Duration::from_nanos(1000 + below(random, 60_000_000)), jitter, loss, ack_loss, duplication, marking }
}

fn run(seed: u64) -> Pair {
    let mut random = Generator::derived(seed, "connection");
    let configs = [random_config(&mut random), random_config(&mut random)];
    let channel = random_channel(&mut random);
    let smallest = configs.iter().map(|config| u64::from(config.mss)).min().unwrap_or(1);
    let slow = random.uniform() < 0.2;
    let reader = if slow {
        Reader { chunk: 1 + below(&mut random, 4000), interval: Duration::from_millis(1 + below(&mut random, 50)) }
    } else {
        Reader { chunk: 0, interval: Duration::ZERO }
    };
    let most = if slow { 40_000 } else { 150 * smallest };
    // With a window of a few bytes, each byte is a segment.
    let both = random.uniform() < 0.4;
    let bytes = [1, 0].map(|receiver: usize| match configs[receiver].buffer {
        _ if receiver == 0 && !both => 0,
        ReceiveBuffer::Fixed(size) => below(&mut random, most.min(100 * size)),
        ReceiveBuffer::Autotuned { .. } | ReceiveBuffer::Memory { .. } => below(&mut random, most),
    });
    let mut pair = Pair::new(configs, channel, reader, seed);
    pair.run(bytes);
    pair
}

#[test]
fn many_seeds() {
    let runs = if cfg!(debug_assertions) { 2000 } else { 10_000 };
    let (mut timeouts, mut probes, mut undone) = (0, 0, 0);
    for seed in 0..runs {
        let pair = run(seed);
        for end in &pair.ends {
            let counters = end.counters();
            timeouts += counters.timeouts;
            probes += counters.probes;
            undone += counters.undone;
        }
    }
    // The runs must reach timeouts, probes and undone reductions.
    assert!(timeouts > runs && probes > runs / 10 && undone > runs / 10, "{timeouts} timeouts, {probes} probes, {undone} undone");
}

proptest! {
    /// proptest shrinks a failing case towards a simple channel.
    #[test]
    fn any_channel(
        seed in any::<u64>(),
        loss in 0.0..0.4_f64,
        jitter in 0_u64..200,
        duplication in 0.0..0.5_f64,
        bytes in 0_u64..100_000,
        recovery in prop::sample::select(vec![Recovery::Rack, Recovery::Sack, Recovery::NewReno]),
    ) {
        let config = Config { recovery, ..Config::default() };
        let millis = Duration::from_millis;
        let channel = Channel { delay: millis(20), jitter: millis(jitter), loss, ack_loss: loss, duplication, marking: 0.0 };
        let reader = Reader { chunk: 0, interval: Duration::ZERO };
        Pair::new([config.clone(), config], channel, reader, seed).run([bytes, 0]);
    }
}

#[test]
fn paths_whose_segment_size_changes() {
    for seed in 0..300 {
        let mut random = Generator::derived(seed, "path");
        let configs = [(); 2].map(|()| Config { mss: 1460, buffer: ReceiveBuffer::Fixed(1 << 20), ..random_config(&mut random) });
        let channel = random_channel(&mut random);
        let mut pair = Pair::new(configs, channel, Reader { chunk: 0, interval: Duration::ZERO }, seed);
        pair.path_changes = 0.1;
        pair.run([below(&mut random, 100_000), below(&mut random, 20_000)]);
    }
}

#[test]
fn a_clean_channel_needs_no_recovery() {
    for recovery in [Recovery::Rack, Recovery::Sack, Recovery::NewReno] {
        let config = Config { recovery, buffer: ReceiveBuffer::Fixed(1 << 20), ..Config::default() };
        let millis = Duration::from_millis;
        let channel = Channel { delay: millis(25), jitter: Duration::ZERO, loss: 0.0, ack_loss: 0.0, duplication: 0.0, marking: 0.0 };
        let mut pair = Pair::new([config.clone(), config], channel, Reader { chunk: 0, interval: Duration::ZERO }, 1);
        let time = pair.run([100 * 1448, 0]);
        let counters = pair.ends[0].counters();
        assert_eq!((counters.retransmitted, counters.timeouts, counters.reductions, pair.sent[0]), (0, 0, 0, 100));
        // Handshake and windows of 10, 20, 40 and 30 segments take a round trip of 50 ms each, and the last ACK half a round trip.
        assert!(time + Duration::NANOSECOND >= millis(250) && time < millis(350), "{time:?}");
    }
}
