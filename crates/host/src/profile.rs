//! Host profiles: the behaviour of both ends of a flow.
//!
//! A crate offers its profiles as a list, [`Profiles`]; the simulator joins the lists. It calls profiles that it knows by their own types,
//! because a simulation spends its time in them. Any other profile is a [`Host`]: it makes connections whose packets are datagrams of bytes.

use std::fmt::Debug;

use ackclock_core::cc::CongestionControl;
use ackclock_core::entry::List;
use ackclock_core::units::Bytes;

use crate::bulk::Bulk;
use crate::capabilities::Capabilities;
use crate::connection::Connection;

/// The profiles of a crate.
pub type Profiles = List<Profile>;

/// A profile with its settings.
#[derive(Debug)]
pub enum Profile {
    /// A profile that its driver calls by its own type and gives settings of its own.
    Native(Capabilities),
    /// Any other profile.
    Other(Box<dyn Host>),
}

impl Profile {
    /// What the profile's connections can do besides a bulk transfer.
    pub fn capabilities(&self) -> Capabilities {
        match self {
            Self::Native(capabilities) => *capabilities,
            Self::Other(host) => host.capabilities(),
        }
    }
}

/// A profile whose packets are datagrams of bytes.
pub trait Host: Debug + Send + Sync {
    /// Both ends of a flow that has not started. The connection calls the controls as [`CongestionControl`] specifies.
    fn connect(&self, flow: Flow) -> Box<dyn Connection<Payload = Vec<u8>>>;

    /// Size of the headers of a full packet.
    fn header(&self) -> Bytes;

    /// The name of the congestion control that the hosts bring with them, if they call none of the flow's.
    fn own_control(&self) -> Option<&'static str> {
        None
    }

    /// The sizes that a flow may choose for a full packet, without headers.
    fn packet_sizes(&self) -> PacketSizes {
        PacketSizes::default()
    }

    /// What the connections can do besides a bulk transfer.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

/// Sizes of a full packet, without headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSizes {
    /// The smallest.
    pub least: Bytes,
    /// The one of a flow that names none.
    pub usual: Bytes,
    /// The largest.
    pub most: Bytes,
}

impl Default for PacketSizes {
    /// Any size that fits in an IP packet, and usually that of ns-2.
    fn default() -> Self {
        Self { least: Bytes(1), usual: Bytes(1000), most: Bytes(65_495) }
    }
}

/// The data of a flow.
#[derive(Debug)]
pub enum Traffic {
    /// The sender has the data, and starts by itself.
    Bulk(Bulk),
    /// An application opens the connection at the receiver, and writes at both ends.
    Dialogue {
        /// The congestion control of the receiver; see [`Flow::control`].
        control: Option<Box<dyn CongestionControl>>,
    },
}

/// The settings of one connection.
#[derive(Debug)]
pub struct Flow {
    /// The congestion control of the sender; `None` exactly if the hosts have their [own](Host::own_control).
    pub control: Option<Box<dyn CongestionControl>>,
    /// The data to send.
    pub traffic: Traffic,
    /// Data in a full packet, excluding headers.
    pub packet_size: Bytes,
    /// Whether both ends use Explicit Congestion Notification.
    pub ecn: bool,
    /// Whether the initial window is paced over the first round trip.
    pub initial_pacing: bool,
    /// Seeds the connection's random decisions; each flow of a run has its own seed.
    pub seed: u64,
}
