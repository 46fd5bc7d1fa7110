//! Host profiles: the behaviour of both ends of a flow. Each profile is a file in this folder.
//!
//! The engine calls `ns2` and `modern` by their own types, because a simulation spends its time in them. Any other profile is a [`Host`]:
//! it makes connections whose packets are datagrams of bytes.

use std::fmt::Debug;

use ackclock_core::cc::CongestionControl;
use ackclock_core::entries;
use ackclock_core::entry::{Entry, try_build};
use ackclock_core::params::Axis;
use ackclock_core::units::Bytes;
use ackclock_host::{Bulk, Connection};

entries! { Entry<Profile>:
    ns2,
    modern,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "profile",
    noun: "host profile",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "ns2",
    module: module_path!(),
    parts: DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};

/// A profile with its settings.
#[derive(Debug)]
pub enum Profile {
    /// The packet-counting one-way TCP of ns-2.35, with the settings of [`crate::ns2::Config`].
    Ns2,
    /// TCP as in today's systems, with the settings of [`crate::modern::Config`].
    Modern,
    /// Any other profile.
    Other(Box<dyn Host>),
}

/// A profile whose packets are datagrams of bytes.
pub trait Host: Debug + Send + Sync {
    /// Both ends of a flow that has not started. The connection calls the control as [`CongestionControl`] specifies.
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>>;

    /// Size of the headers of a full packet.
    fn header(&self) -> Bytes;
}

/// The settings of one connection.
#[derive(Debug)]
pub struct Flow {
    /// The congestion control of the sender.
    pub control: Box<dyn CongestionControl>,
    /// The data to send.
    pub bulk: Bulk,
    /// Data in a full packet, excluding headers.
    pub packet_size: Bytes,
    /// Whether both ends use Explicit Congestion Notification.
    pub ecn: bool,
    /// Whether the initial window is paced over the first round trip.
    pub initial_pacing: bool,
    /// Seeds the connection's random decisions; each flow of a run has its own seed.
    pub seed: u64,
}
