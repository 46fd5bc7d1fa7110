//! Feedback of marks: what the receiving half counts and reports, and what the sending half reads from it.
//!
//! Accurate feedback overlays the flags AE, CWR and ECE with the ACE field: the three lower bits of a counter of marked packets. An option
//! in pure ACKs counts bytes. During the handshake the field says which codepoint has arrived on the SYN or SYN-ACK.
//!
//! ## References
//! RFC 3168 §6.1.3 (classic); RFC 8257 §3.2 (DCTCP); RFC 9768 §3.1 and §3.2.1 (negotiation, counters), §3.2.2 (ACE field), §3.2.3 (option),
//! appendix A (decoding).

use ackclock_core::events::MarkCount;
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};

use super::config::Feedback;
use super::rules::Rules;
use super::segment::{EcnCounts, Flags, MAX_OPTIONS, Options};
use super::settings::Config;

/// First value of the counter of marked packets (RFC 9768 §3.2.1).
pub(super) const FIRST_CEP: u32 = 5;
/// Values of the ACE field.
pub(super) const ACE: u32 = 8;
/// Marked packets after which an ACK is due at once if data is unacknowledged (RFC 9768 §3.2.2.5.1).
const AT_ONCE: u32 = 2;
/// Marked packets after which an ACK is due at once on every packet, before the field goes round.
const NEARLY_ROUND: u32 = 6;
/// Options that a change of the codepoint demands.
const DEMANDED: u32 = 2;

