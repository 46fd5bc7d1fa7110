use proptest::prelude::*;

use super::*;
use crate::frame::{Endpoint, Headers, headers};
use crate::options::{EcnCounter, TcpOption};
use crate::segment::{EcnCounts, Options, SackBlocks, Segment, Timestamps};

fn every_option() -> Vec<TcpOption> {
    vec![
        TcpOption::Mss(1460),
        TcpOption::SackPermitted,
        TcpOption::Timestamps { value: 7, echo: 9 },
        TcpOption::Nop,
        TcpOption::WindowScale(8),
    ]
}

fn packet(source: &str, target: &str) -> Packet {
    Packet {
        source: source.parse().unwrap(),
        target: target.parse().unwrap(),
        tos: 0x29,
        ttl: 64,
        flow_label: 0,
        seq: u32::MAX,
        ack: 17,
        flags: (Flags::SYN | Flags::ACK | Flags::CWR).bits() | AE,
        reserved: 0,
        window: 65_535,
        urgent: 3,
        options: encode_options(&every_option()).unwrap(),
        payload: vec![0, 1, 2],
    }
}

const V4: (&str, &str) = ("192.0.2.1:8080", "192.168.0.1:5001");
const V6: (&str, &str) = ("[2001:db8::1]:8080", "[fd3d:fa7b:d17d::1]:5001");

#[test]
fn packets_survive_the_wire() {
    for (source, target) in [V4, V6] {
        let packet = Packet { flow_label: if source == V6.0 { 0x1_2345 } else { 0 }, ..packet(source, target) };
        let bytes = packet.encode().unwrap();
        assert_eq!(Packet::decode(&bytes).unwrap(), packet);
        let reserved = Packet { reserved: 5, ..packet };
        assert_eq!(Packet::decode(&reserved.encode().unwrap()).unwrap(), reserved, "the checksum covers reserved bits");
    }
}

#[test]
fn a_changed_bit_breaks_a_checksum() {
    let bytes = packet(V4.0, V4.1).encode().unwrap();
    // The bits of the version, the lengths and the protocol lead to other messages.
    for at in [1, 4, 8, 15, 21, 30, 37, 50, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        let error = Packet::decode(&changed).unwrap_err();
        assert!(error.contains("checksum"), "byte {at}: {error}");
    }
}

#[test]
fn header_of_a_known_packet() {
    // The example of a SYN in RFC 9293's layout, with checksums computed by hand from RFC 1071.
    let syn = Packet {
        tos: 0,
        flags: Flags::SYN.bits(),
        seq: 1,
        ack: 0,
        window: 1,
        urgent: 0,
        options: Vec::new(),
        payload: Vec::new(),
        ..packet("10.0.0.1:1", "10.0.0.2:2")
    };
    let bytes = syn.encode().unwrap();
    assert_eq!(bytes[..12], [0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0x26, 0xCE]);
    // 0a00 + 0001 + 0a00 + 0002 + 0006 + 0014 + 0001 + 0002 + 0001 + 5002 + 0001 = 6424
    assert_eq!(bytes[36..38], (!0x6424_u16).to_be_bytes());
}

#[test]
fn options_survive_the_wire() {
    let lists = [
        every_option(),
        vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(vec![(1, 1001), (u32::MAX - 3, 5)])],
        vec![TcpOption::FastOpen { cookie: vec![1, 2, 3, 4, 5, 6, 7, 8], experimental: false }, TcpOption::End, TcpOption::End],
        vec![TcpOption::FastOpen { cookie: Vec::new(), experimental: true }],
        vec![TcpOption::Md5(vec![9; 16]), TcpOption::Nop, TcpOption::Nop],
        vec![TcpOption::AccurateEcn(vec![(EcnCounter::Ect1, 1), (EcnCounter::Ce, 2), (EcnCounter::Ect0, 0xFF_FFFF)]), TcpOption::Nop],
        vec![TcpOption::AccurateEcn(vec![(EcnCounter::Ect0, 1)]), TcpOption::Nop, TcpOption::Nop, TcpOption::Nop],
    ];
    for list in lists {
        assert_eq!(decode_options(&encode_options(&list).unwrap()).unwrap(), list);
    }
}

#[test]
fn bad_options_have_messages() {
    let short = encode_options(&[TcpOption::WindowScale(7)]).unwrap_err();
    assert!(short.contains("3 bytes") && short.contains("nop"), "{short}");
    let long = encode_options(&[TcpOption::Sack(vec![(0, 1); 5]), TcpOption::Nop, TcpOption::Nop]).unwrap_err();
    assert!(long.contains("44 bytes"), "{long}");
    assert!(decode_options(&[2, 4, 5]).unwrap_err().contains("02 04 05"));
    assert!(decode_options(&[200, 3, 1, 0]).unwrap_err().contains("c8 03 01"));
    assert!(decode_options(&[3, 0]).is_err() && decode_options(&[3]).is_err());
}

#[test]
fn other_packets_are_refused() {
    assert!(Packet::decode(&[]).is_err());
    let mut udp = packet(V4.0, V4.1).encode().unwrap();
    udp[9] = 17;
    // Keeps the header's checksum right: 6 − 17 in the lower byte.
    let check = u16::from_be_bytes([udp[10], udp[11]]).wrapping_sub(11);
    udp[10..12].copy_from_slice(&check.to_be_bytes());
    assert!(Packet::decode(&udp).unwrap_err().contains("protocol 17"));
    let mixed = packet(V4.0, V6.1).encode().unwrap_err();
    assert!(mixed.contains("versions"), "{mixed}");
    let large = Packet { payload: vec![0; 70_000], ..packet(V4.0, V4.1) };
    assert!(large.encode().unwrap_err().contains("70000"));
}

