//! The settings of the sender.

use ackclock_core::units::Duration;

use super::super::config::ProbeMargins;
use super::super::paws::Stamps;
use super::super::rules::Rules;
use super::super::settings::Config;

/// Copies settings of [`Config`], each under its own name.
macro_rules! copied {
    ($($name:ident: $type:ty,)+) => {
        /// The settings of [`Config`] that the sender itself uses.
        #[derive(Debug)]
        pub(super) struct Settings {
            pub(super) rules: Rules,
            pub(super) stamps: Stamps,
            $(pub(super) $name: $type,)+
            pub(super) max_rto: Duration,
        }

        impl Settings {
            /// The part of `config` that the sender itself uses.
            pub(super) fn new(config: &Config) -> Self {
                Self { rules: Rules::of(config), stamps: Stamps::of(config), $($name: config.$name,)+ max_rto: config.rto.max }
            }
        }
    };
}

copied! {
    prr: bool,
    tlp: bool,
    frto: bool,
    undo: bool,
    idle_restart: bool,
    gradual_restart: bool,
    timer_phase: Duration,
    reordering_margin: Duration,
    probe_margins: ProbeMargins,
    lost_syns_tolerated: u32,
    rtt_of_sacked: bool,
    backoff_until_measured: bool,
    recover_again: bool,
    reduce_once: bool,
    late_undo: bool,
    frto_at_once: bool,
    gradual_marks: bool,
}
