//! Options of a run: those of the caller, and those that a script sets at its top.

use crate::error::suggestion;
use crate::script::{Nanos, Script};

/// Options at the top of a script that are obeyed.
const OBEYED: [&str; 12] = [
    "ip_version",
    "local_ip",
    "remote_ip",
    "mtu",
    "bind_port",
    "connect_port",
    "tolerance_usecs",
    "tolerance_percent",
    "tcp_ts_tick_usecs",
    "strict_segments",
    "non_fatal",
    "gateway_ip",
];
/// Options that change nothing in virtual time: devices, speed, servers, real interfaces.
const WITHOUT_EFFECT: [&str; 8] = ["netmask_ip", "speed", "verbose", "debug", "dry_run", "so_filename", "init_scripts", "no_cleanup"];
/// The kinds of events whose failures a script may declare as non-fatal.
const NON_FATAL: [&str; 2] = ["packet", "syscall"];

/// Allowed error of times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// In nanoseconds.
    pub absolute: Nanos,
    /// In percent of the time since the previous event.
    pub percent: f64,
}

impl Tolerance {
    /// That of packetdrill.
    pub const PACKETDRILL: Self = Self { absolute: 4_000_000, percent: 12.5 };

    /// The error allowed `since` nanoseconds after the previous event.
    pub(crate) fn of(self, since: Nanos) -> Nanos {
        self.absolute.max((since as f64 * self.percent / 100.0) as Nanos)
    }
}

/// Options of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Name of the script in messages.
    pub file: String,
    /// Definitions `NAME=VALUE` that replace words of the script.
    pub defines: Vec<crate::Define>,
    /// Allowed error of times; `None`: that of the script, or none.
    pub tolerance: Option<Tolerance>,
    /// Whether a packet that no line expects is a failure.
    pub strict: bool,
    /// Whether a line must match one packet, and not a burst.
    pub strict_segments: bool,
}

/// The options that hold for a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) tolerance: Tolerance,
    pub(crate) tick: Option<u64>,
    pub(crate) strict_segments: bool,
    pub(crate) non_fatal: Vec<String>,
}

impl Options {
    /// These options with those of the script; the error says line and reason.
    pub(crate) fn known(&self, script: &Script) -> Result<Known, (u32, String)> {
        for setting in &script.options {
            let name = setting.name.as_str();
            if !OBEYED.contains(&name) && !WITHOUT_EFFECT.contains(&name) {
                let known = OBEYED.iter().chain(&WITHOUT_EFFECT).copied();
                return Err((setting.at.line, format!("the option --{name} is not supported{}", suggestion(name, known))));
            }
        }
        let number = |name: &str| -> Result<Option<f64>, (u32, String)> {
            let Some(text) = script.option(name) else { return Ok(None) };
            let line = script.options.iter().rev().find(|setting| setting.name == name).map_or(0, |setting| setting.at.line);
            let number = text.parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite());
            number.map(Some).ok_or_else(|| (line, format!("--{name}={text}: must be a number that is not negative")))
        };
        let micros = number("tolerance_usecs")?.map(|micros| (micros * 1000.0) as Nanos);
        let percent = number("tolerance_percent")?;
        let own = Tolerance { absolute: micros.unwrap_or(0), percent: percent.unwrap_or(0.0) };
        let non_fatal: Vec<String> = script.option("non_fatal").map_or_else(Vec::new, |text| text.split(',').map(str::to_owned).collect());
        if let Some(other) = non_fatal.iter().find(|kind| !NON_FATAL.contains(&kind.as_str())) {
            return Err((0, format!("--non_fatal={other}: packet and syscall are supported")));
        }
        Ok(Known {
            tolerance: self.tolerance.unwrap_or(own),
            tick: number("tcp_ts_tick_usecs")?.map(|micros| micros as u64).filter(|micros| *micros > 0),
            strict_segments: self.strict_segments || script.option("strict_segments").is_some(),
            non_fatal,
        })
    }
}
