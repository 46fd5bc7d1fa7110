//! The rules by which systems depart from the RFCs when they send.
//!
//! A preset chooses a set as a whole, by `whole_segments`. The control learns of it in the events.
//!
//! ## References
//! RFC 5681 §3.1 (reductions), RFC 3465 (growth), RFC 6582 (NewReno), RFC 8985 (RACK), RFC 9937 (PRR): [`Rules::RFC`].
//!
//! [`Rules::LINUX`] was measured with Linux 6.18 and 7.2. Each rule names what fails without it: tests in `tests/linux.rs`, and scripts
//! recorded on the kernel (`crates/script/tests/recorded.rs`), such as `loss-3`.

use ackclock_core::units::Bytes;

use super::config::{ECN_COUNTS, Feedback, TIMESTAMPS};
use super::resolution::Resolution;
use super::settings::Config;

/// How a sender counts, reduces and repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent rule")]
pub(super) struct Rules {
    /// Whether the units of window, pipe and PRR are segments; otherwise they are bytes.
    pub(super) counts_segments: bool,
    /// Whether an ACK counts for growth what arrived by it, also by SACK; otherwise what it acknowledges (RFC 3465). The ACK that ends
    /// recovery counts, and a path that reorders does not stop growth. 80 scripts, such as `frto-1`, `loss-2` and `slow_start-9`.
    pub(super) grows_by_arrivals: bool,
    /// Whether the segments that the cumulative ACK covers come last, so that they determine the round-trip time of RACK.
    /// `a_recovery_counts_segments`.
    pub(super) takes_sacks_first: bool,
    /// Whether duplicate ACKs without SACK count as SACKed segments; otherwise they inflate the window (RFC 6582). The tests
    /// `without_sack_…`, and 18 scripts of the area `nosack`.
    pub(super) sacks_duplicates: bool,
    /// Whether PRR begins with the window before the reduction; otherwise with the data in flight (RFC 9937, `RecoverFS`).
    /// `without_sack_duplicate_acks_reduce_the_window_one_by_one`, and 30 scripts, such as `loss-3` and `sack-2`.
    pub(super) recovers_whole_window: bool,
    /// Whether a recovery that the timer of RACK begins counts a segment as delivered at its start. `reorder-4`, `-10`, `-14` and
    /// `sack-5`.
    pub(super) counts_timer_as_delivery: bool,
    /// Whether a reduction begins with the sender's own window; otherwise the receiver's bounds it.
    /// `the_window_of_the_peer_does_not_bound_the_threshold`.
    pub(super) reduces_own_window: bool,
    /// Whether the loss window adds the segments that are not lost to the one of RFC 5681 §3.1. No stored run distinguishes it.
    pub(super) keeps_pipe_after_timeout: bool,
    /// Whether a reduction leaves at least two segments for every cause; otherwise RFC 5681 §3.1 (loss) and RFC 3168 §6.1.2 (mark) apply.
    /// `ecn-2`, `nosack-2`, `-5`, `-14` and `reorder-3`.
    pub(super) keeps_two_segments: bool,
    /// Whether pacing is that of Linux's queue `fq`, which the TCP of Linux imitates without it.
    pub(super) paces_in_queue: bool,
    /// Whether a SYN that a wrong acknowledgement answers is sent again after two ticks. The script
    /// `rfc9293-3.10.7.3-wrong-acknowledgement`.
    pub(super) repeats_refused_syn: bool,
    /// Whether a SACK block counts as far as it covers whole segments; otherwise every byte does. The script `rfc2018-3-part-of-a-segment`.
    pub(super) sacks_whole_segments: bool,
    /// Whether the SACK blocks of an ACK below the last one count. The script `rfc2018-3-blocks-of-an-old-ack`.
    pub(super) reads_old_sacks: bool,
    /// Whether a tail loss probe that repeats the last segment leaves the count of its transmissions. `slow_start-12`.
    pub(super) ignores_repeated_probe: bool,
    /// Whether an ACK with an old timestamp gets an answer, though seldom, and counts if it repeats the last one; otherwise RFC 7323 §5.3
    /// drops it in silence. `an_ack_that_another_has_overtaken`.
    pub(super) answers_old_acks: bool,
    /// Whether an ACK that brings nothing new leaves a window larger than its own; otherwise RFC 9293 §3.10.7.4 takes a part of it back.
    /// `an_ack_that_another_has_overtaken`.
    pub(super) keeps_offered_window: bool,
    /// Whether RACK's search for losses ends at the first segment, in the order of sending, that was not sent before the newest delivered
    /// one; otherwise those behind it with the same time count too (RFC 8985 §6.2). It also leaves out the segments of an undone recovery.
    /// `losses_are_found_in_the_order_of_sending`.
    pub(super) detects_losses_in_order: bool,
    /// Whether a transmission plans the probe no later than the timeout of the first segment; otherwise no later than the timer of
    /// retransmission (RFC 8985 §7.2). `a_probe_after_a_transmission_comes_no_later_than_the_first_timeout`.
    pub(super) bounds_probe_by_first: bool,
    /// Whether an ACK with a D-SACK that advances gives a sample by its timestamp, though that is as old as the original. Random scenarios
    /// with lost ACKs (`benches/linux/packets`).
    pub(super) trusts_echoes_of_duplicates: bool,
    /// Whether a D-SACK widens the reordering window only if segments have been seen out of order, and not if it reports a probe; otherwise each
    /// does (RFC 8985 §6.2 step 4). `d_sacks_after_recovery_restore_the_window`.
    pub(super) dsacks_need_reordering: bool,
    /// Whether an ACK of a part of the data of a recovery that it shows as spurious counts as reordering. `a_late_part_counts_as_reordering`.
    pub(super) counts_late_data: bool,
    /// Whether a retransmission counts in the pipe until its segment is acknowledged or a D-SACK reports it, although the segment no longer
    /// counts as lost, since its recovery was undone. Neither the SACK nor another loss of the segment changes that, and while as many
    /// retransmissions are in flight as segments count as lost, no other leaves.
    /// `a_retransmission_of_what_no_longer_counts_as_lost_stays_in_the_pipe`.
    pub(super) keeps_copies: bool,
    /// Whether an ACK of a part of a recovery that it shows as spurious undoes it only if no retransmission is in flight; otherwise nothing
    /// more counts as lost, and nothing is retransmitted. Another undo leaves the marks of loss, unless it is that of a timeout.
    /// Stored packets of the kernel, such as `reordering-20261127-19`.
    pub(super) awaits_copies: bool,
    /// How finely the ages of segments are measured. `a_sample_is_a_difference_of_whole_microseconds`.
    pub(super) resolution: Resolution,
    /// Whether accurate feedback makes every packet ECN-capable, and gives each the option; otherwise new data is ECN-capable, and pure ACKs
    /// have the option (RFC 9768). [`super::tally`] then reads the peer's feedback. `accurate_feedback_is_on_every_packet`. DCTCP's feedback
    /// makes every packet ECN-capable too, the SYN included. `dctcp_makes_every_packet_capable`.
    pub(super) marks_every_packet: bool,
}

