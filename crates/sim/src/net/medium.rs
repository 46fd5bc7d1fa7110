//! Media that links share: on each, one link sends at a time.

use std::collections::BTreeMap;

use ackclock_core::path::medium::{self, Attempt, Frames, MediumModel};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Instant, Moment};

use super::link::{Link, Queue};
use crate::scenario::Scenario;

/// A medium.
#[derive(Debug)]
pub(crate) struct Medium {
    pub(crate) model: Box<dyn MediumModel>,
    pub(crate) frames: Frames,
    pub(crate) random: Generator,
    /// The links of its stations.
    pub(crate) links: Vec<usize>,
    /// Time of the next access, for which there is an event.
    pub(crate) due: Option<Moment>,
    /// Stations that send, and what becomes of that. Otherwise empty.
    pub(crate) senders: Vec<usize>,
    pub(crate) attempts: Vec<Attempt>,
}

impl Medium {
    /// The media of `links`, those of `scenario`, of which every station learns its own. `Err` is the registry's message about a part's
    /// parameters.
    pub(crate) fn all(scenario: &Scenario, links: &mut [Link]) -> Result<Vec<Self>, String> {
        let (mut numbers, mut media) = (BTreeMap::new(), Vec::<Self>::new());
        for (index, (link, spec)) in links.iter_mut().zip(&scenario.links).enumerate() {
            let (Some(shared), Queue::Shared(station)) = (&spec.medium, &mut link.queue) else { continue };
            let number = *numbers.entry(&shared.channel).or_insert(media.len());
            if number == media.len() {
                let model = medium::PARTS.build(&shared.model)?;
                let random = Generator::derived(scenario.seed, &format!("medium/{}", shared.channel));
                let frames = model.frames();
                media.push(Self { model, frames, random, links: Vec::new(), due: None, senders: Vec::new(), attempts: Vec::new() });
            }
            let medium = &mut media[number];
            station.attach((number, medium.links.len()), &medium.frames, spec.rate.mean());
            medium.links.push(index);
        }
        for medium in &mut media {
            medium.model.attach(medium.links.len());
        }
        Ok(media)
    }

    /// A station has something to send at `now`.
    pub(crate) fn request(&mut self, now: Instant, station: usize) {
        self.model.request(now, station, &mut self.random);
    }

    /// The time of the next access, as known at `now`, if it is new.
    pub(crate) fn plan(&mut self, now: Instant) -> Option<Moment> {
        let next = self.model.next().map(|at| at.max(now));
        if next == self.due.map(|due| due.at) {
            return None;
        }
        self.due = next.map(|at| Moment { at, since: now });
        self.due
    }
}
