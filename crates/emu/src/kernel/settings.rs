//! What a flow of a scenario is on the kernel: its route, its socket options, the parameters of its namespaces; and what the kernel cannot
//! follow.

use ackclock_core::cc::initial_window;
use ackclock_core::entry;
use ackclock_core::events::Established;
use ackclock_core::units::{Instant, Segments};
use ackclock_sim::engine::EndHost;
use ackclock_sim::scenario::{
    AckRules, ControlSpec, FlowSpec, HostSpec, ModernHost, ModernRecovery, Ns2Host, Pacing, PartSpec, ReceiveBuffer, Traffic,
};
use ackclock_tcp::{Bulk, HEADER};

use crate::space::Route;

/// Parameters of a namespace below /proc/sys/net, with their values.
pub(super) type Parameters = Vec<(&'static str, String)>;

/// Memory of send buffers: the sender never waits for its application (tcp(7), `tcp_wmem`).
const SEND_BUFFER: &str = "4096 4194304 67108864";
/// Parameter of receive buffers.
const RECEIVE_BUFFER: &str = "ipv4/tcp_rmem";
/// Initial window of a kernel whose route sets none (RFC 6928).
const INITIAL_WINDOW: u32 = 10;
/// Headers of IPv4 and TCP without options, in bytes.
const PLAIN_HEADERS: u32 = 40;
/// Largest packet of IPv4.
const MOST_MTU: u32 = 65_535;

/// A flow of a scenario on the kernel.
#[derive(Clone, Debug)]
pub(super) struct FlowPlan {
    pub(super) bulk: Option<Bulk>,
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
    pub(super) window: Option<u32>,
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
        if plan.route.mtu > MOST_MTU {
            return Err(format!("packet_size makes packets of {} B; the kernel sends at most {MOST_MTU} B", plan.route.mtu));
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
        if whole as u32 > INITIAL_WINDOW {
            self.route.initial_receive_window = Some(whole as u32);
        }
    }

    fn set(&mut self, name: &'static str, value: impl ToString) {
        self.parameters.push((name, value.to_string()));
    }

    fn set_recovery(&mut self, selective: bool, by_time: bool) {
        self.set("ipv4/tcp_sack", u8::from(selective));
        self.set("ipv4/tcp_recovery", u8::from(by_time));
    }

    fn follow_modern(&mut self, host: &ModernHost) -> Result<(), String> {
        let linux = EndHost::find("linux")?;
        let linux = linux.config();
        self.route.mtu = u32::from(host.mss) + u32::from(HEADER);
        self.route.ecn = host.ecn;
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
                self.window = u32::try_from(bytes).ok();
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
        self.window = u32::try_from(u64::from(host.rwnd) * host.packet_size.0).ok();
        let usual = Ns2Host { packet_size: host.packet_size, header: host.header, recovery: host.recovery, ..NS2 };
        let own = [
            ("header", u32::from(HEADER) != host.header.0 as u32),
            ("recovery", !matches!(host.recovery.name(), "sack" | "newreno")),
            ("delayed_ack", !host.delayed_ack),
            ("initial_pacing", host.initial_pacing),
            ("min_rto", true),
        ];
        let _ = usual;
        self.own.extend(own.into_iter().filter(|(_, own)| *own).map(|(key, _)| key));
    }
}
