//! The end hosts and the congestion control that the keys of a flow describe.

use ackclock_core::cc::{avoidance, initial_window, slow_start};
use ackclock_core::params::{Axis, Params};
use ackclock_core::units::Bytes;
use ackclock_host::Profile;
use ackclock_tcp::HEADER;
use ackclock_tcp::modern::{Feedback, TIMESTAMPS};

use crate::scenario::check::Record;
use crate::scenario::model::{
    AckRules, AdaptiveAcks, ComposedSpec, ControlSpec, Growth, HostSpec, MODERN_RECOVERIES, ModernHost, ModernRecovery, Ns2Host, Offload,
    OtherHost, Pacing, PartSpec, ProbeMargins, ReceiveBuffer, Recovery, RtoBounds, SlowStartSpec,
};
use crate::scenario::profiles;
use crate::scenario::topology::part;
use crate::scenario::unit::Quantity;

/// The end hosts.
pub(crate) fn host(table: &Record) -> HostSpec {
    let packet_size = Bytes(table.whole("packet_size").unwrap_or(1));
    let (feedback, initial_pacing) = (feedback(table), table.text("initial_pacing") == Some("rtt"));
    let ecn = feedback.is_some();
    let sends_datagrams = table.table("application").is_some_and(|application| application.kind == "cbr");
    if sends_datagrams {
        return HostSpec::Datagrams(packet_size);
    }
    if is_modern(table)
        && let Some(keys) = table.table("modern")
    {
        let host = modern(keys);
        // The announced size includes the timestamps, so that a full segment has `packet_size` bytes of data.
        let mss = packet_size.0 as u16 + if host.timestamps { TIMESTAMPS } else { 0 };
        return HostSpec::Modern(ModernHost { mss, ecn: feedback, initial_pacing, ..host });
    }
    if let Some(chosen) = table.part("profile").map(part)
        && let Some(header) = other_header(&chosen)
    {
        return HostSpec::Other(OtherHost { profile: chosen, packet_size, header, ecn, initial_pacing });
    }
    HostSpec::Ns2(Ns2Host {
        recovery: table.part("recovery").map_or_else(Recovery::default, |choice| Recovery::find(part(choice).name).unwrap_or_default()),
        packet_size,
        header: Bytes(table.whole("header").unwrap_or(u64::from(HEADER))),
        rwnd: rwnd(table),
        delayed_ack: table.flag("delayed_ack"),
        delayed_ack_timeout: table.time("delayed_ack_timeout"),
        ecn,
        limited_transmit: table.flag("limited_transmit"),
        initial_pacing,
        clock_granularity: table.time("clock_granularity"),
        clock_phase: table.time("clock_phase"),
        min_rto: table.time("min_rto"),
        initial_rto: table.time("initial_rto"),
        max_rto: table.time("max_rto"),
    })
}

/// The feedback of ECN.
pub(crate) fn feedback(table: &Record) -> Option<Feedback> {
    match table.text("ecn") {
        Some(word) => Feedback::ALL.into_iter().find(|feedback| feedback.name() == word),
        None => table.flag("ecn").then_some(Feedback::Classic),
    }
}

/// Header size of a profile whose packets are bytes.
fn other_header(profile: &PartSpec) -> Option<Bytes> {
    let entry = profiles::find(profile.name)?;
    match *(entry.build)(&profile.params).ok()? {
        Profile::Native(_) => None,
        Profile::Other(host) => Some(host.header()),
    }
}

fn rwnd(table: &Record) -> u32 {
    table.whole("rwnd").and_then(|packets| u32::try_from(packets).ok()).unwrap_or(u32::MAX)
}

/// The initial slow start threshold in segments; in ns-2 it is the receiver's window.
pub(crate) fn initial_ssthresh(table: &Record) -> f64 {
    match table.quantity("initial_ssthresh") {
        Some(Quantity::Real(_, segments)) => segments,
        Some(Quantity::Word("unlimited")) => f64::INFINITY,
        _ if is_modern(table) => f64::INFINITY,
        _ => f64::from(rwnd(table)),
    }
}

/// The name of the flow's host profile.
pub(crate) fn profile_name(table: &Record) -> &'static str {
    table.part("profile").map_or("ns2", |choice| part(choice).name)
}

/// Whether the flow has `modern` hosts.
pub(crate) fn is_modern(table: &Record) -> bool {
    profile_name(table) == "modern"
}

