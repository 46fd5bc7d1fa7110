//! The contract between links and the medium that they share.

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

/// What a station sends when it has the medium: packets as frames, one after another behind one preamble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frames {
    /// Time before the first frame.
    pub preamble: Duration,
    /// Bytes that every frame has besides its packet.
    pub header: u64,
    /// The length of every frame is a multiple of this many bytes.
    pub multiple: u64,
    /// Most packets, sent or received, before the first one that has not been received.
    pub packets: usize,
    /// Most bytes of all frames.
    pub bytes: u64,
    /// Longest time with the preamble.
    pub time: Duration,
    /// Probability that a frame is not received.
    pub error: f64,
}

impl Frames {
    /// The length of the frame of a packet of this size.
    pub const fn frame(&self, packet: Bytes) -> Bytes {
        Bytes((packet.0 + self.header).next_multiple_of(self.multiple))
    }

    /// Most bytes of all frames at this rate. A single frame may be longer.
    pub fn most(&self, rate: Rate) -> u64 {
        let time = rate.bytes_in(self.time - self.preamble);
        self.bytes.min(time as u64)
    }
}

/// What became of a station's access to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The station.
    pub station: usize,
    /// Whether any of its frames was received.
    pub received: bool,
    /// Whether it has something to send next.
    pub more: bool,
}

/// Decides which station sends next on a medium, and when. A station is a link in one direction; stations have numbers from 0 on.
pub trait MediumModel: Debug + Send + Sync {
    /// What a station sends when it has the medium.
    fn frames(&self) -> Frames;

    /// Receives the number of stations before anything else.
    fn attach(&mut self, stations: usize);

    /// A station that had nothing to send has something at `now`.
    fn request(&mut self, now: Instant, station: usize, random: &mut Generator);

    /// A station that was to send has nothing to send now.
    fn withdraw(&mut self, station: usize);

    /// Time of the next access; `None`: no station has anything to send.
    fn next(&self) -> Option<Instant>;

    /// The stations that send at this time. If there are several, they collide, and nothing is received.
    fn senders(&self, out: &mut Vec<usize>);

    /// The last frame of all `attempts`, which began together, ends at `end`.
    fn occupy(&mut self, end: Instant, attempts: &[Attempt], random: &mut Generator);
}
