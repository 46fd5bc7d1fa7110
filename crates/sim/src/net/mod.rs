//! The network: links and routes.

pub(crate) mod lanes;
pub(crate) mod link;
pub(crate) mod route;
pub(crate) mod scheduled;
