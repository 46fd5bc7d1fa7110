//! TCP options.
//!
//! ## References
//! RFC 9293 §3.2 (MSS); RFC 7323 §2, §3 (window scale, timestamps); RFC 2018 §2, §3 (SACK); RFC 2385 (MD5); RFC 7413 §4.1.1 and RFC 6994 (TCP
//! Fast Open, experimental options); RFC 9768 §3.2.3 (AccECN option).

use std::fmt::{self, Display, Formatter, Write as _};

/// Largest size of TCP options in bytes.
pub const MOST_OPTIONS: usize = 40;
/// Kinds of options.
const END: u8 = 0;
pub(crate) const NOP: u8 = 1;
pub(crate) const MSS: u8 = 2;
pub(crate) const WINDOW_SCALE: u8 = 3;
pub(crate) const SACK_PERMITTED: u8 = 4;
pub(crate) const SACK: u8 = 5;
pub(crate) const TIMESTAMPS: u8 = 8;
const MD5: u8 = 19;
const FAST_OPEN: u8 = 34;
const EXPERIMENTAL: u8 = 254;
/// Magic number of TCP Fast Open in the experimental option (RFC 7413 §4.1.1).
const FAST_OPEN_MAGIC: u16 = 0xF989;
/// Kinds of the AccECN options of order 0 and 1 (RFC 9768 §3.2.3).
const ACCURATE_ECN: [u8; 2] = [172, 174];

/// A TCP option. Scripts of packetdrill write it as shown at each variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// `nop`.
    Nop,
    /// `eol`.
    End,
    /// `mss N`.
    Mss(u16),
    /// `wscale N`.
    WindowScale(u8),
    /// `sackOK`.
    SackPermitted,
    /// `sack a:b c:d …`.
    Sack(Vec<(u32, u32)>),
    /// `TS val V ecr E`.
    Timestamps {
        /// Value.
        value: u32,
        /// Echo reply.
        echo: u32,
    },
    /// `FO [COOKIE]`, or `FOEXP` as the experimental option.
    FastOpen {
        /// Bytes of the cookie.
        cookie: Vec<u8>,
        /// Whether the option number is the experimental one.
        experimental: bool,
    },
    /// `md5 [DIGEST]`: TCP MD5 signature.
    Md5(Vec<u8>),
    /// `ECN e0b N ceb N e1b N`: byte counters of accurate ECN, in the order written.
    AccurateEcn(Vec<(EcnCounter, u32)>),
}

/// As packetdrill writes it.
impl Display for TcpOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bytes = |f: &mut Formatter<'_>, bytes: &[u8]| {
            if !bytes.is_empty() {
                f.write_char(' ')?;
            }
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match self {
            Self::Nop => f.write_str("nop"),
            Self::End => f.write_str("eol"),
            Self::Mss(size) => write!(f, "mss {size}"),
            Self::WindowScale(shift) => write!(f, "wscale {shift}"),
            Self::SackPermitted => f.write_str("sackOK"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(start, end)| write!(f, " {start}:{end}"))
            }
            Self::Timestamps { value, echo } => write!(f, "TS val {value} ecr {echo}"),
            Self::FastOpen { cookie, experimental } => {
                f.write_str(if *experimental { "FOEXP" } else { "FO" })?;
                bytes(f, cookie)
            }
            Self::Md5(digest) => {
                f.write_str("md5")?;
                bytes(f, digest)
            }
            Self::AccurateEcn(counters) => {
                f.write_str("ECN")?;
                counters.iter().try_for_each(|(counter, value)| {
                    let name = match counter {
                        EcnCounter::Ect0 => "e0b",
                        EcnCounter::Ect1 => "e1b",
                        EcnCounter::Ce => "ceb",
                    };
                    write!(f, " {name} {value}")
                })
            }
        }
    }
}

/// A byte counter of the option of accurate ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnCounter {
    /// `e0b`: bytes with ECT(0).
    Ect0,
    /// `e1b`: bytes with ECT(1).
    Ect1,
    /// `ceb`: bytes with CE.
    Ce,
}

/// Options as bytes.
///
/// # Errors
/// If their size is no multiple of four or above 40 bytes.
pub fn encode_options(options: &[TcpOption]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for option in options {
        encode_option(&mut bytes, option);
    }
    match bytes.len() {
        length if length % 4 != 0 => Err(format!("the TCP options have {length} bytes, which is no multiple of 4; add nop or eol")),
        length if length > MOST_OPTIONS => Err(format!("the TCP options have {length} bytes; at most {MOST_OPTIONS} fit")),
        _ => Ok(bytes),
    }
}

