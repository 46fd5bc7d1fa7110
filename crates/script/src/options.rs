//! Options of a run: those of the caller, and those that a script sets at its top.

use ackclock_core::limits;
use ackclock_core::units::Duration;

use crate::error::suggestion;
use crate::network::IpVersion;
use crate::parse::Define;
use crate::script::{Nanos, Script, Setting};

/// Options at the top of a script that are obeyed.
const OBEYED: [&str; 14] = [
    "ip_version",
    "local_ip",
    "remote_ip",
    "mtu",
    "bind_port",
    "connect_port",
    "tolerance_usecs",
    "tolerance_percent",
    "tcp_ts_tick_usecs",
    "tcp_ts_ecr_scaled",
    "mss",
    "strict_segments",
    "non_fatal",
    "gateway_ip",
];
/// Options that change nothing here: devices, speed, servers, real interfaces, memory that is never reused anyway.
const WITHOUT_EFFECT: [&str; 9] =
    ["netmask_ip", "speed", "verbose", "debug", "dry_run", "so_filename", "init_scripts", "no_cleanup", "send_omit_free"];
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

    /// Reads `4 ms`, `12.5 %`, both with a comma between them, or `packetdrill`.
    ///
    /// # Errors
    /// If the text is something else.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.trim() == "packetdrill" {
            return Ok(Self::PACKETDRILL);
        }
        let wrong = || format!("{text:?} is no tolerance; write a time such as \"4 ms\", a share such as \"12.5 %\", both, or packetdrill");
        let mut tolerance = Self::default();
        for part in text.split(',') {
            let part = part.trim();
            let digits = part.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(part.len());
            let number: f64 = part[..digits].parse().map_err(|_| wrong())?;
            let nanos = match part[digits..].trim() {
                "%" => {
                    tolerance.percent = number;
                    continue;
                }
                "s" => 1e9,
                "ms" => 1e6,
                "us" | "µs" => 1e3,
                _ => return Err(wrong()),
            };
            tolerance.absolute = (number * nanos) as Nanos;
        }
        Ok(tolerance)
    }

    /// The error allowed `since` nanoseconds after the previous event.
    pub(crate) fn of(self, since: Nanos) -> Nanos {
        self.absolute.max((since as f64 * self.percent / 100.0) as Nanos)
    }
}

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Name of the script in messages.
    pub file: String,
    /// Definitions `NAME=VALUE` that replace words of the script.
    pub defines: Vec<Define>,
    /// The version of IP of a script that does not choose its own; `None`: IPv4, with packetdrill's usual addresses.
    pub ip_version: Option<IpVersion>,
    /// Allowed error of times; `None`: that of the script, or [`Options::usual_tolerance`].
    pub tolerance: Option<Tolerance>,
    /// Allowed error of times of a script that does not set its own: none in virtual time, [`Tolerance::PACKETDRILL`] in real time.
    pub usual_tolerance: Tolerance,
    /// Whether the kernel's parameters are at first those of packetdrill's common set-up, `defaults.sh`, and not the host's own.
    pub common_settings: bool,
    /// Whether a packet that no line expects is a failure.
    pub strict: bool,
    /// Whether a line must match one packet, and not a burst.
    pub strict_segments: bool,
    /// Time at which the script must have ended.
    pub max_duration: Duration,
    /// Most packets of the script, in both directions.
    pub max_packets: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            file: String::new(),
            defines: Vec::new(),
            ip_version: None,
            tolerance: None,
            usual_tolerance: Tolerance::default(),
            common_settings: false,
            strict: false,
            strict_segments: false,
            max_duration: Duration::from_millis(1000 * limits::SCRIPT_TIME.most),
            max_packets: limits::SCRIPT_PACKETS.most,
        }
    }
}

/// The options that hold for a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) tolerance: Tolerance,
    pub(crate) tick: Option<u64>,
    /// Whether an injected echo of a timestamp that the stack never sent is moved by as much as the others.
    pub(crate) scaled_echo: bool,
    /// Bytes of a segment in a block that the script injects.
    pub(crate) block: Option<u32>,
    pub(crate) strict_segments: bool,
    pub(crate) non_fatal: Vec<String>,
}

impl Options {
    /// The definitions for a script with the options `own`: first those of packetdrill's suites, then those of the caller.
    pub(crate) fn all_defines(&self, own: &[Setting]) -> Vec<Define> {
        let version = IpVersion::chosen(own).ok().flatten().or(self.ip_version).unwrap_or_default();
        let suites = version.defines().map(|(name, value)| Define { name: name.to_owned(), value: value.to_owned() });
        suites.into_iter().chain(self.defines.iter().cloned()).collect()
    }

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
        let usual = self.usual_tolerance;
        let own = Tolerance { absolute: micros.unwrap_or(usual.absolute), percent: percent.unwrap_or(usual.percent) };
        let non_fatal: Vec<String> = script.option("non_fatal").map_or_else(Vec::new, |text| text.split(',').map(str::to_owned).collect());
        if let Some(other) = non_fatal.iter().find(|kind| !NON_FATAL.contains(&kind.as_str())) {
            return Err((0, format!("--non_fatal={other}: packet and syscall are supported")));
        }
        Ok(Known {
            tolerance: self.tolerance.unwrap_or(own),
            tick: number("tcp_ts_tick_usecs")?.map(|micros| micros as u64).filter(|micros| *micros > 0),
            block: number("mss")?.map(|bytes| bytes as u32),
            scaled_echo: script.option("tcp_ts_ecr_scaled").is_some(),
            strict_segments: self.strict_segments || script.option("strict_segments").is_some(),
            non_fatal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances() {
        assert_eq!(Tolerance::read("4 ms, 12.5%"), Ok(Tolerance::PACKETDRILL));
        assert_eq!(Tolerance::read("packetdrill"), Ok(Tolerance::PACKETDRILL));
        assert_eq!(Tolerance::read("250us").unwrap().absolute, 250_000);
        assert_eq!(Tolerance::PACKETDRILL.of(100_000_000), 12_500_000);
        assert_eq!(Tolerance::PACKETDRILL.of(1_000_000), 4_000_000);
        for wrong in ["", "4", "4 minutes", "-1 ms", "ms"] {
            assert!(Tolerance::read(wrong).unwrap_err().contains("packetdrill"), "{wrong}");
        }
    }

    #[test]
    fn options_of_a_script() {
        let known = |text: &str| {
            let script = crate::parse(&format!("{text}\n0 close(3) = 0\n"), "script", &[]).unwrap();
            Options::default().known(&script)
        };
        let read = known("--tolerance_usecs=1000 --tolerance_percent=10 --tcp_ts_tick_usecs=1000 --non_fatal=packet").unwrap();
        assert_eq!(read.tolerance, Tolerance { absolute: 1_000_000, percent: 10.0 });
        assert_eq!((read.tick, read.strict_segments, read.non_fatal.len()), (Some(1000), false, 1));
        assert!(known("--strict_segments").unwrap().strict_segments);
        let unknown = known("--tolerance_usec=1").unwrap_err();
        assert!(unknown.0 == 1 && unknown.1.contains("did you mean `tolerance_usecs`?"), "{unknown:?}");
        assert!(known("--tolerance_usecs=x").unwrap_err().1.contains("number"));
        assert!(known("--non_fatal=everything").is_err());
    }
}
