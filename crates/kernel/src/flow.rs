//! What a flow of a scenario is on a kernel: its route, its socket options, the parameters of its namespaces; and what the kernel cannot
//! follow.

use ackclock_core::cc::initial_window;
use ackclock_core::events::Established;
use ackclock_core::units::{Bytes, Instant, Segments};
use ackclock_host::Bulk;
use ackclock_host::setting::{Kernel, Setting};
use ackclock_sim::engine::EndHost;
use ackclock_sim::scenario::{ControlSpec, FlowSpec, Given, HostSpec, ModernHost, Ns2Host, Pacing, PartSpec, ReceiveBuffer, Traffic};
use ackclock_tcp::HEADER;
use ackclock_tcp::modern::{Feedback, SETTINGS};

use crate::controls::{KernelControl, Offer, choose};
use crate::route::Route;

/// Parameters of a namespace below /proc/sys/net, with their values.
pub type Parameters = Vec<(&'static str, String)>;

/// The value of `ipv4/tcp_ecn` with which a host asks for accurate feedback (RFC 9768). Linux 6.18 does not take it.
pub const ACCURATE_ECN: &str = "3";
/// Parameter of send buffers, and their memory for hosts that set no limit: the sender never waits for its application (tcp(7)).
const SEND_BUFFER: (&str, &str) = ("ipv4/tcp_wmem", "4096 4194304 67108864");
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

/// A flow of a scenario on a kernel.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Bulk transfer of the sender, which then opens the connection; `None`: an application opens it at the receiver.
    pub bulk: Option<Bulk>,
    /// The sender's congestion control.
    pub control: KernelControl,
    /// The first slow start threshold in segments; infinite if none.
    pub threshold: Segments,
    /// Bytes of data in a full segment.
    pub segment: u64,
    /// The routes at both ends.
    pub route: Route,
    /// The parameters of the namespaces of both ends.
    pub parameters: Parameters,
    /// Whether small segments leave at once (`TCP_NODELAY`).
    pub no_delay: bool,
    /// Whether the kernel paces without a control that does (`SO_MAX_PACING_RATE`).
    pub paced: bool,
    /// Largest receive window in bytes (`TCP_WINDOW_CLAMP`).
    pub window: Option<i32>,
    /// Keys of the flow that the kernel does not follow.
    pub own: Vec<String>,
}