#[test]
fn extension_headers_are_skipped_and_fragments_refused() {
    let bytes = packet(V6.0, V6.1).encode().unwrap();
    let extended = |kind: u8, extension: [u8; 8]| {
        let mut longer = [&bytes[..40], &extension, &bytes[40..]].concat();
        let length = (longer.len() - 40) as u16;
        longer[4..6].copy_from_slice(&length.to_be_bytes());
        longer[6] = kind;
        longer
    };
    let plain = Packet::decode(&bytes);
    assert_eq!(Packet::decode(&extended(60, [6, 0, 1, 4, 0, 0, 0, 0])), plain, "destination options");
    assert_eq!(Packet::decode(&extended(44, [6, 0, 0, 0, 0, 0, 0, 1])), plain, "the only fragment");
    for field in [1, 8] {
        let error = Packet::decode(&extended(44, [6, 0, 0, field, 0, 0, 0, 1])).unwrap_err();
        assert!(error.contains("fragments"), "{error}");
    }
    assert!(Packet::decode(&extended(0, [6, 200, 0, 0, 0, 0, 0, 0])).is_err(), "longer than the packet");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The headers of a simulated segment are those of a real packet with a payload of zeros, and every reader agrees on them.
    #[test]
    fn simulated_segments_are_packets(
        numbers: (u32, u32, u16), flags in 0..0x200_u16, mss: Option<u16>, shift: Option<u8>, sack_permitted: bool, stamps: Option<(u32, u32)>,
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..3), payload in 0..3000_u32, ports: (u16, u16), hops in 0..70_u16,
        counts in prop::option::of((any::<bool>(), prop::collection::vec(0..0x100_0000_u32, 0..=3))),
    ) {
        let mut sack = SackBlocks::EMPTY;
        if mss.is_none() {
            for &block in &blocks {
                sack.push(block);
            }
        }
        // All options together have 40 bytes.
        let ecn = counts.filter(|_| mss.is_some()).map(|(second, fields)| EcnCounts::new(EcnCounts::KINDS[usize::from(second)], &fields));
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let options = Options { mss, window_scale: shift, sack_permitted, timestamps, sack, ecn };
        let (seq, ack, window) = numbers;
        let flags = Flags::from_bits(flags);
        let segment = Segment { seq, ack, flags, window, options, payload, ecn: ackclock_core::qdisc::Ecn::default() };
        let mut bytes = Vec::new();
        let length = headers(&mut bytes, &segment, (Endpoint::new(0, ports.0), Endpoint::new(1, ports.1)), hops);
        prop_assert_eq!(length, segment.wire_size());
        bytes.resize(length as usize, 0);
        let packet = Packet::decode(&bytes).unwrap();
        prop_assert_eq!((packet.seq, packet.ack, packet.window, packet.flags), (seq, ack, window, flags.bits()));
        prop_assert_eq!((packet.source.port(), packet.target.port(), packet.payload.len() as u32), (ports.0, ports.1, payload));
        prop_assert_eq!(packet.length(), segment.len());
        prop_assert_eq!(&packet.encode().unwrap(), &bytes);
        let read = Headers::read(&bytes).unwrap();
        prop_assert_eq!((read.seq, read.ack, read.flags, read.length()), (seq, ack, flags, segment.len()));
        let known: Vec<TcpOption> = decode_options(&packet.options).unwrap();
        prop_assert_eq!(known.contains(&TcpOption::SackPermitted), sack_permitted);
        prop_assert_eq!(known.contains(&TcpOption::Sack(sack.as_slice().to_vec())), !sack.as_slice().is_empty());
        let read = known.iter().find_map(|option| if let TcpOption::AccurateEcn(counters) = option { Some(counters) } else { None });
        let written = ecn.map(|counts| counts.fields().collect::<Vec<u32>>());
        prop_assert_eq!(read.map(|counters| counters.iter().map(|(_, count)| *count).collect()), written);
    }

    #[test]
    fn what_is_read_can_be_written(bytes in prop::collection::vec(any::<u8>(), 0..80), version in 0..8_u8) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = *first & 0x0F | version << 4;
        }
        if let Ok(packet) = Packet::decode(&bytes) {
            prop_assert_eq!(Packet::decode(&packet.encode().unwrap()), Ok(packet));
        }
        Headers::read(&bytes);
    }
}

#[test]
fn a_segment_survives_its_bytes() {
    let mut sack = SackBlocks::EMPTY;
    sack.push((7, 9));
    sack.push((u32::MAX, 3));
    let timestamps = Some(Timestamps { value: 0x0102_0304, echo: 5 });
    for options in [
        Options::default(),
        Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, timestamps, ..Options::default() },
        Options { timestamps, sack, ..Options::default() },
        Options { ecn: Some(EcnCounts::new(EcnCounts::KINDS[0], &[1, 2, 3])), sack, ..Options::default() },
        Options { ecn: Some(EcnCounts::new(EcnCounts::KINDS[1], &[0xFF_FFFF, 9])), timestamps, ..Options::default() },
    ] {
        let flags = Flags::ACK | Flags::PSH | Flags::of_ace(0b101);
        let segment = Segment { seq: 1, ack: u32::MAX, flags, window: 65_535, options, payload: 100, ecn: Ecn::Ce };
        let mut frame = Vec::new();
        let length = headers(&mut frame, &segment, (Endpoint::new(0, 1), Endpoint::new(1, 2)), 0);
        frame.resize(length as usize, 0);
        assert_eq!(Packet::decode(&frame).unwrap().segment(), segment);
    }
}