/// The settings in `[flow.modern]`.
fn modern(table: &Record) -> ModernHost {
    let bytes = |key| table.whole(key).unwrap_or(1);
    let (initial, max) = (bytes("receive_buffer"), bytes("receive_buffer_max"));
    let recovery = table.text("recovery").unwrap_or_default();
    let windowed = table.text("pacing") == Some("window");
    ModernHost {
        recovery: MODERN_RECOVERIES.iter().find(|(name, _)| *name == recovery).map_or(ModernRecovery::Rack, |(_, recovery)| *recovery),
        timestamps: table.flag("timestamps"),
        window_scaling: table.flag("window_scaling"),
        buffer: match table.text("receive_buffer_unit") {
            Some("memory") => ReceiveBuffer::Memory { initial, max: max.max(initial), first_window: bytes("receive_window_first") },
            _ if max > initial => ReceiveBuffer::Autotuned { initial, max },
            _ => ReceiveBuffer::Fixed(initial),
        },
        acks: if table.text("acks") == Some("adaptive") { AckRules::Adaptive(adaptive_acks(table)) } else { AckRules::EverySecond },
        delayed_ack: table.time("delayed_ack"),
        quick_acks: table.integer("quick_acks").unwrap_or(0) as u32,
        limited_transmit: table.flag("limited_transmit"),
        prr: table.flag("prr"),
        tlp: table.flag("tlp"),
        frto: table.flag("frto"),
        undo: table.flag("undo"),
        idle_restart: table.flag("idle_restart"),
        fin_alone: table.text("fin") == Some("alone"),
        abc_limit: table.integer("abc_limit").unwrap_or(1) as f64,
        whole_segments: table.flag("whole_segments"),
        // The ratios of Linux.
        pacing: if windowed { Pacing::Window { slow_start: 2.0, avoidance: 1.2 } } else { Pacing::Control },
        rto: RtoBounds {
            initial: table.time("initial_rto"),
            min: table.time("min_rto"),
            max: table.time("max_rto"),
            margin: table.time("rto_margin"),
            per_round: table.flag("rto_per_round"),
        },
        nagle: table.flag("nagle"),
        offload: table.integer("tso_segments").filter(|segments| *segments > 0).map(|segments| Offload {
            min_segments: segments as u32,
            window_divisor: table.integer("tso_window_divisor").unwrap_or(0) as u32,
        }),
        timer_tick: table.time("timer_tick"),
        growth: if table.text("growth") == Some("flight") { Growth::Flight } else { Growth::Full },
        ecn_option: table.flag("ecn_option"),
        gradual_marks: table.flag("gradual_marks"),
        recover_again: table.flag("recover_again"),
        reduce_once: table.flag("reduce_once"),
        late_undo: table.flag("late_undo"),
        frto_at_once: table.flag("frto_at_once"),
        probe_margins: ProbeMargins {
            several: table.time("probe_margin"),
            single: table.time(if table.field("probe_margin_single").given { "probe_margin_single" } else { "delayed_ack" }),
        },
        reordering_margin: table.time("reordering_margin"),
        rtt_of_sacked: table.flag("rtt_of_sacked"),
        lost_syns_tolerated: table.integer("lost_syns_tolerated").unwrap_or(0) as u32,
        syn_linear_timeouts: table.integer("syn_linear_timeouts").unwrap_or(0) as u32,
        backoff_until_measured: table.flag("backoff_until_measured"),
        ..ModernHost::default()
    }
}

/// The settings of adaptive ACKs.
fn adaptive_acks(table: &Record) -> AdaptiveAcks {
    AdaptiveAcks {
        delay_max: table.time("delayed_ack_max"),
        on_growth: table.flag("ack_on_growth"),
        on_read: table.flag("ack_on_read"),
        interactive: table.flag("ack_with_data"),
        compression: table.time("sack_compression"),
        compressed_max: table.integer("sack_compression_max").unwrap_or(0) as u32,
    }
}

/// The congestion control.
pub(crate) fn control(table: &Record) -> ControlSpec {
    let chosen = |axis| table.part(axis).map(part);
    if let Some(whole) = chosen("congestion_control") {
        return ControlSpec::Whole(whole);
    }
    let some = |axis: &Axis| chosen(axis.name).unwrap_or_else(|| axis.spec(axis.usual));
    ControlSpec::Composed(ComposedSpec {
        initial_window: if is_modern(table) && !table.field("initial_window").given {
            PartSpec { name: "rfc6928", params: Params(Vec::new()) }
        } else {
            some(&initial_window::AXIS)
        },
        slow_start: SlowStartSpec::Part(some(&slow_start::AXIS)),
        avoidance: some(&avoidance::AXIS),
        loss_response: chosen("loss_response"),
    })
}
