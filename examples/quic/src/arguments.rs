//! The command line.

use std::net::SocketAddr;

const USAGE: &str = "usage: transfer quinn|noq serve ADDRESS [--control NAME] [--once]
       transfer quinn|noq get ADDRESS BYTES [--control NAME]
NAME is a control (bbr, reno, hystart_pp) or settings (slow_start = search, avoidance = cubic).";

/// A stack of QUIC.
pub(crate) enum Stack {
    Quinn,
    Noq,
}

/// What to do.
pub(crate) enum Role {
    /// Send what clients ask for; `once`: end after the first.
    Serve { once: bool },
    /// Ask for so many bytes.
    Get { bytes: u64 },
}

/// The command line.
pub(crate) struct Arguments {
    pub(crate) stack: Stack,
    pub(crate) role: Role,
    pub(crate) address: SocketAddr,
    /// The control of what this end sends.
    pub(crate) control: String,
}

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut next = |what: &str| words.next().ok_or_else(|| format!("{what} is missing\n{USAGE}"));
        let stack = match next("the stack")?.as_str() {
            "quinn" => Stack::Quinn,
            "noq" => Stack::Noq,
            other => return Err(format!("{other:?} is neither quinn nor noq\n{USAGE}")),
        };
        let role = next("serve or get")?;
        let address = next("the address")?;
        let address = address.parse().map_err(|_| format!("{address:?} is no address with a port, such as 127.0.0.1:4433"))?;
        let mut role = match role.as_str() {
            "serve" => Role::Serve { once: false },
            "get" => {
                let bytes = next("the number of bytes")?;
                Role::Get { bytes: bytes.parse().map_err(|_| format!("{bytes:?} is no number of bytes"))? }
            }
            other => return Err(format!("{other:?} is neither serve nor get\n{USAGE}")),
        };
        let mut control = "cubic".to_owned();
        while let Some(option) = words.next() {
            match (option.as_str(), &mut role) {
                ("--control", _) => control = words.next().ok_or_else(|| format!("--control needs a name\n{USAGE}"))?,
                ("--once", Role::Serve { once }) => *once = true,
                (other, _) => return Err(format!("there is no option {other:?}\n{USAGE}")),
            }
        }
        // Says what is wrong with a name before anything begins.
        ackclock_host::Controls::parse(&control)?;
        Ok(Self { stack, role, address, control })
    }
}
