//! An end host without a network: the settings of a preset, and its congestion controls. Scripts run against such a host.

use std::collections::BTreeMap;

use ackclock_core::cc::{self, CongestionControl};
use ackclock_tcp::modern;

use super::flow::control;
use crate::scenario::value::{Data, Node};
use crate::scenario::{ControlSpec, LoneFlow};

/// Parameters of the module `tcp_cubic`, with the values that are modelled.
const CUBIC: [(&str, &str); 6] = [
    ("tcp_cubic.beta", "717"),
    ("tcp_cubic.fast_convergence", "1"),
    ("tcp_cubic.hystart_ack_delta_us", "2000"),
    ("tcp_cubic.hystart_low_window", "16"),
    ("tcp_cubic.initial_ssthresh", "0"),
    ("tcp_cubic.tcp_friendliness", "1"),
];

/// An end host.
#[derive(Clone, Debug)]
pub struct EndHost {
    /// The value of a flow's key `host`.
    host: Node,
    config: modern::Config,
}

impl EndHost {
    /// The preset `name`, such as `linux`, or a version of it, such as `linux 5.4`.
    ///
    /// # Errors
    /// If there is no such preset; the message names the nearest one.
    pub fn find(name: &str) -> Result<Self, String> {
        let host = match name.split_once(' ') {
            Some((kind, version)) => table([("kind", kind), ("version", version)]),
            None => Node::text(name),
        };
        let config = LoneFlow::new(vec![("host".to_owned(), host.clone())])?;
        let config = config.host.as_modern().cloned().ok_or_else(|| format!("the host {name} has no modern endpoint"))?;
        Ok(Self { host, config: modern::Config { mss: modern::Config::default().mss, ..config } })
    }

    /// The settings of its endpoints, for the packets of Ethernet.
    pub fn config(&self) -> &modern::Config {
        &self.config
    }

    /// A congestion control: that of the host, as far as these kernel parameters do not say otherwise: `tcp_congestion_control`, those of
    /// the module `tcp_cubic`, and `route.initcwnd`.
    ///
    /// # Errors
    /// If a value is not modelled; the message says why.
    pub fn control(&self, parameters: &BTreeMap<String, String>) -> Result<Box<dyn CongestionControl>, String> {
        let mut keys = vec![("host".to_owned(), self.host.clone())];
        let mut slow_start = None;
        let named = parameters.get("tcp_congestion_control").map(String::as_str);
        let own = LoneFlow::new(keys.clone())?;
        // The kernel's names of its controls: the preset's CUBIC is that of Linux.
        let preset = match &own.control {
            ControlSpec::Composed(parts) if parts.avoidance.name == "cubic_linux" => "cubic",
            ControlSpec::Composed(parts) => parts.avoidance.name,
            _ => "",
        };
        match named {
            None => {}
            Some(name) if name == preset => {}
            Some(name) if cc::whole::PARTS.find(name).is_some() => {
                keys.push(("congestion_control".to_owned(), Node::text(name)));
            }
            Some(name) => {
                keys.push(("avoidance".to_owned(), Node::text(name)));
                // HyStart belongs to CUBIC.
                slow_start = Some(Node::text("standard"));
            }
        }
        for (name, value) in parameters {
            let value = value.trim();
            match (name.as_str(), value) {
                ("tcp_congestion_control", _) => {}
                ("route.initcwnd", segments) => {
                    let segments: u32 = segments.parse().map_err(|_| format!("initcwnd {segments}: must be a number"))?;
                    keys.push(("initial_window".to_owned(), Node::text(&format!("{segments} segments"))));
                }
                // The other controls do without HyStart anyway.
                _ if named.unwrap_or(preset) != "cubic" => {}
                ("tcp_cubic.hystart", "0") => slow_start = Some(Node::text("standard")),
                ("tcp_cubic.hystart", "1") | ("tcp_cubic.hystart_detect", "3") => {}
                ("tcp_cubic.hystart_detect", "1" | "2") => {
                    let detect = if value == "1" { "train" } else { "delay" };
                    slow_start = slow_start.or_else(|| Some(table([("kind", "hystart"), ("detect", detect)])));
                }
                (name, value) if CUBIC.contains(&(name, value)) => {}
                (name, value) => return Err(format!("{name} = {value} is not modelled")),
            }
        }
        if let Some(slow_start) = slow_start {
            keys.push(("slow_start".to_owned(), slow_start));
        }
        let flow = LoneFlow::new(keys)?;
        control(&flow.control, flow.initial_ssthresh).map_err(|error| error.to_string())
    }
}

/// A table of texts, as the value of a key.
fn table<const N: usize>(entries: [(&str, &str); N]) -> Node {
    Node::new(Data::Table(entries.map(|(name, text)| (name.to_owned(), Node::text(text))).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn presets_have_settings_and_controls() {
        let linux = EndHost::find("linux").unwrap();
        assert_eq!(linux.config().mss, 1460);
        assert_eq!(linux.config().rto.max.as_nanos(), 120_000_000_000);
        let window = |pairs: &[(&str, &str)]| {
            let mut control = linux.control(&parameters(pairs)).unwrap();
            control.on_established(&ackclock_core::events::Established::new(
                ackclock_core::units::Instant::ZERO,
                ackclock_core::units::Bytes(1460),
            ));
            control.window().cwnd as u32
        };
        assert_eq!(window(&[]), 10);
        assert_eq!(window(&[("tcp_congestion_control", "reno")]), 10);
        assert_eq!(window(&[("tcp_congestion_control", "cubic"), ("route.initcwnd", "3")]), 3);
    }

    #[test]
    fn what_is_not_modelled_has_a_message() {
        assert!(EndHost::find("linux 4.10").is_ok());
        assert!(EndHost::find("linux 99").unwrap_err().contains("99"));
        let unknown = EndHost::find("linus").unwrap_err();
        assert!(unknown.contains("did you mean \"linux\"?"), "{unknown}");
        let linux = EndHost::find("linux").unwrap();
        let error = |pairs: &[(&str, &str)]| linux.control(&parameters(pairs)).map(drop).unwrap_err();
        assert!(error(&[("tcp_congestion_control", "reno2")]).contains("did you mean \"reno\"?"));
        assert!(error(&[("tcp_cubic.beta", "512")]).contains("tcp_cubic.beta = 512 is not modelled"));
        assert!(error(&[("route.initcwnd", "ten")]).contains("ten"));
    }
}
