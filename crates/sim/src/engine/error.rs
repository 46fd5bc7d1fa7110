//! Reasons why a run gives no result.

use thiserror::Error;

use super::events::MAX_SUBJECTS;

/// The reason why a run gave no result.
#[derive(Debug, Error)]
pub enum RunError {
    /// No route connects two nodes of a flow.
    #[error("no route leads from node {from} to node {to}")]
    NoRoute {
        /// Name of the node where the route begins.
        from: String,
        /// Name of the node where it would end.
        to: String,
    },
    /// The shortest route between two nodes has more links than packets can count.
    #[error("the route from node {from} to node {to} has more than 65535 links")]
    RouteTooLong {
        /// Name of the node where the route begins.
        from: String,
        /// Name of the node where it ends.
        to: String,
    },
    /// A part rejects its parameters or does not exist.
    #[error("{0}")]
    Part(String),
    /// A place to capture does not exist, or the packets cannot be captured.
    #[error("{0}")]
    Capture(String),
    /// An outside host does not fit the scenario, or has broken the contract of [`OutsideHost`](super::OutsideHost).
    #[error("{0}")]
    Outside(String),
    /// The scenario needs a kernel: what does.
    #[error(
        "{0}, which needs a kernel in virtual time: `ackclock kernel build` makes one on Linux, and `ackclock run` runs the scenario with it \
         (Python: ackclock.linux.run(scenario, on=\"simulation\"))"
    )]
    Kernel(String),
    /// More links and flows than the engine can number.
    #[error("{0} links and flows are more than the engine can hold ({MAX_SUBJECTS})")]
    TooLarge(usize),
    /// The run needs more events than the caller permits.
    #[error("exceeds the budget of {max} events (max_events): stopped at {at:.3} s of {end} s")]
    Events {
        /// The budget.
        max: u64,
        /// Time of the first event that was not processed, in seconds.
        at: f64,
        /// End of the run, in seconds.
        end: f64,
    },
    /// A fault of the engine.
    #[error("internal error: {0}")]
    Internal(String),
    /// The caller stopped the run.
    #[error("interrupted")]
    Interrupted,
}
