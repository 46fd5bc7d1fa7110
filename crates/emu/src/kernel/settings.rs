//! What a flow of a scenario is on the kernel: its route, its socket options, the parameters of its namespaces; and what the kernel cannot
//! follow.

use ackclock_core::cc::initial_window;
use ackclock_core::entry;
use ackclock_core::events::Established;
use ackclock_core::units::{Bytes, Instant, Segments};
use ackclock_host::Bulk;
use ackclock_sim::engine::EndHost;
use ackclock_sim::scenario::{
    AckRules, ControlSpec, FlowSpec, HostSpec, ModernHost, ModernRecovery, Ns2Host, Pacing, PartSpec, ReceiveBuffer, Traffic,
};
use ackclock_tcp::HEADER;

use crate::controls::{KernelControl, choose};
use crate::space::Route;

/// Parameters of a namespace below /proc/sys/net, with their values.
pub(super) type Parameters = Vec<(&'static str, String)>;

/// Memory of send buffers: the sender never waits for its application (tcp(7), `tcp_wmem`).
const SEND_BUFFER: &str = "4096 4194304 67108864";
/// Parameter of receive buffers.
const RECEIVE_BUFFER: &str = "ipv4/tcp_rmem";
/// Receive window of the kernel before it grows, in bytes, rounded down.
const FIRST_WINDOW: f64 = 60_000.0;
/// Headers of IPv4 and TCP without options, in bytes.
const PLAIN_HEADERS: u32 = 40;
/// Smallest MTU of IPv4 (RFC 791).
const LEAST_MTU: u32 = 68;
/// Largest packet of IPv4.
const MOST_MTU: u32 = 65_535;

/// A flow of a scenario on the kernel.
#[derive(Clone, Debug)]
pub(super) struct FlowPlan {
    pub(super) bulk: Option<Bulk>,
    pub(super) control: KernelControl,
    /// The first slow start threshold in segments; infinite if none.
    pub(super) threshold: Segments,
    /// Bytes of data in a full segment.
    pub(super) segment: u64,
    /// The routes at both ends.
    pub(super) route: Route,
    pub(super) parameters: Parameters,
    /// Whether small segments leave at once.
    pub(super) no_delay: bool,
    /// Whether the kernel paces without a control that does.
    pub(super) paced: bool,
    /// Largest receive window in bytes.
    pub(super) window: Option<i32>,
    /// Keys of the flow that the kernel does not follow.
    pub(super) own: Vec<&'static str>,
}

impl FlowPlan {
    /// The flow `spec`; `None` for datagrams, which stay simulated.
    ///
    /// # Errors
    /// If the flow cannot be a connection of the kernel: why.
    pub(super) fn new(spec: &FlowSpec) -> Result<Option<Self>, String> {
        let segment = spec.host.packet_size().0;
        let bulk = match spec.traffic {
            Traffic::Datagrams(_) => return Ok(None),
            Traffic::Connection(_) => None,
            Traffic::Bulk => Some(Bulk { start: spec.start, stop: spec.stop, packets: spec.packets, grows: false }),
            Traffic::Bursts(_) => Some(Bulk { start: spec.start, stop: spec.stop, packets: Some(0), grows: true }),
        };
        let mut plan = Self {
            bulk,
            control: choose(&spec.control, spec.initial_ssthresh)?,
            threshold: spec.initial_ssthresh,
            segment,
            route: Route::default(),
            parameters: vec![("ipv4/tcp_wmem", SEND_BUFFER.to_owned())],
            no_delay: false,
            paced: false,
            window: None,
            own: Vec::new(),
        };
        match &spec.host {
            HostSpec::Modern(host) => plan.follow_modern(host)?,
            HostSpec::Ns2(host) => plan.follow_ns2(host),
            HostSpec::Other(host) => return Err(format!("the profile {} is no TCP; use host = \"linux\"", host.profile.name)),
            HostSpec::Datagrams(_) => return Ok(None),
        }
        if !(LEAST_MTU..=MOST_MTU).contains(&plan.route.mtu) {
            let mtu = plan.route.mtu;
            return Err(format!(
                "packet_size makes packets of {mtu} B; the kernel sends at most {MOST_MTU} B, and an MTU has at least {LEAST_MTU} B"
            ));
        }
        // A window beyond that of the receiver has no effect.
        let most = spec.host.as_ns2().map_or(f64::INFINITY, |host| f64::from(host.rwnd));
        if !matches!(plan.control, KernelControl::Ebpf(_)) {
            if spec.initial_ssthresh < most {
                plan.own.push("initial_ssthresh");
            }
            plan.threshold = f64::INFINITY;
        }
        plan.set_initial_window(&spec.control);
        Ok(Some(plan))
    }

    fn set_initial_window(&mut self, control: &ControlSpec) {
        let ControlSpec::Composed(parts) = control else { return };
        let Some(window) = initial_window(&parts.initial_window, self.segment) else {
            self.own.push("initial_window");
            return;
        };
        let whole = window.round().max(1.0);
        if (whole - window).abs() > 1e-9 {
            self.own.push("initial_window");
        }
        self.route.initial_window = Some(whole as u32);
        // The receiver's first window must not hold back a larger one.
        if whole * self.segment as f64 > FIRST_WINDOW {
            self.route.initial_receive_window = Some(whole as u32);
        }
    }

    fn set(&mut self, name: &'static str, value: impl std::fmt::Display) {
        self.parameters.push((name, format!("{value}")));
    }

    fn set_recovery(&mut self, selective: bool, by_time: bool) {
        self.set("ipv4/tcp_sack", u8::from(selective));
        self.set("ipv4/tcp_recovery", u8::from(by_time));
    }

    fn follow_modern(&mut self, host: &ModernHost) -> Result<(), String> {
        let linux = EndHost::find("linux")?;
        let linux = linux.config();
        self.route.mtu = u32::from(host.mss) + u32::from(HEADER);
        self.route.ecn = host.ecn.is_some();
        self.no_delay = !host.nagle;
        self.paced = matches!(host.pacing, Pacing::Window { .. });
        self.set_recovery(host.recovery != ModernRecovery::NewReno, host.recovery == ModernRecovery::Rack);
        for (name, value) in [
            ("ipv4/tcp_timestamps", host.timestamps),
            ("ipv4/tcp_window_scaling", host.window_scaling),
            ("ipv4/tcp_slow_start_after_idle", host.idle_restart),
        ] {
            self.set(name, u8::from(value));
        }
        // The values that the kernel has by itself.
        self.set("ipv4/tcp_early_retrans", if host.tlp { 3 } else { 0 });
        self.set("ipv4/tcp_frto", if host.frto { 2 } else { 0 });
        match host.buffer {
            ReceiveBuffer::Memory { initial, max, .. } => self.set(RECEIVE_BUFFER, format!("4096 {initial} {max}")),
            // Half of the memory is data.
            ReceiveBuffer::Autotuned { initial, max } => self.set(RECEIVE_BUFFER, format!("4096 {} {}", 2 * initial, 2 * max)),
            ReceiveBuffer::Fixed(bytes) => {
                self.set(RECEIVE_BUFFER, format!("4096 {0} {0}", 2 * bytes));
                self.window = i32::try_from(bytes).ok();
            }
        }
        if let Some(offload) = host.offload {
            self.set("ipv4/tcp_min_tso_segs", offload.min_segments);
            self.set("ipv4/tcp_tso_win_divisor", offload.window_divisor);
        }
        if let AckRules::Adaptive(acks) = host.acks {
            self.set("ipv4/tcp_comp_sack_delay_ns", acks.compression.as_nanos());
            self.set("ipv4/tcp_comp_sack_nr", acks.compressed_max);
        }
        // Files that older kernels lack are written only if they have to change.
        if host.syn_linear_timeouts != linux.syn_linear_timeouts {
            self.set("ipv4/tcp_syn_linear_timeouts", host.syn_linear_timeouts);
        }
        if host.rto.min != linux.rto.min {
            self.set("ipv4/tcp_rto_min_us", host.rto.min.as_nanos() / 1000);
        }
        if host.rto.max != linux.rto.max {
            self.set("ipv4/tcp_rto_max_ms", host.rto.max.as_nanos() / 1_000_000);
        }
        let differs = OWN.iter().filter(|(_, equal)| !equal(host, linux)).map(|(key, _)| *key);
        self.own.extend(differs);
        Ok(())
    }

    fn follow_ns2(&mut self, host: &Ns2Host) {
        // Without timestamps a full packet has the size that the profile gives it.
        self.route.mtu = host.packet_size.0 as u32 + PLAIN_HEADERS;
        self.route.ecn = host.ecn;
        self.set("ipv4/tcp_timestamps", 0);
        self.set_recovery(host.recovery.uses_sack(), false);
        self.set(RECEIVE_BUFFER, "4096 131072 33554432");
        self.window = i32::try_from(u64::from(host.rwnd) * host.packet_size.0).ok();
        // Its ACKs, timers and recovery are ns-2's.
        self.own.push("profile");
        let own = [("header", u64::from(HEADER) != host.header.0), ("initial_pacing", host.initial_pacing)];
        self.own.extend(own.into_iter().filter(|(_, own)| *own).map(|(key, _)| key));
    }
}

/// The initial window of a part, if it depends on nothing that the kernel would have to know.
fn initial_window(part: &PartSpec, segment: u64) -> Option<Segments> {
    let found = entry::find(initial_window::ENTRIES, part.name)?;
    let built = (found.build)(&part.params).ok()?;
    let established = Established::new(Instant::ZERO, Bytes(segment));
    let window = built.segments(&established);
    // With more knowledge another window comes out: the kernel cannot follow.
    let learned = built.segments(&Established { learned: Some(2.0 * window), ..established });
    (window.is_finite() && learned.to_bits() == window.to_bits() && !built.paces(window)).then_some(window)
}

/// Compares a setting with that of the preset `linux`.
type Equal = fn(&ModernHost, &ModernHost) -> bool;

/// Settings of `modern` hosts that the kernel does not take from outside: if they differ from those of the preset `linux`, the kernel
/// follows its own.
const OWN: &[(&str, Equal)] = &[
    ("initial_pacing", |one, other| one.initial_pacing == other.initial_pacing),
    ("modern.receive_buffer_unit", |one, other| same_kind(&one.buffer, &other.buffer)),
    ("modern.receive_window_first", |one, other| first_window(&one.buffer) == first_window(&other.buffer)),
    ("modern.acks", |one, other| same_kind(&one.acks, &other.acks)),
    ("modern.delayed_ack", |one, other| one.delayed_ack == other.delayed_ack),
    ("modern.quick_acks", |one, other| one.quick_acks == other.quick_acks),
    ("modern.limited_transmit", |one, other| one.limited_transmit == other.limited_transmit),
    ("modern.prr", |one, other| one.prr == other.prr),
    ("modern.undo", |one, other| one.undo == other.undo),
    ("modern.abc_limit", |one, other| one.abc_limit.to_bits() == other.abc_limit.to_bits()),
    ("modern.whole_segments", |one, other| one.whole_segments == other.whole_segments),
    ("modern.initial_rto", |one, other| one.rto.initial == other.rto.initial),
    ("modern.rto_margin", |one, other| one.rto.margin == other.rto.margin),
    ("modern.rto_per_round", |one, other| one.rto.per_round == other.rto.per_round),
    ("modern.rtt_of_sacked", |one, other| one.rtt_of_sacked == other.rtt_of_sacked),
    ("modern.recover_again", |one, other| one.recover_again == other.recover_again),
    ("modern.reduce_once", |one, other| one.reduce_once == other.reduce_once),
    ("modern.frto_at_once", |one, other| one.frto_at_once == other.frto_at_once),
    ("modern.late_undo", |one, other| one.late_undo == other.late_undo),
    ("modern.gradual_marks", |one, other| one.gradual_marks == other.gradual_marks),
    ("modern.growth", |one, other| one.growth == other.growth),
    ("modern.tso_segments", |one, other| one.offload.is_some() == other.offload.is_some()),
    ("modern.timer_tick", |one, other| one.timer_tick == other.timer_tick),
    ("modern.probe_margin", |one, other| one.probe_margins == other.probe_margins),
    ("modern.reordering_margin", |one, other| one.reordering_margin == other.reordering_margin),
    ("modern.lost_syns_tolerated", |one, other| one.lost_syns_tolerated == other.lost_syns_tolerated),
    ("modern.backoff_until_measured", |one, other| one.backoff_until_measured == other.backoff_until_measured),
];

fn same_kind<T>(one: &T, other: &T) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Bound of the first receive window, if the buffer counts memory.
const fn first_window(buffer: &ReceiveBuffer) -> Option<u64> {
    if let ReceiveBuffer::Memory { first_window, .. } = buffer { Some(*first_window) } else { None }
}
