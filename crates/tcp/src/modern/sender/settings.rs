//! The settings of the sender.

use ackclock_core::units::Duration;

use super::super::config::{Config, ProbeMargins};
use super::super::rules::Rules;

/// The settings of [`Config`] that the sender itself uses.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
pub(super) struct Settings {
    pub(super) rules: Rules,
    pub(super) prr: bool,
    pub(super) tlp: bool,
    pub(super) frto: bool,
    pub(super) undo: bool,
    pub(super) idle_restart: bool,
    pub(super) initial_timestamp: u32,
    pub(super) reordering_margin: Duration,
    pub(super) probe_margins: ProbeMargins,
    pub(super) lost_syns_tolerated: u32,
    pub(super) rtt_of_sacked: bool,
    pub(super) backoff_until_measured: bool,
    pub(super) recover_again: bool,
    pub(super) reduce_once: bool,
    pub(super) late_undo: bool,
    pub(super) frto_at_once: bool,
    pub(super) gradual_marks: bool,
    pub(super) max_rto: Duration,
}

impl Settings {
    /// The part of `config` that the sender itself uses.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rules: Rules::of(config),
            prr: config.prr,
            tlp: config.tlp,
            frto: config.frto,
            undo: config.undo,
            idle_restart: config.idle_restart,
            initial_timestamp: config.initial_timestamp,
            reordering_margin: config.reordering_margin,
            probe_margins: config.probe_margins,
            lost_syns_tolerated: config.lost_syns_tolerated,
            rtt_of_sacked: config.rtt_of_sacked,
            backoff_until_measured: config.backoff_until_measured,
            recover_again: config.recover_again,
            reduce_once: config.reduce_once,
            late_undo: config.late_undo,
            frto_at_once: config.frto_at_once,
            gradual_marks: config.gradual_marks,
            max_rto: config.rto.max,
        }
    }
}
