//! The size of the peer's full segments, as the receiver estimates it from those that arrive.
//!
//! A larger segment sets the size. So do two smaller ones in a row of equal size: from 536 bytes on with options, or from 88 bytes on unless
//! PSH or FIN shows that they are ends of writes.
//!
//! ## References
//! RFC 5681 §4.2 leaves the estimate to the receiver. Measured on Linux 6.18 (`tcpi_rcv_mss`; the numbers of the
//! test below).

/// Size that is assumed before the first segment (RFC 9293 §3.7.1).
const DEFAULT: u64 = 536;
/// Smaller segments, with the options of every segment, never set the size.
const LEAST: u64 = 88;

/// How a segment compares with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// A full segment.
    Full,
    /// A full segment with PSH: the end of a write.
    Pushed,
    /// A smaller segment: the end of a write.
    Partial,
    /// A smaller segment of the same size as the one before: full segments have this size now.
    Resized,
}

/// The estimate.
#[derive(Debug)]
pub(super) struct PeerSegment {
    full: u64,
    /// Size of the last segment, if it was smaller and may become the full size.
    smaller: u64,
    /// Largest segment that this end announces, without the options of every segment.
    mss: u64,
    /// Bytes of options in every segment.
    options: u64,
}

impl PeerSegment {
    /// The estimate before the first segment.
    pub(super) fn new(mss: u64) -> Self {
        Self { full: DEFAULT.min(mss), smaller: 0, mss, options: 0 }
    }

    /// Every segment carries `options` bytes of options.
    pub(super) fn agree(&mut self, options: u64) {
        *self = Self { options, ..Self::new(self.mss.saturating_sub(options).max(1)) };
    }

    /// The size of full segments.
    pub(super) fn full(&self) -> u64 {
        self.full
    }

    /// A segment with `data` bytes arrived; `push`: with PSH; `fin`: with FIN.
    pub(super) fn note(&mut self, data: u64, push: bool, fin: bool) -> Size {
        if data >= self.full {
            (self.full, self.smaller) = (data.min(self.mss), 0);
            return if push { Size::Pushed } else { Size::Full };
        }
        let before = std::mem::take(&mut self.smaller);
        let size = data + self.options;
        if size >= DEFAULT || size >= LEAST && !push && !fin {
            self.smaller = data;
            if data == before {
                self.full = data;
                return Size::Resized;
            }
        }
        Size::Partial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_measured() {
        let mut segment = PeerSegment::new(1460);
        segment.agree(12);
        assert_eq!(segment.full(), 536);
        assert_eq!((segment.note(1448, false, false), segment.full()), (Size::Full, 1448));
        assert_eq!(segment.note(1448, true, false), Size::Pushed);
        // From 524 bytes on, PSH does not matter.
        assert_eq!([segment.note(535, true, false), segment.note(535, true, false)], [Size::Partial, Size::Resized]);
        assert_eq!(segment.full(), 535);
        assert_eq!([segment.note(300, true, false), segment.note(300, true, false)], [Size::Partial, Size::Partial]);
        assert_eq!([segment.note(300, false, false), segment.note(300, false, false)], [Size::Partial, Size::Resized]);
        assert_eq!([segment.note(50, false, false), segment.note(50, false, false)], [Size::Partial, Size::Partial]);
        assert_eq!(segment.full(), 300);
    }
}
