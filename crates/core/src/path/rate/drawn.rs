//! Rates that are drawn piece by piece.

use std::fmt::Debug;

use crate::path::rate::RateModel;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

/// What draws the next piece of a rate.
pub(super) trait Source: Debug + Send + Sync {
    /// The next rate in bits per second, and its time in seconds, which is above 0.
    fn next(&mut self, random: &mut Generator) -> (f64, f64);

    /// Mean rate in the long run.
    fn mean(&self) -> f64;
}

/// A rate and its place.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Bits per second.
    rate: f64,
    /// Seconds from the start of the run to its end.
    end: f64,
    /// Bits that are carried until then.
    carried: f64,
}

/// A piecewise constant rate, of which the pieces drawn so far are kept.
#[derive(Debug)]
pub(super) struct Drawn<S> {
    source: S,
    mean: Rate,
    pieces: Vec<Piece>,
    /// The piece of the last start.
    place: usize,
}

impl<S: Source> Drawn<S> {
    /// The rate of `source`, unless its mean is below 1 bit/s.
    pub(super) fn new(source: S) -> Result<Self, String> {
        let mean = Rate::from_bits_per_sec(source.mean().round() as u64).ok_or("the mean rate must be at least 1 bit/s")?;
        Ok(Self { source, mean, pieces: Vec::new(), place: 0 })
    }

    /// The piece number `index`, which is at most the first that is not drawn yet.
    fn piece(&mut self, index: usize, random: &mut Generator) -> Piece {
        if index == self.pieces.len() {
            let (begin, carried) = self.pieces.last().map_or((0.0, 0.0), |last| (last.end, last.carried));
            let (rate, time) = self.source.next(random);
            self.pieces.push(Piece { rate, end: begin + time, carried: carried + rate * time });
        }
        self.pieces[index]
    }
}

impl<S: Source> RateModel for Drawn<S> {
    fn finish(&mut self, start: Instant, size: Bytes, random: &mut Generator) -> Instant {
        if start == Instant::MAX {
            return start;
        }
        let (mut at, mut bits) = (start.as_secs_f64(), 8.0 * size.0 as f64);
        let mut place = self.place;
        let mut piece = self.piece(place, random);
        while piece.end <= at {
            place += 1;
            piece = self.piece(place, random);
        }
        self.place = place;
        loop {
            let left = piece.rate * (piece.end - at);
            if bits <= left {
                return start.max(Instant::ZERO + Duration::from_secs_f64(at + bits / piece.rate));
            }
            (bits, at) = (bits - left, piece.end);
            place += 1;
            piece = self.piece(place, random);
        }
    }

    fn capacity(&self, until: Instant) -> f64 {
        let until = until.as_secs_f64();
        let place = self.pieces.partition_point(|piece| piece.end <= until);
        match (self.pieces.get(place), self.pieces.last()) {
            (Some(piece), _) => piece.carried - piece.rate * (piece.end - until),
            (None, last) => {
                let (end, carried) = last.map_or((0.0, 0.0), |last| (last.end, last.carried));
                carried + self.mean.as_bits_per_sec() as f64 * (until - end)
            }
        }
    }

    fn mean(&self) -> Rate {
        self.mean
    }
}
