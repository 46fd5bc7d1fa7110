//! Tests of whole endpoints.

mod channel;
mod random;
