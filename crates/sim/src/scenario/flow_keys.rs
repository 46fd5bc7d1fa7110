//! The end hosts and the congestion control that the keys of a flow describe.

use ackclock_core::units::Bytes;

use crate::net::packet::HEADER;
use crate::scenario::check::Record;
use crate::scenario::model::{
    ComposedSpec, ModernHost, ModernRecovery, Ns2Host, Pacing, PartSpec, ReceiveBuffer, Recovery, RtoBounds, SlowStartSpec,
};
use crate::scenario::part::Axis;
use crate::scenario::topology::part;
use crate::scenario::unit::Quantity;

/// The settings that both profiles share, and those of `ns2`.
pub(crate) fn host(table: &Record) -> Ns2Host {
    let rwnd = table.whole("rwnd").and_then(|packets| u32::try_from(packets).ok()).unwrap_or(u32::MAX);
    let recovery = table.text("recovery").unwrap_or_default();
    Ns2Host {
        recovery: RECOVERIES.iter().find(|(name, _)| *name == recovery).map_or(Recovery::Sack, |(_, recovery)| *recovery),
        packet_size: Bytes(table.whole("packet_size").unwrap_or(1)),
        header: Bytes(table.whole("header").unwrap_or(u64::from(HEADER))),
        rwnd,
        initial_ssthresh: match table.quantity("initial_ssthresh") {
            Some(Quantity::Real(_, segments)) => segments,
            Some(Quantity::Word("unlimited")) => f64::INFINITY,
            _ if is_modern(table) => f64::INFINITY,
            _ => f64::from(rwnd),
        },
        delayed_ack: table.flag("delayed_ack"),
        delayed_ack_timeout: table.time("delayed_ack_timeout"),
        ecn: table.flag("ecn"),
        limited_transmit: table.flag("limited_transmit"),
        initial_pacing: table.text("initial_pacing") == Some("rtt"),
        clock_granularity: table.time("clock_granularity"),
        clock_phase: table.time("clock_phase"),
        min_rto: table.time("min_rto"),
        initial_rto: table.time("initial_rto"),
        max_rto: table.time("max_rto"),
    }
}

/// Whether the flow has `modern` hosts.
pub(crate) fn is_modern(table: &Record) -> bool {
    table.text("profile") == Some("modern")
}

/// The `modern` host of `[flow.modern]`.
pub(crate) fn modern(table: &Record, shared: &Ns2Host) -> ModernHost {
    let bytes = |key| table.whole(key).unwrap_or(1);
    let (initial, max) = (bytes("receive_buffer"), bytes("receive_buffer_max"));
    let recovery = table.text("recovery").unwrap_or_default();
    let timestamps = table.flag("timestamps");
    let windowed = table.text("pacing") == Some("window");
    ModernHost {
        // The announced size counts the timestamps, so that a full segment has `packet_size` bytes of data.
        mss: (shared.packet_size.0 + if timestamps { 12 } else { 0 }) as u16,
        recovery: MODERN_RECOVERIES.iter().find(|(name, _)| *name == recovery).map_or(ModernRecovery::Rack, |(_, recovery)| *recovery),
        timestamps,
        window_scaling: table.flag("window_scaling"),
        ecn: shared.ecn,
        buffer: if max > initial { ReceiveBuffer::Autotuned { initial, max } } else { ReceiveBuffer::Fixed(initial) },
        delayed_ack: table.time("delayed_ack"),
        quick_acks: table.integer("quick_acks").unwrap_or(0) as u32,
        limited_transmit: table.flag("limited_transmit"),
        prr: table.flag("prr"),
        tlp: table.flag("tlp"),
        frto: table.flag("frto"),
        undo: table.flag("undo"),
        idle_restart: table.flag("idle_restart"),
        abc_limit: table.integer("abc_limit").unwrap_or(1) as f64,
        // Linux's ratios.
        pacing: if windowed { Pacing::Window { slow_start: 2.0, avoidance: 1.2 } } else { Pacing::Control },
        initial_pacing: shared.initial_pacing,
        rto: RtoBounds {
            initial: table.time("initial_rto"),
            min: table.time("min_rto"),
            max: table.time("max_rto"),
            margin: table.time("rto_margin"),
        },
        ..ModernHost::default()
    }
}

/// Recoveries of `modern` hosts with their names in a scenario.
pub(crate) const MODERN_RECOVERIES: [(&str, ModernRecovery); 3] =
    [("rack", ModernRecovery::Rack), ("sack", ModernRecovery::Sack), ("newreno", ModernRecovery::NewReno)];

/// Recoveries with their names in a scenario.
pub(crate) const RECOVERIES: [(&str, Recovery); 5] = [
    ("tahoe", Recovery::Tahoe),
    ("reno", Recovery::Reno),
    ("newreno", Recovery::NewReno),
    ("sack", Recovery::Sack),
    ("vegas", Recovery::Vegas),
];

/// The parts of the congestion control.
pub(crate) fn control(table: &Record) -> ComposedSpec {
    let chosen = |axis| table.part(axis).map(part);
    let usual =
        |axis| Axis::find(axis).map_or_else(|| PartSpec { name: "", params: ackclock_core::params::Params(Vec::new()) }, Axis::usual_part);
    let some = |axis| chosen(axis).unwrap_or_else(|| usual(axis));
    ComposedSpec {
        initial_window: if is_modern(table) && !table.field("initial_window").given {
            PartSpec { name: "rfc6928", params: ackclock_core::params::Params(Vec::new()) }
        } else {
            some("initial_window")
        },
        slow_start: SlowStartSpec::Part(some("slow_start")),
        avoidance: some("avoidance"),
        loss_response: chosen("loss_response"),
    }
}
