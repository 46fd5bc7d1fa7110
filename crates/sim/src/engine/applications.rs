//! Drives the applications: passes deliveries and timeouts to them, and performs their actions.

use ackclock_core::units::{Instant, Moment};
use ackclock_host::Side;

use super::driven::Driven;
use super::events::Subject;
use super::flow::Flow;
use super::simulation::Simulation;
use crate::app::{Action, Event};
use crate::trace::Recorder;

impl<R: Recorder> Simulation<'_, R> {
    /// Ensures that the next timeout of an application is in the event queue.
    pub(super) fn arm_application(&mut self, now: Instant, index: usize) {
        let driven = &mut self.applications[index];
        let Some(next) = driven.application.poll_timeout() else { return };
        if driven.armed.is_none_or(|armed| next < armed) {
            driven.armed = Some(next);
            self.schedule(Moment { at: next, since: now }, Subject::Application(index));
        }
    }

    /// Handles the timeout of an application, unless the event is stale.
    pub(super) fn application_event(&mut self, now: Instant, index: usize) {
        if self.applications[index].armed.take_if(|armed| *armed == now).is_some() {
            let here = Moment::now(now);
            self.tell(here, index, Event::Wake);
        }
    }

    /// Data was delivered at one end of `flow`, which belongs to the application `index`.
    pub(super) fn notify_delivered(&mut self, here: Moment, (flow, side): (usize, Side), index: usize) {
        let connection = (flow - self.applications[index].first) as u32;
        let mut last = None;
        while let Some(stream) = self.flows[flow].hosts.next_delivered(side, last) {
            let total = self.flows[flow].hosts.delivered(side, stream);
            self.tell(here, index, Event::Delivered { connection, stream, side, total });
            last = Some(stream);
        }
    }

    fn tell(&mut self, here: Moment, index: usize, event: Event) {
        let mut actions = std::mem::take(&mut self.actions);
        let Driven { application, first, .. } = &mut self.applications[index];
        let first = *first;
        application.handle(here.at, event, &mut actions);
        for action in actions.drain(..) {
            self.act(here, first, action);
        }
        self.actions = actions;
        self.arm_application(here.at, index);
    }

    /// Performs an action of the application whose first flow is `first`.
    fn act(&mut self, here: Moment, first: usize, action: Action) {
        let flow = match action {
            Action::Open(connection) | Action::Write(connection, ..) | Action::Close(connection, ..) => first + connection as usize,
            Action::Offer(_) => first,
        };
        if let Action::Open(_) = action {
            self.flows[flow].unopened = false;
            self.apply_learned(flow);
        }
        let Flow { hosts, started, .. } = &mut self.flows[flow];
        let side = match action {
            Action::Open(_) => {
                *started = Some(here.at);
                hosts.open(here.at);
                Side::Receiver
            }
            Action::Write(_, stream, side, bytes) => {
                hosts.write(here.at, side, stream, bytes);
                side
            }
            Action::Close(_, stream, side) => {
                hosts.close(here.at, side, stream);
                side
            }
            Action::Offer(packets) => {
                hosts.offer(here.at, packets);
                Side::Sender
            }
        };
        self.transmit(here, flow, side);
    }
}
