//! Controls in a stack that is not Ackclock's, such as one of QUIC: [`StackSeat`] makes the events of the contract from what the stack's own
//! hooks tell, [`SharedSeat`] lets the stack and an observer hold the same seat, and [`Controls`] makes the seats of a stack's connections.

mod controls;
mod epoch;
mod flight;
mod seat;
mod shared;

pub use controls::Controls;
pub use epoch::Epoch;
pub use seat::StackSeat;
pub use shared::SharedSeat;