/// The ACE field of a SYN-ACK, or of the ACK of one, that feeds back `arrived` (RFC 9768 §3.1.2 and §3.2.2.1, tables 2 and 3).
pub(super) const fn handshake_field(arrived: Ecn) -> u8 {
    match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The codepoint that `field` feeds back; values without a meaning count as Not-ECT.
pub(super) const fn fed_back(field: u8) -> Ecn {
    match field {
        0b011 => Ecn::Ect1,
        0b100 => Ecn::Ect0,
        0b110 => Ecn::Ce,
        _ => Ecn::NotEct,
    }
}

/// The place of a codepoint among ECT(1), ECT(0) and CE.
pub(super) const fn place(codepoint: Ecn) -> usize {
    match codepoint {
        Ecn::NotEct | Ecn::Ect1 => 0,
        Ecn::Ect0 => 1,
        Ecn::Ce => 2,
    }
}

/// What an arriving segment makes the receiving half do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a reaction of its own")]
pub(super) struct Reaction {
    /// Earlier data that is not yet acknowledged needs an ACK of its own, with the earlier echo.
    pub(super) earlier_apart: bool,
    /// An ACK is due at once.
    pub(super) at_once: bool,
    /// The first mark of a window: the next two ACKs are due at once, where ACKs adapt.
    pub(super) quicken: bool,
    /// The peer has reduced its window, which may be very small now: the ACK is due at once, where ACKs adapt.
    pub(super) reduced: bool,
}

/// The receiving half's feedback.
#[derive(Debug)]
pub(super) struct Echo {
    feedback: Option<Feedback>,
    /// Classic: a mark has arrived, and no CWR since. DCTCP and accurate: the last data was marked.
    marked: bool,
    /// Counter of marked packets (`r.cep`).
    cep: u32,
    /// Marked packets since the last ACK.
    unreported: u32,
    /// Counters of bytes (`r.e0b`, `r.ceb`, `r.e1b`).
    bytes: EcnCounts,
    /// The codepoint of the SYN-ACK, which the next pure ACK feeds back.
    syn_ack: Option<Ecn>,
    /// Whether this end sends the option.
    sends_option: bool,
    /// Whether feedback is on every packet.
    everywhere: Option<Everywhere>,
}

/// Feedback on every packet.
#[derive(Debug, Default)]
struct Everywhere {
    /// Whether the peer has sent an option.
    heard_option: bool,
    /// Whether the network discards packets with the option.
    discards_option: bool,
    /// The first byte that the D-SACK block beside the last option reported.
    duplicate: Option<u64>,
    /// Counters that the next option must have, since they have changed.
    least: u8,
    /// Codepoint of the last packet.
    last: Option<Ecn>,
    /// Whether the codepoint has changed, which is acknowledged at once.
    changed: bool,
    /// How many times in a round trip the option is sent at least; `None`: always.
    beacons: Option<u32>,
    /// Options that the last change demands.
    demand: u32,
    /// When the last option was sent.
    sent_at: Instant,
}

impl Everywhere {
    /// Whether the option is due. `srtt`: the round-trip time.
    fn is_due(&self, now: Instant, srtt: Duration) -> bool {
        let Some(beacons) = self.beacons else { return true };
        // The segments of a block have the same options.
        self.demand > 0 || now == self.sent_at || beacons > 0 && now.since(self.sent_at) * f64::from(beacons) >= srtt
    }

    /// The option is sent.
    fn note_sent(&mut self, now: Instant) {
        let again = now == self.sent_at;
        (self.least, self.demand, self.sent_at) = (0, self.demand.saturating_sub(u32::from(!again)), now);
    }

    /// A packet with `payload` bytes has arrived. Returns whether its ACK is due at once.
    fn note(&mut self, arrived: Ecn, payload: u64, unreported: u32) -> bool {
        if payload > 0 {
            // The option of kind 174 counts ECT(1), CE and ECT(0), and may end after any of them.
            let counters = match arrived {
                Ecn::NotEct => 0,
                Ecn::Ect1 => 1,
                Ecn::Ce => 2,
                Ecn::Ect0 => 3,
            };
            self.least = self.least.max(counters);
        }
        let changed = self.last.replace(arrived).unwrap_or(Ecn::NotEct) != arrived;
        self.changed |= changed;
        if changed || arrived == Ecn::Ce {
            self.demand = DEMANDED;
        }
        payload > 0 && (self.changed || unreported >= NEARLY_ROUND)
    }
}

impl Echo {
    /// No feedback, until both ends have agreed on one.
    pub(super) fn new(config: &Config) -> Self {
        let mut echo = Self {
            feedback: None,
            marked: false,
            cep: FIRST_CEP,
            unreported: 0,
            bytes: EcnCounts::FIRST,
            syn_ack: None,
            sends_option: config.ecn_option,
            everywhere: Rules::of(config).marks_every_packet.then(Everywhere::default),
        };
        echo.configure(config);
        echo
    }

    /// Sets whether and when this end sends the option.
    pub(super) fn configure(&mut self, config: &Config) {
        self.sends_option = config.ecn_option;
        if let Some(everywhere) = &mut self.everywhere {
            everywhere.beacons = config.ecn_seldom.then_some(config.ecn_beacons);
        }
    }

    /// Whether some packets have the option, and others do not.
    pub(super) fn is_seldom(&self) -> bool {
        self.everywhere.as_ref().is_some_and(|it| it.beacons.is_some())
    }

    /// Whether accurate feedback is on every packet.
    pub(super) fn is_everywhere(&self) -> bool {
        self.everywhere.is_some() && self.feedback == Some(Feedback::Accurate)
    }

    /// Whether every packet is ECN-capable, also ACKs and retransmissions.
    pub(super) fn is_capable_everywhere(&self) -> bool {
        self.everywhere.is_some() && matches!(self.feedback, Some(Feedback::Accurate | Feedback::Dctcp))
    }

    /// Whether a packet that is sent `now` carries the option. `srtt`: the round-trip time.
    pub(super) fn is_in_data(&self, now: Instant, srtt: Duration) -> bool {
        let due = |it: &Everywhere| it.heard_option && !it.discards_option && it.is_due(now, srtt);
        self.everywhere.as_ref().is_some_and(due) && self.sends_option && self.feedback == Some(Feedback::Accurate)
    }

    /// The peer has sent an option; the first demands so many of this end.
    pub(super) fn hear_option(&mut self, demand: u32) {
        if let Some(everywhere) = &mut self.everywhere {
            // The first option of a SYN or SYN-ACK is answered.
            if !std::mem::replace(&mut everywhere.heard_option, true) {
                everywhere.demand = everywhere.demand.max(demand);
            }
        }
    }

    /// A SYN has arrived.
    pub(super) fn note_syn(&mut self, arrived: Ecn) {
        if let Some(everywhere) = &mut self.everywhere {
            everywhere.last = Some(arrived);
        }
    }

    /// Data that begins at `start` has arrived again. If the option was beside the report of the same, the network discards packets with it.
    pub(super) fn note_duplicate(&mut self, start: u64) {
        if let Some(everywhere) = &mut self.everywhere {
            everywhere.discards_option |= everywhere.duplicate == Some(start);
        }
    }

    /// Marked packets that have arrived, and bytes with ECT(1), ECT(0) and CE, modulo the range of the option's counters.
    pub(super) fn arrived(&self) -> (u32, [u64; 3]) {
        let mut bytes = [0; 3];
        for (codepoint, count) in self.bytes.counted() {
            bytes[place(codepoint)] = count.into();
        }
        (self.cep - FIRST_CEP, bytes)
    }

    /// Sets the feedback of the connection.
    pub(super) fn agree(&mut self, feedback: Option<Feedback>) {
        self.feedback = feedback;
    }

    /// A SYN-ACK has arrived.
    pub(super) fn note_syn_ack(&mut self, arrived: Ecn) {
        if self.feedback == Some(Feedback::Accurate) {
            // RFC 9768 §3.2.1: of the packets of the handshake, only a marked SYN-ACK counts.
            if self.syn_ack.is_none() && self.cep == FIRST_CEP && arrived == Ecn::Ce {
                self.cep += 1;
            }
            self.syn_ack = Some(arrived);
        }
    }

    /// A segment with `payload` bytes of data has arrived.
    pub(super) fn note(&mut self, arrived: Ecn, payload: u64, cwr: bool) -> Reaction {
        let ce = arrived == Ecn::Ce;
        match self.feedback {
            None => Reaction::default(),
            // RFC 3168 §6.1.3: echoes a mark on every ACK until CWR arrives. A packet with CWR may itself be marked again.
            Some(Feedback::Classic) => {
                let quicken = ce && (!self.marked || cwr);
                self.marked = ce || self.marked && !cwr;
                Reaction { quicken, reduced: cwr && payload > 0, ..Reaction::default() }
            }
            // RFC 8257 §3.2: a change of state has an ACK at once, and so have the segments before it.
            Some(Feedback::Dctcp) => {
                let changes = payload > 0 && ce != self.marked;
                self.marked = if payload > 0 { ce } else { self.marked };
                Reaction { earlier_apart: changes, at_once: changes, quicken: ce && cwr, reduced: cwr && payload > 0 }
            }
            Some(Feedback::Accurate) => {
                self.cep += u32::from(ce);
                self.unreported += u32::from(ce);
                self.bytes.add(arrived, payload as u32);
                if let Some(everywhere) = &mut self.everywhere {
                    return Reaction { at_once: everywhere.note(arrived, payload, self.unreported), ..Reaction::default() };
                }
                if payload == 0 {
                    return Reaction::default();
                }
                let first = ce && !std::mem::replace(&mut self.marked, ce);
                // RFC 9768 §3.2.2.5.1.
                Reaction { at_once: first || ce && self.unreported >= AT_ONCE, ..Reaction::default() }
            }
        }
    }

    /// The flags of a segment that is about to be sent; `pure`: an ACK without data and SACK blocks.
    pub(super) fn flags(&mut self, pure: bool) -> Flags {
        match self.feedback {
            None => Flags::NONE,
            Some(Feedback::Classic | Feedback::Dctcp) => Flags::NONE.with(Flags::ECE, self.marked),
            Some(Feedback::Accurate) => {
                self.unreported = 0;
                if let Some(everywhere) = &mut self.everywhere {
                    everywhere.changed = false;
                }
                match self.syn_ack.take_if(|_| pure) {
                    Some(arrived) => Flags::of_ace(handshake_field(arrived)),
                    None => Flags::of_ace((self.cep % ACE) as u8),
                }
            }
        }
    }

    /// The flags of an ACK of data before the state changed (RFC 8257 §3.2).
    pub(super) fn earlier_flags(&self) -> Flags {
        Flags::NONE.with(Flags::ECE, !self.marked)
    }

    /// The option of an ACK with `room` bytes for options; `None` if the feedback has none or no option fits.
    pub(super) fn option(&self, room: u32) -> Option<EcnCounts> {
        if self.feedback == Some(Feedback::Accurate) && self.sends_option { self.bytes.fitting(room) } else { None }
    }

    /// The option of a SYN-ACK with `room` bytes for options.
    pub(super) fn first_option(&self, room: u32) -> Option<EcnCounts> {
        if self.is_everywhere() && self.sends_option { EcnCounts::FIRST.most_fitting(room, 0, false) } else { self.option(room) }
    }

    /// Adds the option of a packet, if there is feedback on every packet. `reserved`: bytes of other options that are not yet in `options`;
    /// `duplicate`: the first byte that a D-SACK block reports; then the time, and the round-trip time. The last of three SACK blocks or more gives way to counters that have changed.
    pub(super) fn add_option(&mut self, options: &mut Options, reserved: u32, duplicate: Option<u64>, (now, srtt): (Instant, Duration)) {
        let sends = self.is_in_data(now, srtt);
        let Some(everywhere) = &mut self.everywhere else { return };
        let full = options.sack;
        let counts = if sends {
            loop {
                let blocks = options.sack.as_slice().len();
                let room = MAX_OPTIONS.saturating_sub(options.size() + reserved);
                let counts = self.bytes.most_fitting(room, everywhere.least, blocks > 0);
                if counts.is_some() || everywhere.least == 0 || blocks <= 2 {
                    break counts;
                }
                options.sack.pop();
            }
        } else {
            None
        };
        options.ecn = counts;
        everywhere.duplicate = duplicate.filter(|_| counts.is_some());
        if counts.is_some() {
            everywhere.note_sent(now);
        } else {
            options.sack = full;
        }
    }
}

/// What an ACK delivers, as far as marks are concerned.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(super) struct Delivery {
    /// Bytes newly delivered.
    pub(super) bytes: u64,
    /// Segments newly delivered.
    pub(super) segments: u64,
    /// The largest of them.
    pub(super) largest: u64,
    /// Whether the ACK advances.
    pub(super) advances: bool,
    /// Whether the ACK advances, or reports new data.
    pub(super) news: bool,
    /// Whether ACKs report data that has arrived out of order.
    pub(super) selective: bool,
    /// Whether the segments have the size of all copies that may have arrived beside them.
    pub(super) even: bool,
}

