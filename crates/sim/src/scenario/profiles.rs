//! The host profiles that a scenario can name: those of `ackclock-tcp`, and those of the lists that a program joins.

use ackclock_core::entry::Parts;
use ackclock_core::params::{Axis, Params};
use ackclock_host::{Capabilities, Profile, Streams};
use ackclock_tcp::profile;

use crate::scenario::application::{ApplicationKind, ApplicationSpec, Traffic};
use crate::scenario::keys::KERNEL;

/// The profiles that a scenario can name.
pub static PROFILES: Parts<Profile> = Parts::new(profile::PROFILES);

/// The axis of profiles.
pub(crate) static AXIS: Axis = Axis {
    name: "profile",
    noun: "host profile",
    shorthand: None,
    none: None,
    objects: &[KERNEL],
    usual: "ns2",
    module: "ackclock_tcp::profile",
    list: || PROFILES.list().descriptions,
    build: |name, params| PROFILES.try_build(name, params),
};

/// The names of all profiles, in the order of listings.
pub fn profiles() -> Vec<&'static str> {
    AXIS.parts().iter().map(|part| part.name).collect()
}

/// A capability that an application needs of its host profile.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    /// What a profile with it does.
    doc: &'static str,
    holds: fn(&Capabilities) -> bool,
}

impl Need {
    /// What an application needs that writes on several streams of a connection.
    pub(crate) const STREAMS: Self =
        Self { doc: "carries several streams in a connection", holds: |it| it.both_ways && it.streams == Streams::Many };

    /// What an application of this kind needs; `None`: any profile will do.
    pub(crate) fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            "on-off" | "frames" => Some(Self { doc: "lets an application add data to a transfer", holds: |it| it.supply }),
            "request-response" | "web" | "player" => Some(Self { doc: "carries data both ways", holds: |it| it.both_ways }),
            _ => None,
        }
    }

    /// What the application of a flow with this traffic needs.
    pub(crate) fn of_traffic(traffic: Traffic, applications: &[ApplicationSpec]) -> impl Iterator<Item = Self> {
        let needs = match traffic {
            Traffic::Bulk | Traffic::Datagrams(_) => [None, None],
            Traffic::Bursts(_) => [Self::of_kind("on-off"), None],
            Traffic::Connection(index) => {
                let multiplexed = matches!(&applications[index].kind, ApplicationKind::Client(client) if client.multiplexed);
                [Self::of_kind("web"), multiplexed.then_some(Self::STREAMS)]
            }
        };
        needs.into_iter().flatten()
    }

    /// Whether the profile `name` has the capability; `None`: there is no such profile.
    fn of(self, name: &str) -> Option<bool> {
        let entry = PROFILES.find(name)?;
        Some((self.holds)(&(entry.build)(&Params::defaults(entry.params)).ok()?.capabilities()))
    }

    /// The profiles with the capability.
    pub(crate) fn able(self) -> Vec<&'static str> {
        profiles().into_iter().filter(|name| self.of(name) == Some(true)).collect()
    }

    /// The complaint about the profile `name` if it lacks the capability.
    pub(crate) fn complaint(self, name: &str) -> Option<String> {
        if self.of(name).unwrap_or(true) {
            return None;
        }
        let able = self.able();
        let able = if able.is_empty() { "no profile here does".to_owned() } else { format!("profiles that do: {}", able.join(", ")) };
        Some(format!("needs a profile that {}, but {name} does not; {able}", self.doc))
    }
}
