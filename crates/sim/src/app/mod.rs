//! Applications: what hands data to a sender.

use ackclock_core::units::Instant;

/// Segment numbers end here; a run would need 4·10⁹ packets of one flow to get so far.
const LAST_SEQ: u32 = u32::MAX - 2;

/// A bulk transfer: data without end, or a fixed amount, between a start and an optional stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bulk {
    /// When it starts.
    pub(crate) start: Instant,
    /// When it stops handing over data.
    pub(crate) stop: Option<Instant>,
    /// Data packets in all.
    pub(crate) packets: Option<u64>,
}

impl Bulk {
    /// Whether data packet number `seq` (the first is 1) may be sent for the first time at `now`.
    pub(crate) fn offers(&self, seq: u32, now: Instant) -> bool {
        seq < LAST_SEQ && self.packets.is_none_or(|packets| u64::from(seq) <= packets) && self.stop.is_none_or(|stop| now < stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_its_amount_until_it_stops() {
        let second = Instant::from_nanos(1_000_000_000);
        let bulk = Bulk { start: Instant::ZERO, stop: Some(second), packets: Some(3) };
        assert!(bulk.offers(3, Instant::ZERO));
        assert!(!bulk.offers(4, Instant::ZERO));
        assert!(!bulk.offers(1, second));
    }
}
