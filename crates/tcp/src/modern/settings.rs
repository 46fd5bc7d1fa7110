//! The settings of a `modern` host, with the defaults of today's systems. Each stands here once: scenario files, frozen scenarios, schema,
//! reference pages, the kernel's parameters and [`Config`] follow from it.

use ackclock_core::units::{Duration, Segments};
use ackclock_host::setting::Kind;
use ackclock_host::{place, settings};

use super::config::{
    AckRules, AdaptiveAcks, Feedback, Growth, Offload, Pacing, PacketMemory, ProbeMargins, ReceiveBuffer, Recovery, RtoBounds,
    SendBufferSize,
};

/// `tso_window_divisor` without offload.
const WINDOW_DIVISOR: u32 = 3;

/// Size of a receive buffer.
const BUFFER: Kind = Kind::Bytes("1 B", "1 GB");

/// `send_buffer_max` if a scenario does not set it.
const SEND_BUFFER_MAX: u64 = 4 << 20;

/// The settings of adaptive ACKs that a scenario does not set.
const ADAPTIVE: AdaptiveAcks = AdaptiveAcks {
    delay_max: millis(200),
    on_growth: true,
    on_read: true,
    interactive: true,
    compression: millis(1),
    compressed_max: 44,
    compression_percent: 33,
    compression_slack: Duration::from_nanos(10_000),
};

/// The multiples of cwnd/srtt for pacing by the window that a scenario does not set: those of Linux.
const PACING_SLOW_START: f64 = 2.0;
const PACING_AVOIDANCE: f64 = 1.2;
const WINDOW_PACING: Pacing = Pacing::Window { slow_start: PACING_SLOW_START, avoidance: PACING_AVOIDANCE };

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The buffer as the kernel's parameter: smallest, initial and largest memory.
fn tcp_rmem(buffer: ReceiveBuffer) -> String {
    match buffer {
        ReceiveBuffer::Memory { initial, max, .. } => format!("4096 {initial} {max}"),
        // Half of the memory is data.
        ReceiveBuffer::Autotuned { .. } | ReceiveBuffer::Fixed(_) => format!("4096 {} {}", 2 * buffer.initial(), 2 * buffer.max()),
    }
}

/// The settings of adaptive ACKs, if the rules are these.
const fn adaptive(config: &Config) -> Option<AdaptiveAcks> {
    if let AckRules::Adaptive(acks) = config.acks { Some(acks) } else { None }
}

/// A field of the settings of adaptive ACKs.
macro_rules! adaptive {
    ($value:ident, $field:ident) => {
        Place {
            get: |config| adaptive(config).map(|acks| Value::$value(acks.$field)),
            set: |config, value| {
                if let (AckRules::Adaptive(acks), Value::$value(value)) = (&mut config.acks, value) {
                    acks.$field = value;
                }
            },
        }
    };
}

