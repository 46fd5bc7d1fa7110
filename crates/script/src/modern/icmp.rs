//! Messages of ICMP about a segment of a connection.
//!
//! ## References
//! RFC 5461 §2 (errors while a connection opens end it), RFC 5927 §4 (the quoted number must be outstanding); RFC 792, RFC 4443.

use crate::errno::Errno;
use ackclock_wire::icmp::Message;

/// What a message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The peer cannot be reached, which an application sees as this error.
    Unreachable(Errno),
    /// A packet was too large for the path.
    TooLarge,
    /// Nothing that concerns a connection.
    Nothing,
}

/// What `message` means.
pub(super) fn meaning(message: &Message) -> Meaning {
    let unreachable = |code: u8| match code {
        0 | 6 => Errno::ENETUNREACH,
        2 => Errno::ENOPROTOOPT,
        3 => Errno::ECONNREFUSED,
        _ => Errno::EHOSTUNREACH,
    };
    match (message.source.is_ipv4(), message.kind, message.code) {
        (true, 3, 4) | (false, 2, _) => Meaning::TooLarge,
        (true, 3, code) => Meaning::Unreachable(unreachable(code)),
        (false, 1, 0) => Meaning::Unreachable(Errno::ENETUNREACH),
        (false, 1, 1) => Meaning::Unreachable(Errno::EACCES),
        (false, 1, 4) => Meaning::Unreachable(Errno::ECONNREFUSED),
        (false, 1, _) => Meaning::Unreachable(Errno::EHOSTUNREACH),
        _ => Meaning::Nothing,
    }
}
