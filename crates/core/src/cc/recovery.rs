//! Whether an ACK comes in recovery as Linux counts, where the ACK that ends it still does.

/// The state at the next ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// No recovery.
    #[default]
    Open,
    /// In recovery.
    Inside,
    /// The next ACK is the one that ends recovery.
    Ending,
}

impl Recovery {
    /// The state of the ACK that arrives.
    pub(crate) fn at_ack(&mut self) -> Self {
        let state = *self;
        if state == Self::Ending {
            *self = Self::Open;
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::Recovery::{Ending, Inside, Open};

    #[test]
    fn the_ack_that_ends_recovery_is_part_of_it() {
        for (mut state, seen) in [(Open, [Open, Open]), (Inside, [Inside, Inside]), (Ending, [Ending, Open])] {
            assert_eq!([state.at_ack(), state.at_ack()], seen);
        }
    }
}
