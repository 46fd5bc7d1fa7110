//! The limit of lateness above which a run is repeated.

use ackclock_core::units::Duration;

use super::Lateness;

/// Largest lateness of a release in a run that counts.
pub(super) const MOST: Duration = Duration::from_millis(25);

/// Why a run does not count, if it does not.
pub(super) fn reason(lateness: &Lateness) -> Option<String> {
    let [max, most] = [lateness.max, MOST].map(|late| 1e3 * late.as_secs_f64());
    (lateness.max > MOST).then(|| format!("a packet was released {max:.1} ms late; up to {most} ms a run counts"))
}
