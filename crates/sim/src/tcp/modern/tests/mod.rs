//! Tests of whole endpoints.

mod channel;
mod opening;
mod random;
mod recovering;
mod script;
mod sending;