/// The marks that an ACK reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// Whether it reports any.
    pub(super) echo: bool,
    /// Bytes.
    pub(super) bytes: u64,
    /// Packets.
    pub(super) packets: u64,
    /// What `bytes` is.
    pub(super) count: MarkCount,
}

impl Report {
    /// No mark.
    pub(super) const NONE: Self = Self { echo: false, bytes: 0, packets: 0, count: MarkCount::Exact };
}

/// The sending half's copy of the peer's counters.
#[derive(Debug)]
pub(super) struct Counters {
    /// The ACE field of the last ACK (`s.cep`).
    ace: u32,
    /// The peer's counter of marked bytes (`s.ceb`).
    ceb: u32,
    /// Bytes that the field alone has reported since `ceb`.
    guessed: u64,
    /// Marked packets that the field has reported before the ACKs that deliver them.
    owed: u64,
    /// Whether feedback has arrived since the handshake.
    heard: bool,
    /// Whether an option has arrived.
    option: bool,
}

impl Counters {
    /// The first values.
    pub(super) const fn new() -> Self {
        Self { ace: FIRST_CEP, ceb: 0, guessed: 0, owed: 0, heard: false, option: false }
    }

    /// The ACK of a SYN-ACK feeds back how that has arrived.
    pub(super) fn note_syn_ack(&mut self, arrived: Ecn) {
        self.ace = if arrived == Ecn::Ce { FIRST_CEP + 1 } else { FIRST_CEP };
    }