settings! {
    /// Largest segment that the host announces, without headers and options (RFC 9293 §3.7.1).
    field mss: u16 = 1460;
    /// The feedback of ECN that the host offers; `None`: it uses no ECN.
    field ecn: Option<Feedback> = None;
    /// Whether the first flight is paced over the first round trip with any initial window.
    field initial_pacing: bool = false;
    /// Loss recovery; always [`Recovery::NewReno`] if one end does not use SACK.
    field recovery: Recovery = Recovery::Rack;
    setting recovery: Kind::Word(&["rack", "sack", "newreno"]), Default::Value(Value::Word("rack")), Kernel::By(&[
        ("ipv4/tcp_sack", |config| Some(u8::from(config.recovery != Recovery::NewReno).to_string())),
        ("ipv4/tcp_recovery", |config| Some(u8::from(config.recovery == Recovery::Rack).to_string())),
    ]),
        "Loss recovery. rack: RFC 8985. sack: RFC 6675. newreno: RFC 6582, without SACK.",
        Place {
            get: |config| Some(Value::Word(config.recovery.name())),
            set: |config, value| {
                let found = Recovery::ALL.into_iter().find(|one| value == Value::Word(one.name()));
                config.recovery = found.unwrap_or(config.recovery);
            },
        };
    flag timestamps = true, Kernel::By(&[("ipv4/tcp_timestamps", |config| Some(u8::from(config.timestamps).to_string()))]),
        "Whether segments carry timestamps (RFC 7323), which take 12 bytes.";
    flag window_scaling = true, Kernel::By(&[("ipv4/tcp_window_scaling", |config| Some(u8::from(config.window_scaling).to_string()))]),
        "Whether the receiver can advertise windows above 65535 bytes (RFC 7323).";
    /// The receive window.
    field buffer: ReceiveBuffer = ReceiveBuffer::Autotuned { initial: 64 * 1024, max: 6 * 1024 * 1024 };
    setting receive_buffer: BUFFER, Default::Quantity("64 KiB"), Kernel::By(&[("ipv4/tcp_rmem", |config| Some(tcp_rmem(config.buffer)))]),
        "Initial size of the receive buffer.",
        Place {
            get: |config| Some(Value::Whole(config.buffer.initial())),
            set: |config, value| if let Value::Whole(initial) = value { config.buffer = ReceiveBuffer::Fixed(initial) },
        };
    setting receive_buffer_max: BUFFER, Default::Quantity("6 MiB"), Kernel::Otherwise,
        "Largest size to which the receive buffer grows with the application's read rate. A value up to receive_buffer keeps the size \
         fixed.",
        Place {
            get: |config| Some(Value::Whole(config.buffer.max())),
            set: |config, value| match (config.buffer.initial(), value) {
                (initial, Value::Whole(max)) if max > initial => config.buffer = ReceiveBuffer::Autotuned { initial, max },
                _ => {}
            },
        };
    setting receive_buffer_unit: Kind::Word(&["data", "memory"]), Default::Value(Value::Word("data")), Kernel::Own,
        "What the receive buffer counts. data: bytes of data. memory: bytes of memory, which a packet takes beyond its data.",
        Place {
            get: |config| Some(Value::Word(if let ReceiveBuffer::Memory { .. } = config.buffer { "memory" } else { "data" })),
            set: |config, value| if value == Value::Word("memory") {
                let (initial, max) = (config.buffer.initial(), config.buffer.max());
                config.buffer = ReceiveBuffer::Memory { initial, max, first_window: u64::MAX, asked: None };
            },
        };
    /// The memory of a received packet, if the buffer counts memory.
    field packet_memory: PacketMemory = PacketMemory::Fitted;
    setting packet_memory: Kind::Word(&["fitted", "power_of_two"]), Default::Value(Value::Word("fitted")), Kernel::Own,
        "Memory of a received packet, if the buffer counts memory. fitted: its buffer fits the packet, as drivers of Ethernet cards take it \
         from a page. power_of_two: as the device TUN takes it.",
        Place {
            get: |config| Some(Value::Word(if config.packet_memory == PacketMemory::Fitted { "fitted" } else { "power_of_two" })),
            set: |config, value| {
                config.packet_memory = if value == Value::Word("fitted") { PacketMemory::Fitted } else { PacketMemory::PowerOfTwo };
            },
        };
    /// The send buffer. `None`: the application's data is always at hand.
    field send_buffer: Option<SendBufferSize> = None;
    setting send_buffer: Kind::Bytes("0 B", "1 GB"), Default::Quantity("0 B"), Kernel::By(&[
        ("ipv4/tcp_wmem", |config| config.send_buffer.map(|buffer| format!("4096 {} {}", buffer.initial, buffer.max))),
    ]),
        "Initial size of the send buffer, which counts the memory of packets. The application writes as long as the buffer has room. 0 B: no \
         limit.",
        Place {
            get: |config| Some(Value::Whole(config.send_buffer.map_or(0, |buffer| buffer.initial))),
            set: |config, value| if let Value::Whole(initial) = value {
                config.send_buffer = (initial > 0).then_some(SendBufferSize {
                    initial,
                    max: SEND_BUFFER_MAX.max(initial),
                    headers: SendBufferSize::HEADERS,
                });
            },
        };
    setting send_buffer_max: BUFFER, Default::Quantity("4 MiB"), Kernel::Otherwise,
        "Largest size to which the send buffer grows with the congestion window. A value up to send_buffer keeps the size fixed.",
        Place {
            get: |config| config.send_buffer.map(|buffer| Value::Whole(buffer.max)),
            set: |config, value| if let (Some(buffer), Value::Whole(max)) = (&mut config.send_buffer, value) {
                buffer.max = max.max(buffer.initial);
            },
        };
    /// Maximum delay of an ACK, or shortest with [`AckRules::Adaptive`] (RFC 5681 §4.2: below 500 ms).
    field delayed_ack: Duration = millis(40);
    setting delayed_ack: Kind::Time, Default::Value(Value::Time(millis(40))), Kernel::Own,
        "Longest delay of an ACK (RFC 5681); with adaptive acks the shortest.",
        Place {
            get: |config| Some(Value::Time(config.delayed_ack)),
            // A peer is supposed to delay its ACKs as long as this host, unless `probe_margin_single` follows.
            set: |config, value| if let Value::Time(value) = value { (config.delayed_ack, config.probe_margins.single) = (value, value) },
        };
    count quick_acks = 16, 1_000_000, Kernel::Own,
        "Number of segments at the start that the receiver acknowledges at once; with adaptive acks also after a pause, a duplicate, or a \
         hole.";
    flag limited_transmit = true, Kernel::Own,
        "Whether the first duplicate ACKs release new data (RFC 3042).";
    flag prr = true, Kernel::Own,
        "Whether recovery with SACK uses Proportional Rate Reduction (RFC 9937).";
    flag tlp = true, Kernel::By(&[("ipv4/tcp_early_retrans", |config| Some(if config.tlp { "3" } else { "0" }.to_owned()))]),
        "Whether the sender sends tail loss probes (RFC 8985). Requires recovery rack.";
    flag frto = true, Kernel::By(&[("ipv4/tcp_frto", |config| Some(if config.frto { "2" } else { "0" }.to_owned()))]),
        "Whether F-RTO detects spurious timeouts (RFC 5682).";
    flag undo = true, Kernel::Own,
        "Whether the sender undoes a recovery that timestamps or D-SACK show to be spurious (RFC 4015).";
    flag idle_restart = true, Kernel::By(&[("ipv4/tcp_slow_start_after_idle", |config| Some(u8::from(config.idle_restart).to_string()))]),
        "Whether the window restarts after an idle time of one retransmission timeout (RFC 5681 §4.1).";
    flag gradual_restart = false, Kernel::Own,
        "Whether each idle retransmission timeout halves the window, down to the restart window, and the threshold remembers three quarters \
         of it (RFC 2861; requires idle_restart). Otherwise one idle timeout restarts the window.";
    /// Whether the FIN of a bulk transfer follows alone if all data has left in the first flight.
    field fin_alone: bool = false;
    setting fin: Kind::Word(&["with_data", "alone"]), Default::Value(Value::Word("with_data")), Kernel::Otherwise,
        "How a transfer ends. with_data: its last segment carries the FIN, as if the application had closed before the segment left. alone: \
         the application writes its last data, and closes after what the windows allow has left: if nothing is left, the FIN follows \
         alone, otherwise the last segment carries it.",
        Place {
            get: |config| Some(Value::Word(if config.fin_alone { "alone" } else { "with_data" })),
            set: |config, value| config.fin_alone = value == Value::Word("alone"),
        };
    /// Maximum number of segments that one ACK counts in slow start (RFC 3465 §2.2, L).
    field abc_limit: Segments = 2.0;
    setting abc_limit: Kind::Count(1, 1_000_000), Default::Value(Value::Whole(2)), Kernel::Own,
        "Largest number of segments for which an ACK counts in slow start (L in RFC 3465).",
        Place {
            get: |config| Some(Value::Whole(config.abc_limit as u64)),
            set: |config, value| if let Value::Whole(value) = value { config.abc_limit = value as f64 },
        };
    flag whole_segments = false, Kernel::Own,
        "Whether window and threshold are whole segments, as in Linux: reductions are rounded down, and growth waits until it amounts to a \
         segment.";
    /// Pacing.
    field pacing: Pacing = Pacing::Control;
    setting pacing: Kind::Word(&["control", "window"]), Default::Value(Value::Word("control")), Kernel::Otherwise,
        "window: pacing at pacing_slow_start cwnd/srtt and pacing_avoidance cwnd/srtt. control: pacing at the rate that the congestion \
         control sets. Most controls set none; bbr and the slow start paced do.",
        Place {
            get: |config| Some(Value::Word(if config.pacing == Pacing::Control { "control" } else { "window" })),
            set: |config, value| config.pacing = if value == Value::Word("window") { WINDOW_PACING } else { Pacing::Control },
        };
    setting pacing_slow_start: Kind::Number(0.01, 1000.0), Default::Value(Value::Number(PACING_SLOW_START)),
        Kernel::Since(("ipv4/tcp_pacing_ss_ratio", |config| match config.pacing {
        Pacing::Window { slow_start, .. } => Some(format!("{:.0}", 100.0 * slow_start)),
        Pacing::Control => None,
    }), "200"),
        "Multiple of cwnd/srtt at which pacing by the window sends in slow start (Linux tcp_pacing_ss_ratio).",
        Place {
            get: |config| if let Pacing::Window { slow_start, .. } = config.pacing { Some(Value::Number(slow_start)) } else { None },
            set: |config, value| if let (Pacing::Window { slow_start, .. }, Value::Number(ratio)) = (&mut config.pacing, value) {
                *slow_start = ratio;
            },
        };
    setting pacing_avoidance: Kind::Number(0.01, 1000.0), Default::Value(Value::Number(PACING_AVOIDANCE)),
        Kernel::Since(("ipv4/tcp_pacing_ca_ratio", |config| match config.pacing {
        Pacing::Window { avoidance, .. } => Some(format!("{:.0}", 100.0 * avoidance)),
        Pacing::Control => None,
    }), "120"),
        "Multiple of cwnd/srtt at which pacing by the window sends in congestion avoidance (Linux tcp_pacing_ca_ratio).",
        Place {
            get: |config| if let Pacing::Window { avoidance, .. } = config.pacing { Some(Value::Number(avoidance)) } else { None },
            set: |config, value| if let (Pacing::Window { avoidance, .. }, Value::Number(ratio)) = (&mut config.pacing, value) {
                *avoidance = ratio;
            },
        };
    /// Retransmission timeout.
    field rto: RtoBounds =
        RtoBounds { initial: millis(1000), min: millis(200), max: millis(60_000), margin: millis(200), per_round: false };
    setting min_rto: Kind::Delay, Default::Value(Value::Time(millis(200))),
        Kernel::Since(("ipv4/tcp_rto_min_us", |config| Some((config.rto.min.as_nanos() / 1000).to_string())), "200000"),
        "Smallest retransmission timeout.",
        place!(Time, rto.min);
    setting initial_rto: Kind::Time, Default::Value(Value::Time(millis(1000))), Kernel::Own,
        "Retransmission timeout before the first measurement (RFC 6298).",
        place!(Time, rto.initial);
    setting max_rto: Kind::Time, Default::Value(Value::Time(millis(60_000))),
        Kernel::Since(("ipv4/tcp_rto_max_ms", |config| Some((config.rto.max.as_nanos() / 1_000_000).to_string())), "120000"),
        "Largest retransmission timeout.",
        place!(Time, rto.max);
    setting rto_margin: Kind::Delay, Default::Value(Value::Time(millis(200))), Kernel::Own,
        "Smallest margin of the timeout above srtt (G in RFC 6298 §2.3).",
        place!(Time, rto.margin);
    flag nagle = false, Kernel::Otherwise,
        "Whether a small segment waits while another small one is outstanding (Nagle's algorithm, RFC 9293 §3.7.4, as modified by \
         Minshall).";
    /// Segmentation offload, which determines the segments that carry PSH. `None`: segments leave one by one, and the last one that the
    /// application has written carries PSH.
    field offload: Option<Offload> = None;
    setting tso_segments: Kind::Count(0, 1000), Default::Value(Value::Whole(0)),
        Kernel::By(&[("ipv4/tcp_min_tso_segs", |config| config.offload.map(|offload| offload.min_segments.to_string()))]),
        "Smallest number of segments in a packet that the network device splits (segmentation offload; Linux tcp_min_tso_segs). The last \
         segment of such a packet carries PSH. 0: no offload.",
        Place {
            get: |config| Some(Value::Whole(config.offload.map_or(0, |offload| offload.min_segments.into()))),
            set: |config, value| if let Value::Whole(segments) = value {
                config.offload = (segments > 0).then_some(Offload { min_segments: segments as u32, window_divisor: WINDOW_DIVISOR });
            },
        };
    setting tso_window_divisor: Kind::Count(0, 1000), Default::Value(Value::Whole(WINDOW_DIVISOR as u64)),
        Kernel::By(&[("ipv4/tcp_tso_win_divisor", |config| config.offload.map(|offload| offload.window_divisor.to_string()))]),
        "A packet that fills this part of the window is not deferred until the next ACK: a third for 3; 0: no packet is deferred \
         (segmentation offload; Linux tcp_tso_win_divisor).",
        Place {
            get: |config| Some(Value::Whole(config.offload.map_or(WINDOW_DIVISOR, |offload| offload.window_divisor).into())),
            set: |config, value| if let (Some(offload), Value::Whole(divisor)) = (&mut config.offload, value) {
                offload.window_divisor = divisor as u32;
            },
        };
    delay timer_tick = Duration::ZERO, Kernel::Own,
        "Time between two ticks of the clock at which timers expire, at the tick after; timers from 64 ticks on expire at coarser ticks. 0 \
         s: timers are exact.";
    delay timer_phase = Duration::ZERO, Kernel::Own,
        "Time since the latest tick at the start of the run; all ticks, also coarser ones, count from there (requires timer_tick).";
    setting rto_per_round: Kind::Flag, Default::Value(Value::Flag(false)), Kernel::Own,
        "Whether the largest deviation of a round trip determines the timeout, and decays by a quarter in each round trip. Otherwise every \
         sample changes the deviation (RFC 6298 §2.3).",
        place!(Flag, rto.per_round);
    /// Which use of the window lets it grow.
    field growth: Growth = Growth::Full;
    setting growth: Kind::Word(&["full", "flight"]), Default::Value(Value::Word("full")), Kernel::Own,
        "Which use of the window lets it grow. full: the window had no room for another segment (RFC 9002 §7.8). flight: the window was \
         full at the end of the last transmission, or, in slow start, more than half of it was outstanding in the last round trip (Linux).",
        Place {
            get: |config| Some(Value::Word(if config.growth == Growth::Flight { "flight" } else { "full" })),
            set: |config, value| config.growth = if value == Value::Word("flight") { Growth::Flight } else { Growth::Full },
        };
    /// Whether accurate feedback also counts bytes, in an option of pure ACKs (RFC 9768 §3.2.3).
    field ecn_option: bool = true;
    setting ecn_option: Kind::Flag, Default::Value(Value::Flag(true)), Kernel::Otherwise,
        "Whether accurate feedback of ECN also counts bytes, in an option of pure ACKs (RFC 9768 §3.2.3; Linux: tcp_ecn_option).",
        Place {
            get: |config| (config.ecn == Some(Feedback::Accurate)).then_some(Value::Flag(config.ecn_option)),
            set: |config, value| if let Value::Flag(value) = value { config.ecn_option = value },
        };
    flag gradual_marks = false, Kernel::Own,
        "Whether an ECN echo reduces the window gradually over a round trip, by Proportional Rate Reduction, instead of at once.";
    flag recover_again = false, Kernel::Own,
        "Whether a loss among the data sent during recovery begins another recovery, with another reduction, although it is repaired \
         already.";
    flag reduce_once = false, Kernel::Own,
        "Whether a timer that expires in recovery leaves the threshold as the recovery has set it.";
    flag late_undo = false, Kernel::Own,
        "Whether D-SACKs that arrive after recovery still undo its reduction (requires undo).";
    flag frto_at_once = false, Kernel::Own,
        "Whether a timeout is spurious as soon as a segment that was sent once before it is acknowledged (requires frto). Otherwise only \
         the second ACK decides (RFC 5682 §3.1).";
    /// Additions to the probe timeout of twice `srtt` (RFC 8985 §7.2).
    field probe_margins: ProbeMargins = ProbeMargins { several: Duration::ZERO, single: millis(40) };
    setting probe_margin: Kind::Delay, Default::Value(Value::Time(Duration::ZERO)), Kernel::Own,
        "Addition to the delay of a tail loss probe, 2 srtt, with several outstanding segments.",
        place!(Time, probe_margins.several);
    setting probe_margin_single: Kind::Delay, Default::As("delayed_ack"), Kernel::Own,
        "Addition to the delay of a tail loss probe with one outstanding segment, whose ACK the peer may delay (RFC 8985 §7.2).",
        place!(Time, probe_margins.single);
    delay reordering_margin = Duration::ZERO, Kernel::Own,
        "Addition to the delay of the timer that waits for reordered segments (RFC 8985 §6.2).";
    flag rtt_of_sacked = false, Kernel::Own,
        "Whether SACKed segments that were sent once give a round-trip time although the same ACK covers retransmissions. Any other ACK \
         that advances then gives the control the time between timestamps, and the minimum round-trip time considers the last segment that \
         an ACK covers.";
    count lost_syns_tolerated = 0, 100, Kernel::Own,
        "Number of lost SYNs that leave the initial window as it is (RFC 6928 §2: 0).";
    count syn_linear_timeouts = 0, 100,
        Kernel::Since(("ipv4/tcp_syn_linear_timeouts", |config| Some(config.syn_linear_timeouts.to_string())), "0"),
        "Number of SYNs whose timeout does not double the next one (Linux tcp_syn_linear_timeouts). 0: every timeout doubles the next (RFC \
         6298 §5.5).";
    flag backoff_until_measured = false, Kernel::Own,
        "Whether a doubled timeout stays until a round-trip time is measured (RFC 6298 §5). Otherwise any new data acknowledged ends the \
         backoff.";
    setting receive_window_first: BUFFER, Default::Quantity("1 GB"), Kernel::Own,
        "Upper bound of the first window if the buffer counts memory. The first window is a whole number of segments, and at most half of \
         the buffer.",
        Place {
            get: |config| match config.buffer {
                ReceiveBuffer::Memory { first_window, .. } => Some(Value::Whole(first_window)),
                ReceiveBuffer::Fixed(_) | ReceiveBuffer::Autotuned { .. } => None,
            },
            set: |config, value| if let (ReceiveBuffer::Memory { first_window, .. }, Value::Whole(bytes)) = (&mut config.buffer, value) {
                *first_window = bytes;
            },
        };
    /// When the receiver sends an ACK.
    field acks: AckRules = AckRules::EverySecond;
    setting acks: Kind::Word(&["every_second", "adaptive"]), Default::Value(Value::Word("every_second")), Kernel::Own,
        "Rules of ACKs. every_second: every second full segment, or after delayed_ack. adaptive: with quick ACKs, and a delay between \
         delayed_ack and delayed_ack_max.",
        Place {
            get: |config| Some(Value::Word(if config.acks == AckRules::EverySecond { "every_second" } else { "adaptive" })),
            set: |config, value| {
                config.acks = if value == Value::Word("adaptive") { AckRules::Adaptive(ADAPTIVE) } else { AckRules::EverySecond };
            },
        };
    setting delayed_ack_max: Kind::Time, Default::Value(Value::Time(ADAPTIVE.delay_max)), Kernel::Own,
        "Longest delay of an ACK with adaptive acks.",
        adaptive!(Time, delay_max);
    setting ack_on_growth: Kind::Flag, Default::Value(Value::Flag(ADAPTIVE.on_growth)), Kernel::Own,
        "Whether a step by which the receive window grows makes the next ACK immediate (adaptive acks, buffer of memory).",
        adaptive!(Flag, on_growth);
    setting ack_on_read: Kind::Flag, Default::Value(Value::Flag(ADAPTIVE.on_read)), Kernel::Own,
        "Whether the last segment of a write is acknowledged as soon as the application has read everything (adaptive acks).",
        adaptive!(Flag, on_read);
    setting ack_with_data: Kind::Flag, Default::Value(Value::Flag(ADAPTIVE.interactive)), Kernel::Own,
        "Whether an end that answers data with data leaves ACKs to its answers (adaptive acks).",
        adaptive!(Flag, interactive);
    setting sack_compression: Kind::Delay, Default::Value(Value::Time(ADAPTIVE.compression)),
        Kernel::By(&[("ipv4/tcp_comp_sack_delay_ns", |config| adaptive(config).map(|acks| acks.compression.as_nanos().to_string()))]),
        "Longest time for which ACKs of out-of-order segments wait for one another; 0 s: each has its ACK (adaptive acks).",
        adaptive!(Time, compression);
    setting sack_compression_rtt: Kind::Count(0, 1000), Default::Value(Value::Whole(ADAPTIVE.compression_percent as u64)),
        Kernel::Since(("ipv4/tcp_comp_sack_rtt_percent", |config| adaptive(config).map(|acks| acks.compression_percent.to_string())), "5"),
        "Per cent of a round trip for which ACKs of out-of-order segments wait for one another, if that is less than sack_compression \
         (adaptive acks; Linux tcp_comp_sack_rtt_percent).",
        Place {
            get: |config| adaptive(config).map(|acks| Value::Whole(acks.compression_percent.into())),
            set: |config, value| if let (AckRules::Adaptive(acks), Value::Whole(percent)) = (&mut config.acks, value) {
                acks.compression_percent = percent as u32;
            },
        };
    setting sack_compression_slack: Kind::Delay, Default::Value(Value::Time(ADAPTIVE.compression_slack)),
        Kernel::By(&[("ipv4/tcp_comp_sack_slack_ns", |config| adaptive(config).map(|acks| acks.compression_slack.as_nanos().to_string()))]),
        "By how much later an ACK that waited for out-of-order segments leaves: so late its timer may be, and is (adaptive acks).",
        adaptive!(Time, compression_slack);
    setting sack_compression_max: Kind::Count(0, 1_000_000), Default::Value(Value::Whole(ADAPTIVE.compressed_max as u64)),
        Kernel::By(&[("ipv4/tcp_comp_sack_nr", |config| adaptive(config).map(|acks| acks.compressed_max.to_string()))]),
        "Largest number of ACKs that compression saves in a row (adaptive acks).",
        Place {
            get: |config| adaptive(config).map(|acks| Value::Whole(acks.compressed_max.into())),
            set: |config, value| if let (AckRules::Adaptive(acks), Value::Whole(most)) = (&mut config.acks, value) {
                acks.compressed_max = most as u32;
            },
        };
    /// Whether feedback on every packet has its option only when a codepoint has changed, and now and then (Linux `tcp_ecn_option` = 1).
    field ecn_seldom: bool = false;
    /// How many times in a round trip it then has the option at least (Linux `tcp_ecn_option_beacon`).
    field ecn_beacons: u32 = 3;
    /// Whether feedback that shows a change of the ECN field of a SYN or SYN-ACK ends the use of ECN (RFC 9768 §3.2.2.3; Linux
    /// `tcp_ecn_fallback`).
    field ecn_fallback: bool = true;
    /// Initial sequence number.
    field initial_sequence: u32 = 0;
    /// Value of the timestamp clock at the start of the run.
    field initial_timestamp: u32 = 0;
}
