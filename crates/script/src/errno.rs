//! Errors of system calls, by the numbers and names of Linux.

use std::fmt;

/// An error of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// Declares the errors and their names.
macro_rules! errors {
    ($($name:ident $number:literal $text:literal)*) => {
        impl Errno {
            $(#[doc = $text] pub const $name: Self = Self($number);)*

            /// All named errors.
            const ALL: &'static [(&'static str, i32, &'static str)] = &[$((stringify!($name), $number, $text)),*];
        }
    };
}

errors! {
    EPERM 1 "Operation not permitted"
    ENOENT 2 "No such file or directory"
    EINTR 4 "Interrupted system call"
    EIO 5 "Input/output error"
    EBADF 9 "Bad file descriptor"
    EAGAIN 11 "Resource temporarily unavailable"
    ENOMEM 12 "Cannot allocate memory"
    EACCES 13 "Permission denied"
    EFAULT 14 "Bad address"
    EBUSY 16 "Device or resource busy"
    EEXIST 17 "File exists"
    EINVAL 22 "Invalid argument"
    EMFILE 24 "Too many open files"
    ENOTTY 25 "Inappropriate ioctl for device"
    EPIPE 32 "Broken pipe"
    EDOM 33 "Numerical argument out of domain"
    ENOMSG 42 "No message of desired type"
    ENOTSOCK 88 "Socket operation on non-socket"
    EDESTADDRREQ 89 "Destination address required"
    EMSGSIZE 90 "Message too long"
    ENOPROTOOPT 92 "Protocol not available"
    EPROTONOSUPPORT 93 "Protocol not supported"
    EOPNOTSUPP 95 "Operation not supported"
    EAFNOSUPPORT 97 "Address family not supported by protocol"
    EADDRINUSE 98 "Address already in use"
    EADDRNOTAVAIL 99 "Cannot assign requested address"
    ENETDOWN 100 "Network is down"
    ENETUNREACH 101 "Network is unreachable"
    ECONNABORTED 103 "Software caused connection abort"
    ECONNRESET 104 "Connection reset by peer"
    ENOBUFS 105 "No buffer space available"
    EISCONN 106 "Transport endpoint is already connected"
    ENOTCONN 107 "Transport endpoint is not connected"
    ETIMEDOUT 110 "Connection timed out"
    ECONNREFUSED 111 "Connection refused"
    EHOSTUNREACH 113 "No route to host"
    EALREADY 114 "Operation already in progress"
    EINPROGRESS 115 "Operation now in progress"
}

impl Errno {
    /// The error called `name`, such as `ECONNRESET`.
    pub fn find(name: &str) -> Option<Self> {
        let name = if name == "EWOULDBLOCK" { "EAGAIN" } else { name };
        Self::ALL.iter().find(|(known, ..)| *known == name).map(|(_, number, _)| Self(*number))
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::ALL.iter().find(|(_, number, _)| *number == self.0) {
            Some((name, _, text)) => write!(f, "{name} ({text})"),
            None => write!(f, "errno {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!(Errno::find("ECONNREFUSED"), Some(Errno::ECONNREFUSED));
        assert_eq!(Errno::find("EWOULDBLOCK"), Some(Errno::EAGAIN));
        assert_eq!(Errno::find("EWHATEVER"), None);
        assert_eq!(Errno::EINPROGRESS.to_string(), "EINPROGRESS (Operation now in progress)");
        assert_eq!(Errno(4711).to_string(), "errno 4711");
    }
}