    /// Whether the first feedback after the handshake shows that the network sets its flags to zero (RFC 9768 §3.2.2.4). The field is also
    /// zero after three marks; they need three segments, and the option counts their bytes.
    pub(super) fn looks_zeroed(&mut self, ace: u8, option: Option<&EcnCounts>, delivery: &Delivery) -> bool {
        let first = delivery.news && !std::mem::replace(&mut self.heard, true);
        let marks = ACE - FIRST_CEP;
        first && ace == 0 && delivery.segments < u64::from(marks) && option.and_then(EcnCounts::ce).is_none_or(|bytes| bytes == 0)
    }

    /// Reads the field and the option of an ACK (RFC 9768 appendix A). `segment`: size of a full segment.
    pub(super) fn read(&mut self, ace: u8, option: Option<&EcnCounts>, delivery: &Delivery, segment: u64) -> Report {
        // RFC 9768 §3.2.3.2.4: counters of zero at the first option were cleared on the way.
        let cleared = option.is_some_and(|option| !self.option && option.is_cleared());
        let counted = option.filter(|_| !cleared).and_then(EcnCounts::ce);
        self.option |= counted.is_some();
        let packets = (u32::from(ace) + ACE - self.ace % ACE) % ACE;
        if let Some(ceb) = counted {
            let bytes = u64::from(ceb.wrapping_sub(self.ceb) & EcnCounts::MASK);
            if bytes > u64::from(EcnCounts::MASK / 2) {
                // An ACK that another one has overtaken.
                return Report::NONE;
            }
            (self.ace, self.ceb, self.owed) = (u32::from(ace), ceb, 0);
            let fresh = bytes.saturating_sub(std::mem::take(&mut self.guessed));
            let least = fresh.div_ceil(segment.max(1));
            let packets = u64::from(packets);
            let packets = packets + least.saturating_sub(packets).div_ceil(u64::from(ACE)) * u64::from(ACE);
            return Report { echo: packets > 0, bytes: fresh, packets, count: MarkCount::Exact };
        }
        if !delivery.news {
            // Nothing shows whether the ACK is older than the last; the next one that delivers data reports the marks again.
            return Report::NONE;
        }
        self.ace = u32::from(ace);
        let (least, segments) = (self.owed + u64::from(packets), delivery.segments);
        // The field may have gone round; as many of the packets may be marked as its value allows.
        let rounds = segments.saturating_sub(least) / u64::from(ACE) * u64::from(ACE);
        let most = (least + rounds).min(segments);
        self.owed = least.saturating_sub(segments);
        let bytes = if most == segments { delivery.bytes } else { (most * delivery.largest).min(delivery.bytes) };
        self.guessed += bytes;
        let uniform = most == segments || segments * delivery.largest == delivery.bytes;
        let count = match () {
            () if !delivery.selective => MarkCount::Estimate,
            () if least == 0 && rounds == 0 => MarkCount::Exact,
            // Copies have arrived marked, which no ACK delivers, or the marked packets may be copies of another size than what this one does.
            // An option makes up for what is missing.
            () if (self.owed > 0 || !delivery.even) && !self.option => MarkCount::Estimate,
            () if rounds == 0 && least <= segments && uniform && delivery.even => MarkCount::Exact,
            () => MarkCount::AtMost,
        };
        Report { echo: packets > 0 || most > 0, bytes, packets: most, count }
    }
}
