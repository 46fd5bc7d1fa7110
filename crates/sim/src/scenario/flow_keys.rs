//! The end hosts and the congestion control that the keys of a flow describe.

use ackclock_core::cc::{avoidance, initial_window, slow_start};
use ackclock_core::params::{Axis, Params};
use ackclock_core::units::Bytes;
use ackclock_host::{Host, Profile};
use ackclock_tcp::modern::{self, Feedback, TIMESTAMPS};
use ackclock_tcp::ns2;

use crate::scenario::check::Record;
use crate::scenario::host_settings;
use crate::scenario::keys::KERNEL;
use crate::scenario::model::{ComposedSpec, ControlSpec, HostSpec, ModernHost, Ns2Host, OtherHost, PartSpec, Recovery, SlowStartSpec};
use crate::scenario::profiles::PROFILES;
use crate::scenario::topology::part;
use crate::scenario::unit::Quantity;

/// The end hosts.
pub(crate) fn host(table: &Record) -> HostSpec {
    let mut packet_size = Bytes(table.whole("packet_size").unwrap_or(1));
    let (feedback, initial_pacing) = (feedback(table), table.text("initial_pacing") == Some("rtt"));
    let ecn = feedback.is_some();
    let sends_datagrams = table.table("application").is_some_and(|application| application.kind == "cbr");
    if sends_datagrams {
        return HostSpec::Datagrams(packet_size);
    }
    if is_modern(table)
        && let Some(keys) = table.table("modern")
    {
        let mut host = ModernHost { ecn: feedback, initial_pacing, ..ModernHost::default() };
        host_settings::read(&mut host, modern::SETTINGS, keys);
        // The announced size includes the timestamps, so that a full segment has `packet_size` bytes of data.
        host.mss = packet_size.0 as u16 + if host.timestamps { TIMESTAMPS } else { 0 };
        return HostSpec::Modern(host);
    }
    if let Some(chosen) = table.part("profile").map(part)
        && let Some(host) = other_host(&chosen)
    {
        if !table.field("packet_size").given {
            packet_size = host.packet_sizes().usual;
        }
        return HostSpec::Other(OtherHost { profile: chosen, packet_size, header: host.header(), ecn, initial_pacing });
    }
    let recovery = table.part("recovery").and_then(|choice| Recovery::find(part(choice).name)).unwrap_or_default();
    let mut host = Ns2Host { recovery, packet_size, ecn, initial_pacing, ..Ns2Host::default() };
    host_settings::read(&mut host, ns2::SETTINGS, table);
    HostSpec::Ns2(host)
}

/// The key `packet_size` from which [`host`] makes these hosts. Their segments have less data where another option than timestamps takes room
/// in them.
pub(crate) fn packet_size(host: &HostSpec) -> Bytes {
    match host {
        HostSpec::Modern(host) => Bytes(u64::from(host.mss - if host.timestamps { TIMESTAMPS } else { 0 })),
        _ => host.packet_size(),
    }
}

/// The feedback of ECN.
pub(crate) fn feedback(table: &Record) -> Option<Feedback> {
    match table.text("ecn") {
        Some(word) => Feedback::ALL.into_iter().find(|feedback| feedback.name() == word),
        None => table.flag("ecn").then_some(Feedback::Classic),
    }
}

/// The hosts of a profile whose packets are bytes.
pub(crate) fn other_host(profile: &PartSpec) -> Option<Box<dyn Host>> {
    let entry = PROFILES.find(profile.name)?;
    match *(entry.build)(&profile.params).ok()? {
        Profile::Native(_) => None,
        Profile::Other(host) => Some(host),
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

/// Whether the hosts of the flow are a kernel.
pub(crate) fn is_kernel(table: &Record) -> bool {
    table.text("profile") == Some(KERNEL)
}

/// The name of the flow's host profile, whose settings it has: a kernel has those of `modern`.
pub(crate) fn profile_name(table: &Record) -> &'static str {
    if is_kernel(table) {
        return "modern";
    }
    table.part("profile").map_or("ns2", |choice| part(choice).name)
}

/// Whether the flow has the settings of `modern` hosts.
pub(crate) fn is_modern(table: &Record) -> bool {
    profile_name(table) == "modern"
}

/// The congestion control.
pub(crate) fn control(table: &Record) -> ControlSpec {
    let other = table.part("profile").and_then(|choice| other_host(&part(choice)));
    if let Some(name) = other.as_ref().and_then(|host| host.own_control()) {
        return ControlSpec::Own(name);
    }
    let chosen = |axis| table.part(axis).map(part);
    if let Some(whole) = chosen("congestion_control") {
        return ControlSpec::Whole(whole);
    }
    let some = |axis: &Axis| chosen(axis.name).unwrap_or_else(|| axis.spec(axis.usual));
    ControlSpec::Composed(ComposedSpec {
        initial_window: if (is_modern(table) || other.is_some()) && !table.field("initial_window").given {
            PartSpec::new("rfc6928", Params(Vec::new()))
        } else {
            some(&initial_window::AXIS)
        },
        slow_start: SlowStartSpec::Part(some(&slow_start::AXIS)),
        avoidance: some(&avoidance::AXIS),
        loss_response: chosen("loss_response"),
    })
}
