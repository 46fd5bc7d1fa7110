//! Recording of traces and captures during a run. The recorder is a type parameter of the engine, so recording nothing costs nothing.

mod capture;
mod crossings;
mod ns2_wire;
mod packets;
mod recorder;
mod recording;

pub use capture::Capture;
pub(crate) use crossings::Watch;
pub use crossings::{Crossing, Crossings, Span};
pub use packets::CapturedPacket;
pub(crate) use recorder::{Off, Point, Recorder};
pub(crate) use recording::Recording;

pub use crate::columns::traces::{
    CwndTrace, DeliveredTrace, DisciplineTrace, DropsTrace, FlightTrace, InternalsTrace, LostTrace, MarksTrace, QueueTrace, RttTrace,
    SequenceKind, SequenceTrace, SojournTrace, TraceColumn, TraceKind, Traces, Values,
};
pub(crate) use crate::net::entering::Entering;
