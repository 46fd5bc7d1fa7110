//! A bulk transfer: data that the sender sends as soon as its window allows.

use ackclock_core::units::Instant;

/// Upper bound of segment numbers; a flow would need 4·10⁹ packets to reach it.
const LAST_SEQ: u32 = u32::MAX - 2;

/// Unlimited data, or a fixed amount, between a start and an optional stop.
#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    /// When the sender starts.
    pub start: Instant,
    /// When the application stops supplying data.
    pub stop: Option<Instant>,
    /// Number of data packets; `None`: unlimited.
    pub packets: Option<u64>,
    /// Whether an application may still add packets, so that the connection stays open.
    pub grows: bool,
}

impl Bulk {
    /// Whether data packet number `seq` (the first is 1) may be sent for the first time at `now`.
    pub fn offers(&self, seq: u32, now: Instant) -> bool {
        seq < LAST_SEQ && self.packets.is_none_or(|packets| u64::from(seq) <= packets) && self.stop.is_none_or(|stop| now < stop)
    }

    /// Adds `packets` to the amount.
    pub fn offer(&mut self, packets: u64) {
        self.packets = self.packets.map(|before| before.saturating_add(packets));
    }

    /// The final number of packets, if it is known.
    pub fn amount(&self) -> Option<u64> {
        self.packets.filter(|_| !self.grows)
    }

    /// Whether `written` packets are the whole transfer.
    pub fn is_done(&self, written: u64) -> bool {
        !self.grows && self.packets == Some(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Instant = Instant::from_nanos(1_000_000_000);

    #[test]
    fn offers_its_amount_until_it_stops() {
        let bulk = Bulk { start: Instant::ZERO, stop: Some(SECOND), packets: Some(3), grows: false };
        assert!(bulk.offers(3, Instant::ZERO));
        assert!(!bulk.offers(4, Instant::ZERO));
        assert!(!bulk.offers(1, SECOND));
        assert!(bulk.is_done(3) && !bulk.is_done(2));
        assert_eq!(bulk.amount(), Some(3));
    }

    #[test]
    fn an_application_may_add_packets() {
        let mut bulk = Bulk { start: Instant::ZERO, stop: None, packets: Some(0), grows: true };
        assert!(!bulk.offers(1, SECOND));
        bulk.offer(2);
        assert!(bulk.offers(2, SECOND) && !bulk.offers(3, SECOND) && !bulk.is_done(2));
        assert_eq!(bulk.amount(), None, "an application may add packets");
    }
}
