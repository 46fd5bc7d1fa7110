//! Host profiles: how both ends of a flow behave. Each is a file of this folder.
//!
//! `ns2` and `modern` are called by their own types, because a simulation spends its time in them. Any other profile is a [`Host`], which makes
//! connections whose packets are datagrams of bytes.

use std::fmt::Debug;

use ackclock_core::cc::CongestionControl;
use ackclock_core::entries;
use ackclock_core::entry::Entry;
use ackclock_core::units::Bytes;

use crate::bulk::Bulk;
use crate::connection::Connection;

entries! { Entry<Profile>:
    ns2,
    modern,
}

/// A profile with its settings.
#[derive(Debug)]
pub enum Profile {
    /// The packet-counting one-way TCP of ns-2.35, with the settings of [`crate::ns2::Config`].
    Ns2,
    /// TCP as today's systems have it, with the settings of [`crate::modern::Config`].
    Modern,
    /// Any other.
    Other(Box<dyn Host>),
}

/// A profile whose packets are datagrams of bytes.
pub trait Host: Debug + Send + Sync {
    /// Both ends of a flow, not yet started. The connection calls the control as [`CongestionControl`] says.
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>>;

    /// Headers of a full packet, in bytes.
    fn header(&self) -> Bytes;
}

/// What a connection is for.
#[derive(Debug)]
pub struct Flow {
    /// The congestion control of the sender.
    pub control: Box<dyn CongestionControl>,
    /// The data that the sender has.
    pub bulk: Bulk,
    /// Data in a full packet, without headers.
    pub packet_size: Bytes,
    /// Whether both ends use Explicit Congestion Notification.
    pub ecn: bool,
    /// Whether the first window is spread over the first round trip.
    pub initial_pacing: bool,
    /// Seeds what the connection draws; no two flows of a run have the same.
    pub seed: u64,
}
