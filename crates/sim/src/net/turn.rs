//! Order of transmissions that start at the same time.
//!
//! On links of one kind, packets of one size whose transmissions start at the same time also arrive at the same time. In ns-2 they arrive
//! in the order in which their transmissions started, which is the order in which these starts were determined.
//!
//! - If the link is free, the event that sends the packet, such as the arrival of an ACK, starts the transmission.
//! - Otherwise the end of the previous transmission starts it. If the previous transmissions of both links also started at the same time,
//!   the ones before them decide, and so on.
//!
//! The start of the shorter series of transmissions therefore decides.

use ackclock_core::units::{Instant, Moment};

/// The rank of a transmission among those that start at the same time on links of one kind. The lowest number starts first.
///
/// Exact for packets of one size, up to 255 transmissions in a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(u16);

impl Turn {
    /// Bits of its number.
    pub(crate) const BITS: u32 = 9;
    /// Before all others.
    pub(crate) const FIRST: Self = Self(0);
    /// After all others.
    pub(crate) const LAST: Self = Self(2 * Self::PLACES - 1);
    /// Number of distinct ranks in each half.
    const PLACES: u16 = 1 << (Self::BITS - 1);

    /// The turn of a transmission from `start` to `end` in a series that an event at `row` began.
    pub(crate) fn new(row: Moment, start: Instant, end: Instant) -> Self {
        let [row_at, row_since, start, end] = [row.at, row.since, start, end].map(Instant::as_secs_f64);
        let time = end - start;
        let before = if start > row_at { ((start - row_at) / time + 0.5) as u16 } else { 0 };
        let place = before.min(Self::PLACES - 1);
        // Of two series, the one that began last decides. The end of the other's transmission was determined when that transmission
        // started.
        Self(if row_at - row_since > time { place } else { 2 * Self::PLACES - 1 - place })
    }

    /// Its number.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(1_000_000 * millis)
    }

    /// The turn of a transmission of 3 ms, with `before` transmissions before it in a series. The event that began the series was
    /// determined `determined` milliseconds earlier.
    fn turn(determined: u64, before: u64) -> u64 {
        let (begin, start) = (100_000 - 3 * before, 100_000);
        Turn::new(Moment { at: at(begin), since: at(begin - determined) }, at(start), at(start + 3)).number()
    }

    #[test]
    fn the_row_that_began_last_goes_first_if_its_event_was_determined_before_the_other_rows_transmission_began() {
        for shorter in 0..20 {
            for longer in shorter + 1..40 {
                for determined in [0, 1, 10] {
                    assert!(turn(10, shorter) < turn(determined, longer), "{shorter} {longer} {determined}");
                    assert!(turn(1, shorter) > turn(determined, longer), "{shorter} {longer} {determined}");
                }
            }
        }
    }

    #[test]
    fn long_rows_keep_their_side() {
        assert_eq!((turn(10, 255), turn(10, 10_000)), (255, 255));
        assert_eq!((turn(1, 255), turn(1, 10_000)), (256, 256));
    }
}
