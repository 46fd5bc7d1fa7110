//! Tests of whole endpoints.

mod channel;
mod feedback;
mod info;
mod linux;
mod noticing;
mod opening;
mod path_mtu;
mod random;
mod receiving;
mod recovering;
mod script;
mod sending;
mod writing;
