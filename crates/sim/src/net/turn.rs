//! Which of several transmissions that start at the same time starts first.
//!
//! On links of one kind, packets of one size whose transmissions start at the same time arrive at the same time. ns-2 lets them arrive in the
//! order in which their transmissions started, which is the order in which these starts were determined. A transmission that finds its link
//! free is started by the event that sends the packet, such as the arrival of an ACK. One that had to wait is started by the end of the
//! transmission before it. If that one, too, started at the same time as the other link's, the one before it decides, and so on: what
//! counts is how the shorter of the two rows of transmissions began.

use ackclock_core::units::{Instant, Moment};

/// A transmission's place among those that start at the same time on links of one kind; the lowest number starts first.
///
/// Exact for packets of one size, up to 255 transmissions in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(u16);

impl Turn {
    /// Bits of its number.
    pub(crate) const BITS: u32 = 9;
    /// Before all others.
    pub(crate) const FIRST: Self = Self(0);
    /// After all others.
    pub(crate) const LAST: Self = Self(2 * Self::PLACES - 1);
    /// Places that are told apart in rows of either kind.
    const PLACES: u16 = 1 << (Self::BITS - 1);

    /// The turn of a transmission from `start` to `end` in a row that an event at `row` began.
    pub(crate) fn new(row: Moment, start: Instant, end: Instant) -> Self {
        let [row_at, row_since, start, end] = [row.at, row.since, start, end].map(Instant::as_secs_f64);
        let time = end - start;
        let before = if start > row_at { ((start - row_at) / time + 0.5) as u16 } else { 0 };
        let place = before.min(Self::PLACES - 1);
        // Of two rows the one that began last decides. The end of the other's transmission was determined when that transmission started.
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

    /// The turn of a transmission of 3 ms with so many before it in a row, which an event began that was determined so many milliseconds
    /// before.
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
