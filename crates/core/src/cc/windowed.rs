//! The largest value of a window that moves along.
//!
//! ## References
//! Nichols' filter of three samples, in which the versions of BBR keep bandwidths (draft-cardwell-iccrg-bbr-congestion-control-00 §4.1.1.4).
//! ## Differs from the document
//! Nothing. The filter forgets a maximum exactly when it leaves the window, but may then know only the largest value of the last quarter or half
//! of the window instead of the next largest.

/// The largest of recent values, by time or by rounds. A minimum is the largest of the negative values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windowed {
    /// The largest value, the largest since then, and the largest since that one, each with its time.
    best: [(f64, f64); 3],
}

impl Windowed {
    /// A filter whose only value is `value`, at time `at`.
    pub(crate) const fn new(at: f64, value: f64) -> Self {
        Self { best: [(at, value); 3] }
    }

    /// The largest value.
    pub(crate) const fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Adds a value at time `at`; those older than `window` expire.
    pub(crate) fn update(&mut self, window: f64, at: f64, value: f64) {
        let new = (at, value);
        let best = &mut self.best;
        if value >= best[0].1 || at - best[2].0 > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].1 {
            best[2] = new;
        }
        let age = at - best[0].0;
        if age > window {
            *best = [best[1], best[2], new];
            if at - best[0].0 > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 <= best[0].0 && age > window / 4.0 {
            (best[1], best[2]) = (new, new);
        } else if best[2].0 <= best[1].0 && age > window / 2.0 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_maximum_lasts_for_the_window() {
        let mut filter = Windowed::new(0.0, 10.0);
        let seen: Vec<f64> = (1..=12)
            .map(|round| {
                filter.update(10.0, f64::from(round), f64::from(9 - round % 2));
                filter.get()
            })
            .collect();
        assert_eq!(seen[..10], [10.0; 10]);
        assert_eq!(seen[10..], [9.0, 9.0], "after ten rounds, the largest of the later values");
    }

    proptest! {
        #[test]
        fn the_result_lies_between_the_newest_value_and_the_maximum_of_the_window(
            values in prop::collection::vec((0.0..3.0_f64, 0.0..100.0_f64), 1..200),
        ) {
            let (mut filter, mut now, mut seen) = (Windowed::new(0.0, 0.0), 0.0, vec![(0.0, 0.0)]);
            for (step, value) in values {
                now += step;
                seen.push((now, value));
                filter.update(10.0, now, value);
                let most = seen.iter().filter(|(at, _)| now - at <= 10.0).fold(0.0, |most: f64, (_, value)| most.max(*value));
                prop_assert!(value <= filter.get() && filter.get() <= most, "{} {most} {filter:?}", filter.get());
                // What the filter returns is a value that was seen in the window.
                prop_assert!(seen.iter().any(|(at, value)| now - at <= 10.0 && value.to_bits() == filter.get().to_bits()));
            }
        }
    }
}
