//! The readers of packets must not panic on any bytes, and a packet or an option list that is read must survive writing.
//!
//! A libFuzzer target. A plain build reads the files of its arguments: `frames FILE…`.
#![cfg_attr(fuzzing, no_main)]

use ackclock_core::qdisc::Ecn;
use ackclock_kernel::frames::{flow, hashed};
use ackclock_wire::frame::{Addressed, Headers, frame_ecn, frame_headers, mark_frame};
use ackclock_wire::options::{decode_options, encode_options};
use ackclock_wire::packet::Packet;

/// Reads `data` as the emulator, captures and scripts read a packet of the kernel.
fn exercise(data: &[u8]) {
    let addressed = Addressed::read(data);
    if let Some(addressed) = addressed {
        assert!(addressed.data <= data.len());
        if let Some((_, from)) = flow(&addressed) {
            assert_eq!(hashed(&addressed, from, 7), hashed(&addressed, from, 7));
        }
    }
    if let Some(segment) = Headers::read(data) {
        assert!(usize::from(segment.size) == data.len() && segment.length() <= segment.payload + 2);
        assert_eq!(segment.ecn, frame_ecn(data));
    }
    if addressed.is_some() {
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ce] {
            let mut marked = data.to_vec();
            mark_frame(&mut marked, ecn);
            let mut headers = Vec::new();
            frame_headers(&mut headers, data, ecn);
            assert_eq!(marked.len(), data.len());
        }
    }
    if let Ok(packet) = Packet::decode(data) {
        let written = packet.encode().expect("a packet that was read can be written");
        // Options of IP and extension headers are not kept.
        assert_eq!(Packet::decode(&written).as_ref(), Ok(&packet));
    }
    if let Ok(options) = decode_options(data)
        && let Ok(written) = encode_options(&options)
    {
        assert_eq!(decode_options(&written).as_ref(), Ok(&options));
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| exercise(data));

#[cfg(not(fuzzing))]
mod mutation;

#[cfg(not(fuzzing))]
fn main() {
    mutation::replay();
}