impl Rules {
    /// Those of the RFCs.
    const RFC: Self = Self {
        counts_segments: false,
        grows_by_arrivals: false,
        takes_sacks_first: false,
        sacks_duplicates: false,
        recovers_whole_window: false,
        counts_timer_as_delivery: false,
        reduces_own_window: false,
        keeps_pipe_after_timeout: false,
        keeps_two_segments: false,
        paces_in_queue: false,
        repeats_refused_syn: false,
        sacks_whole_segments: false,
        reads_old_sacks: false,
        ignores_repeated_probe: false,
        answers_old_acks: false,
        counts_late_data: false,
        dsacks_need_reordering: false,
        trusts_echoes_of_duplicates: false,
        bounds_probe_by_first: false,
        detects_losses_in_order: false,
        keeps_offered_window: false,
        keeps_copies: false,
        awaits_copies: false,
        resolution: Resolution::Exact,
        marks_every_packet: false,
    };
    /// Those of Linux.
    const LINUX: Self = Self {
        counts_segments: true,
        grows_by_arrivals: true,
        takes_sacks_first: true,
        sacks_duplicates: true,
        recovers_whole_window: true,
        counts_timer_as_delivery: true,
        reduces_own_window: true,
        keeps_pipe_after_timeout: true,
        keeps_two_segments: true,
        paces_in_queue: true,
        repeats_refused_syn: true,
        sacks_whole_segments: true,
        reads_old_sacks: true,
        ignores_repeated_probe: true,
        answers_old_acks: true,
        counts_late_data: true,
        dsacks_need_reordering: true,
        trusts_echoes_of_duplicates: true,
        bounds_probe_by_first: true,
        detects_losses_in_order: true,
        keeps_offered_window: true,
        keeps_copies: true,
        awaits_copies: true,
        resolution: Resolution::Microsecond,
        marks_every_packet: true,
    };

    /// The rules of a host with these settings.
    pub(super) const fn of(config: &Config) -> Self {
        if config.whole_segments { Self::LINUX } else { Self::RFC }
    }
}

impl Config {
    /// Data in a full segment, if both ends have the same settings.
    pub fn packet_size(&self) -> Bytes {
        let counters = Rules::of(self).marks_every_packet && self.ecn == Some(Feedback::Accurate) && self.ecn_option;
        let options = if self.timestamps { TIMESTAMPS } else { 0 } + if counters { ECN_COUNTS } else { 0 };
        Bytes(u64::from(self.mss - options))
    }
}
