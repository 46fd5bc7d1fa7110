//! TCP end hosts, sans-IO: segments and timeouts in, segments out.

pub(crate) mod checkpoints;
pub(crate) mod first_flight;
pub(crate) mod modern;
pub(crate) mod ns2;
mod pacing;
pub(crate) mod packet;
mod rate;
pub(crate) mod receiver;
mod rto;
mod scoreboard;