fn encode_option(bytes: &mut Vec<u8>, option: &TcpOption) {
    match option {
        TcpOption::Nop => bytes.push(NOP),
        TcpOption::End => bytes.push(END),
        TcpOption::Mss(mss) => put(bytes, MSS, mss.to_be_bytes()),
        TcpOption::WindowScale(shift) => put(bytes, WINDOW_SCALE, [*shift]),
        TcpOption::SackPermitted => put(bytes, SACK_PERMITTED, []),
        TcpOption::Sack(blocks) => put(bytes, SACK, words(blocks.iter().flat_map(|&(left, right)| [left, right]))),
        TcpOption::Timestamps { value, echo } => put(bytes, TIMESTAMPS, words([*value, *echo])),
        TcpOption::Md5(digest) => put(bytes, MD5, digest.iter().copied()),
        TcpOption::FastOpen { cookie, experimental: false } => put(bytes, FAST_OPEN, cookie.iter().copied()),
        TcpOption::FastOpen { cookie, experimental: true } => {
            put(bytes, EXPERIMENTAL, FAST_OPEN_MAGIC.to_be_bytes().into_iter().chain(cookie.iter().copied()));
        }
        TcpOption::AccurateEcn(counters) => {
            let order = usize::from(counters.first().is_some_and(|(counter, _)| *counter == EcnCounter::Ect1));
            put(bytes, ACCURATE_ECN[order], counters.iter().flat_map(|(_, value)| value.to_be_bytes().into_iter().skip(1)));
        }
    }
}

/// Appends an option: kind, length, value.
pub(crate) fn put(bytes: &mut Vec<u8>, kind: u8, value: impl IntoIterator<Item = u8>) {
    let begin = bytes.len();
    bytes.extend([kind, 0]);
    bytes.extend(value);
    bytes[begin + 1] = (bytes.len() - begin) as u8;
}

/// The bytes of numbers.
pub(crate) fn words(numbers: impl IntoIterator<Item = u32>) -> impl Iterator<Item = u8> {
    numbers.into_iter().flat_map(u32::to_be_bytes)
}

/// Options from bytes.
///
/// # Errors
/// If an option is unknown or has a wrong length; the message shows its bytes.
pub fn decode_options(mut bytes: &[u8]) -> Result<Vec<TcpOption>, String> {
    let mut options = Vec::new();
    while let Some(&kind) = bytes.first() {
        if kind == END || kind == NOP {
            options.push(if kind == END { TcpOption::End } else { TcpOption::Nop });
            bytes = &bytes[1..];
            continue;
        }
        let length = bytes.get(1).map_or(0, |&length| usize::from(length));
        let Some(option) = bytes.get(..length).filter(|option| option.len() >= 2) else {
            return Err(format!("a TCP option of kind {kind} with a wrong length: {}", hex(bytes)));
        };
        options.push(decode_option(kind, &option[2..]).ok_or_else(|| format!("an unknown TCP option: {}", hex(option)))?);
        bytes = &bytes[length..];
    }
    Ok(options)
}

fn decode_option(kind: u8, value: &[u8]) -> Option<TcpOption> {
    let word = |at: usize| value.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    Some(match (kind, value.len()) {
        (MSS, 2) => TcpOption::Mss(u16::from_be_bytes([value[0], value[1]])),
        (WINDOW_SCALE, 1) => TcpOption::WindowScale(value[0]),
        (SACK_PERMITTED, 0) => TcpOption::SackPermitted,
        (SACK, length) if length % 8 == 0 => {
            TcpOption::Sack((0..length / 8).map(|block| Some((word(8 * block)?, word(8 * block + 4)?))).collect::<Option<_>>()?)
        }
        (TIMESTAMPS, 8) => TcpOption::Timestamps { value: word(0)?, echo: word(4)? },
        (MD5, _) => TcpOption::Md5(value.to_vec()),
        (FAST_OPEN, _) => TcpOption::FastOpen { cookie: value.to_vec(), experimental: false },
        (EXPERIMENTAL, 2..) if value[..2] == FAST_OPEN_MAGIC.to_be_bytes() => {
            TcpOption::FastOpen { cookie: value[2..].to_vec(), experimental: true }
        }
        (kind, length) if ACCURATE_ECN.contains(&kind) && length % 3 == 0 && length <= 9 => {
            let order = if kind == ACCURATE_ECN[0] {
                [EcnCounter::Ect0, EcnCounter::Ce, EcnCounter::Ect1]
            } else {
                [EcnCounter::Ect1, EcnCounter::Ce, EcnCounter::Ect0]
            };
            let values = value.chunks(3).map(|bytes| u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]));
            TcpOption::AccurateEcn(order.into_iter().zip(values).collect())
        }
        _ => return None,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
