//! The network: packets, links and routes.

pub(crate) mod busy;
pub(crate) mod entering;
pub(crate) mod fate;
pub(crate) mod immediate;
pub(crate) mod lanes;
pub(crate) mod link;
pub(crate) mod medium;
pub(crate) mod models;
pub(crate) mod packet;
pub(crate) mod port;
pub(crate) mod route;
pub(crate) mod scheduled;
pub(crate) mod station;
pub(crate) mod turn;
