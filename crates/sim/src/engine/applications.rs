//! Drives the applications: tells them what was delivered and when their time has come, and does what they ask for.

use ackclock_core::units::{Instant, Moment};

use super::events::Subject;
use super::flow::Hosts;
use super::simulation::Simulation;
use crate::app::{Action, Application, Event, Side};
use crate::scenario::Scenario;
use crate::trace::{Recorder, SequenceKind};

/// An application and the time of its event in the queue.
#[derive(Debug)]
pub(super) struct Driven {
    application: Application,
    armed: Option<Instant>,
    /// Its first flow.
    first: usize,
}

impl Driven {
    /// The applications of a scenario, not yet armed.
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        let specs = scenario.applications.iter();
        specs.map(|spec| Self { application: Application::new(spec, scenario.seed), armed: None, first: spec.flows.start }).collect()
    }

    /// The application.
    pub(super) fn into_application(self) -> Application {
        self.application
    }
}

impl<R: Recorder> Simulation<'_, R> {
    /// Makes sure that the next time of an application is in the event queue.
    pub(super) fn arm_application(&mut self, now: Instant, index: usize) {
        let driven = &mut self.applications[index];
        let Some(next) = driven.application.poll_timeout() else { return };
        if driven.armed.is_none_or(|armed| next < armed) {
            driven.armed = Some(next);
            self.schedule(Moment { at: next, since: now }, Subject::Application(index));
        }
    }

    /// The time of an application has come, unless the event is stale.
    pub(super) fn application_event(&mut self, now: Instant, index: usize) {
        if self.applications[index].armed.take_if(|armed| *armed == now).is_some() {
            let here = Moment::now(now);
            self.tell(here, index, Event::Wake);
        }
    }

    /// Data was delivered at one end of `flow`.
    pub(super) fn tell_delivered(&mut self, here: Moment, flow: usize, side: Side) {
        let Some(index) = self.flows[flow].application else { return };
        let total = match &self.flows[flow].hosts {
            Hosts::Ns2 { receiver, .. } => receiver.delivered_packets() * self.scenario.flows[flow].host.packet_size.0,
            Hosts::Modern(connection) => connection.delivered(side),
            Hosts::Datagrams(_) => return,
        };
        let connection = (flow - self.applications[index].first) as u32;
        self.tell(here, index, Event::Delivered { connection, side, total });
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

    /// Does what the application whose first flow is `first` asks for.
    fn act(&mut self, here: Moment, first: usize, action: Action) {
        let flow = match action {
            Action::Open(connection) | Action::Write(connection, ..) | Action::Close(connection, _) => first + connection as usize,
            Action::Offer(_) | Action::Datagram => first,
        };
        if let Action::Open(_) = action {
            self.recall(flow);
        }
        let state = &mut self.flows[flow];
        match (action, &mut state.hosts) {
            (Action::Open(_), Hosts::Modern(connection)) => {
                state.started = Some(here.at);
                connection.open(here.at);
                self.transmit_segments(here, flow, Side::Receiver as usize);
            }
            (Action::Write(_, side, bytes), Hosts::Modern(connection)) => {
                connection.write(side, bytes);
                self.transmit_segments(here, flow, side as usize);
            }
            (Action::Close(_, side), Hosts::Modern(connection)) => {
                connection.close(side);
                self.transmit_segments(here, flow, side as usize);
            }
            (Action::Offer(packets), Hosts::Modern(connection)) => {
                connection.offer(packets);
                self.transmit_segments(here, flow, Side::Sender as usize);
            }
            (Action::Offer(packets), Hosts::Ns2 { sender, .. }) => {
                sender.offer(packets);
                self.transmit(here, flow);
            }
            (Action::Datagram, Hosts::Datagrams(stream)) => {
                let size = self.scenario.flows[flow].wire_size().0 as u16;
                let packet = stream.next(flow as u32, size, here.at);
                if R::ON {
                    self.recorder.segment(here.at, flow as u32, packet.seq, SequenceKind::Send);
                }
                self.forward(packet, here);
            }
            // An application asks its own kind of hosts only.
            _ => {}
        }
    }
}