impl FlowPlan {
    /// The flow `spec` on a kernel with these congestion controls; `None` for datagrams, which stay simulated.
    ///
    /// # Errors
    /// If the flow cannot be a connection of the kernel: why.
    pub fn new(spec: &FlowSpec, offer: &Offer<'_>) -> Result<Option<Self>, String> {
        let segment = spec.host.packet_size().0;
        let bulk = match spec.traffic {
            Traffic::Datagrams(_) => return Ok(None),
            Traffic::Connection(_) => None,
            Traffic::Bulk => Some(Bulk { start: spec.start, stop: spec.stop, packets: spec.packets, grows: false }),
            Traffic::Bursts(_) => Some(Bulk { start: spec.start, stop: spec.stop, packets: Some(0), grows: true }),
        };
        let named = named(spec, offer);
        let control = match named {
            Some(name) => offer.own(&name.value)?,
            None => choose(&spec.control, spec.initial_ssthresh, offer)?,
        };
        let mut plan = Self {
            bulk,
            control,
            threshold: spec.initial_ssthresh,
            segment,
            route: Route::default(),
            parameters: Vec::new(),
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
        let (name, memory) = SEND_BUFFER;
        if !plan.parameters.iter().any(|(given, _)| *given == name) {
            plan.set(name, memory);
        }
        if !(LEAST_MTU..=MOST_MTU).contains(&plan.route.mtu) {
            let mtu = plan.route.mtu;
            return Err(format!(
                "packet_size makes packets of {mtu} B; the kernel sends at most {MOST_MTU} B, and an MTU has at least {LEAST_MTU} B"
            ));
        }
        // A window beyond that of the receiver has no effect.
        let most = spec.host.as_ns2().map_or(f64::INFINITY, |host| f64::from(host.rwnd));
        if !matches!(plan.control, KernelControl::Ebpf(_) | KernelControl::Outside) {
            if spec.initial_ssthresh < most {
                plan.own.push("initial_ssthresh".to_owned());
            }
            plan.threshold = f64::INFINITY;
        }
        plan.set_initial_window(&spec.control);
        Ok(Some(plan))
    }

    fn set_initial_window(&mut self, control: &ControlSpec) {
        let ControlSpec::Composed(parts) = control else { return };
        // Outside the kernel a control sets its window itself.
        let outside = self.control == KernelControl::Outside;
        let Some(window) = initial_window(&parts.initial_window, self.segment) else {
            if !outside {
                self.own.push("initial_window".to_owned());
            }
            return;
        };
        let whole = window.round().max(1.0);
        if !outside && (whole - window).abs() > 1e-9 {
            self.own.push("initial_window".to_owned());
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
        self.follow_ecn(host);
        self.no_delay = !host.nagle;
        self.paced = matches!(host.pacing, Pacing::Window { .. });
        if let ReceiveBuffer::Fixed(bytes) = host.buffer {
            self.window = i32::try_from(bytes).ok();
        }
        for Setting { key, kernel, place, .. } in SETTINGS {
            match kernel {
                Kernel::By(parameters) => {
                    for (name, value) in *parameters {
                        self.parameters.extend(value(host).map(|value| (*name, value)));
                    }
                }
                Kernel::Since((name, value), _) if value(host) != value(linux) => {
                    self.parameters.extend(value(host).map(|value| (*name, value)));
                }
                Kernel::Own => {
                    if let (Some(one), Some(other)) = ((place.get)(host), (place.get)(linux))
                        && one != other
                    {
                        self.own.push(format!("modern.{key}"));
                    }
                }
                Kernel::Since(..) | Kernel::Otherwise => {}
            }
        }
        let differs = [
            ("initial_pacing", host.initial_pacing != linux.initial_pacing),
            ("modern.tso_segments", host.offload.is_some() != linux.offload.is_some()),
        ];
        self.own.extend(differs.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()));
        Ok(())
    }

    /// Classic feedback is asked for by the route, accurate feedback by the parameter of the namespace, and DCTCP's by its control. A host that
    /// is not asked answers with each of the first two.
    fn follow_ecn(&mut self, host: &ModernHost) {
        self.route.ecn = host.ecn == Some(Feedback::Classic);
        if host.ecn == Some(Feedback::Accurate) {
            self.set("ipv4/tcp_ecn", ACCURATE_ECN);
            self.set("ipv4/tcp_ecn_option", if host.ecn_option { 2 } else { 0 });
        } else {
            self.set("ipv4/tcp_ecn", 2);
        }
        if (host.ecn == Some(Feedback::Dctcp)) != self.control.is_dctcp() {
            self.own.push("ecn".to_owned());
        }
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
        self.own.push("profile".to_owned());
        let own = [("header", u64::from(HEADER) != host.header.0), ("initial_pacing", host.initial_pacing)];
        self.own.extend(own.into_iter().filter(|(_, own)| *own).map(|(key, _)| key.to_owned()));
    }
}

/// Whether kernels without the parameter `name` do what `value` says.
pub fn is_old(name: &str, value: &str) -> bool {
    SETTINGS.iter().any(|setting| matches!(setting.kernel, Kernel::Since((other, _), old) if other == name && old == value))
}

/// The control of the kernel that the flow names and gets.
pub(crate) fn named<'a>(spec: &'a FlowSpec, offer: &Offer<'_>) -> Option<&'a Given> {
    spec.kernel.as_ref()?.control.as_ref().filter(|_| offer.instead.is_none())
}

/// The initial window of a part, if it depends on nothing that the kernel would have to know.
fn initial_window(part: &PartSpec, segment: u64) -> Option<Segments> {
    let found = initial_window::PARTS.find(part.name)?;
    let built = (found.build)(&part.params).ok()?;
    let established = Established::new(Instant::ZERO, Bytes(segment));
    let window = built.segments(&established);
    // With more knowledge another window comes out: the kernel cannot follow.
    let learned = built.segments(&established.with(|event| event.learned = Some(2.0 * window)));
    (window.is_finite() && learned.to_bits() == window.to_bits() && !built.paces(window)).then_some(window)
}
