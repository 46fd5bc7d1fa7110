//! Shell commands as settings: parameters of the kernel, of its modules and of the device.
//!
//! No command runs. [`Settings::apply`] reads the commands that scripts use to set parameters, and ignores those that only clean up. Any
//! other command makes the script unsupported. What a setting changes is the affair of the host under test.

mod shell;
mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::error::{Unsupported, suggestion};
use crate::script::{Command, Position};
pub(crate) use table::is_of_kernels;

/// The queue discipline of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qdisc {
    /// First in, first out: nothing is paced unless the host does it.
    Fifo,
    /// `fq`: the device paces at the rate that the host asks for.
    Fq,
}

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Place of the command that sets it.
    pub at: Position,
    /// Value, such as `1`, `cubic` or `4096 87380 6291456`.
    pub value: String,
}

impl Parameter {
    /// The value as numbers, decimal or hexadecimal; empty if one of them is not a number.
    pub fn numbers(&self) -> Vec<i64> {
        let number = |word: &str| match word.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        self.value.split_whitespace().map(number).collect::<Option<_>>().unwrap_or_default()
    }

    /// The value as one number.
    pub fn number(&self) -> Option<i64> {
        match self.numbers().as_slice() {
            [number] => Some(*number),
            _ => None,
        }
    }
}

/// What the commands of a script set. A parameter that is absent has the value of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Parameters by name: `tcp_sack` and others below `net.ipv4`, `core.wmem_max` and others below `net`, `tcp_cubic.hystart_detect` and
    /// others of modules, `route.initcwnd` and others of the route, and `link.mtu`.
    pub parameters: BTreeMap<String, Parameter>,
    /// The device's queue.
    pub qdisc: Option<Qdisc>,
}

