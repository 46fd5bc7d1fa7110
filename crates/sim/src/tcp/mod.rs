//! TCP end hosts, sans-IO: segments and timeouts in, segments out.

#[allow(dead_code, reason = "the engine does not drive it yet")]
pub(crate) mod modern;
pub(crate) mod ns2;
pub(crate) mod packet;
pub(crate) mod receiver;
mod rto;
mod scoreboard;
