//! What makes the handshake of a stack's connections, and protects their packets.

use std::borrow::Cow;
use std::sync::Arc;

/// The cryptography of both ends. `C` and `S`: the types in which a stack wants that of its clients and of its servers.
///
/// The profiles have one that protects nothing, whose runs a test compares with those of TLS 1.3.
pub trait Cryptography<C: ?Sized, S: ?Sized>: 'static {
    /// That of a client.
    fn client() -> Arc<C>;

    /// That of a server.
    fn server() -> Arc<S>;

    /// A datagram that an end has sent, as it was before its packets were protected. What its long headers protect may stay hidden.
    fn unprotected(datagram: &[u8]) -> Cow<'_, [u8]>;
}