impl Settings {
    /// A parameter as one number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.parameters.get(name).and_then(Parameter::number)
    }

    /// A parameter as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(|parameter| parameter.value.as_str())
    }

    /// Applies a command of one or several lines.
    ///
    /// # Errors
    /// The first part that is neither a known setting nor known to have no effect on TCP.
    pub fn apply(&mut self, command: &Command) -> Result<(), Unsupported> {
        for simple in shell::split(command)? {
            self.simple(&simple).map_err(|what| Unsupported { at: simple.at, what })?;
        }
        Ok(())
    }

    /// Applies a command without operators of the shell.
    fn simple(&mut self, simple: &shell::Simple) -> Result<(), String> {
        let Some((program, arguments)) = simple.words.split_first() else { return Ok(()) };
        let unknown = || format!("the command `{}` is unknown", simple.words.join(" "));
        let name = program.rsplit('/').next().unwrap_or_default();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match (name, words.as_slice()) {
            ("sh" | "bash" | "python" | "python3" | "sudo", [_, ..]) => {
                self.simple(&shell::Simple { words: arguments.to_vec(), ..simple.clone() })
            }
            ("defaults.sh", _) => {
                for (name, value) in table::DEFAULTS {
                    self.set(simple.at, name, value)?;
                }
                // The copy beside the kernel's own scripts leaves Fast Open to sockets that ask for it.
                if program == "./defaults.sh" {
                    self.set(simple.at, "tcp_fastopen", "0x3")?;
                }
                self.qdisc = Some(Qdisc::Fifo);
                Ok(())
            }
            ("sysctl", _) | ("set_sysctls.py", [_, ..]) => self.sysctl(simple.at, &words),
            ("echo", value) if simple.target.is_some() => {
                let path = simple.target.as_deref().unwrap_or_default();
                self.file(simple.at, path, &value.iter().filter(|word| **word != "-n").copied().collect::<Vec<_>>().join(" "))
            }
            ("tc", ["qdisc", "replace" | "add" | "change" | "del" | "delete", ..]) => self.tc(&words).ok_or_else(unknown),
            ("ip", ["route" | "ro" | "r", "change" | "replace" | "add", ..]) => self.route(simple.at, &words).ok_or_else(unknown),
            ("ip", ["link", "set", "dev", _, "mtu", value]) => {
                self.parameters.insert("link.mtu".to_owned(), Parameter { at: simple.at, value: (*value).to_owned() });
                Ok(())
            }
            // The helper that sets parameters by path writes a script that restores them.
            (name, _) if name.starts_with("sysctl_restore") => Ok(()),
            // Nothing of this reaches TCP; the comparison joins segments, so offloads make no difference.
            ("echo" | "cat" | "rm" | "true" | "modprobe" | "sleep" | ":", _)
            | ("ip", ["tcp_metrics", ..])
            | ("ethtool", ["-K", ..])
            | ("nstat", ["-n" | "-rn" | "-nr"]) => Ok(()),
            _ => Err(unknown()),
        }
    }

    /// Applies `NAME=VALUE` of `sysctl` and its helpers; a name may be a path.
    fn sysctl(&mut self, at: Position, words: &[&str]) -> Result<(), String> {
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            // A name alone shows the value.
            let Some((name, value)) = word.split_once('=') else { continue };
            let path = if name.contains('/') { name.to_owned() } else { name.replace('.', "/") };
            self.file(at, &path, value)?;
        }
        Ok(())
    }

    /// Sets the parameter of a path below `/proc/sys` or `/sys/module`.
    fn file(&mut self, at: Position, path: &str, value: &str) -> Result<(), String> {
        let value = value.split_whitespace().map(shell::product).collect::<Vec<_>>().join(" ");
        if let Some((module, parameter)) = path.strip_prefix("/sys/module/").and_then(|rest| rest.split_once("/parameters/")) {
            return self.set(at, &format!("{module}.{parameter}"), &value);
        }
        match path.trim_start_matches("/proc/sys/").split_once('/') {
            Some(("net", name)) if !name.is_empty() => self.set(at, &name.trim_start_matches("ipv4/").replace('/', "."), &value),
            _ if path == "/dev/null" => Ok(()),
            _ => Err(format!("the setting `{path}` is unknown")),
        }
    }

    /// Sets a parameter by its short name.
    fn set(&mut self, at: Position, name: &str, value: &str) -> Result<(), String> {
        // The cache of routes; what a route says about TCP comes from the command `ip`.
        if name.starts_with("route.") {
            return Ok(());
        }
        if !table::PARAMETERS.contains(&name) && !is_of_kernels(name) {
            return Err(format!("the setting `{name}` is unknown{}", suggestion(name, table::PARAMETERS)));
        }
        if name == "core.default_qdisc" {
            self.qdisc = Some(qdisc(value).ok_or_else(|| format!("the queue `{value}` is unknown"))?);
            return Ok(());
        }
        self.parameters.insert(name.to_owned(), Parameter { at, value: value.to_owned() });
        Ok(())
    }

    /// Sets the queue of the device; `None`: the command does something else.
    fn tc(&mut self, words: &[&str]) -> Option<()> {
        if matches!(words.get(1), Some(&"del" | &"delete")) {
            self.qdisc = Some(Qdisc::Fifo);
            return Some(());
        }
        // A queue without room drops all.
        let room = words.windows(2).all(|pair| pair != ["limit", "0"]);
        self.qdisc = Some(words.iter().find_map(|word| qdisc(word)).filter(|_| room)?);
        Some(())
    }

    /// Sets what a route says about TCP; `None`: there is nothing that is known.
    fn route(&mut self, at: Position, words: &[&str]) -> Option<()> {
        let mut found = false;
        if words.contains(&"advmss") || words.contains(&"mtu") {
            return None;
        }
        for pair in words.windows(2) {
            if let ["initcwnd" | "initrwnd" | "quickack" | "rto_min" | "congctl", value] = pair {
                self.parameters.insert(format!("route.{}", pair[0]), Parameter { at, value: (*value).to_owned() });
                found = true;
            }
        }
        found.then_some(())
    }
}

/// The queue called `name`.
fn qdisc(name: &str) -> Option<Qdisc> {
    match name {
        "pfifo" | "bfifo" | "pfifo_fast" | "noqueue" => Some(Qdisc::Fifo),
        "fq" => Some(Qdisc::Fq),
        _ => None,
    }
}
