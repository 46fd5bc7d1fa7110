//! The switch of HyStart, which the kernel has once for all CUBIC connections of the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use ackclock_linux::lock;

/// The switch of this machine: 1 is on.
const SWITCH: &str = "/sys/module/tcp_cubic/parameters/hystart";
/// Waits for the end of this process or of the run, then writes the former value.
const RESTORE: &str = "trap '' INT TERM HUP; read -r _; echo \"$0\"";

/// Keeps HyStart on, or keeps it off, while it exists. Runs of other processes that need the other state wait.
#[derive(Debug)]
pub(super) enum Hystart {
    /// It is as wanted; a shared lock keeps it so.
    Kept { _lock: File },
    /// It has been changed. The process restores it when its input ends, also if this process is killed.
    Changed { input: Option<ChildStdin>, process: Child },
}

impl Hystart {
    /// Sees to it that HyStart is `on`.
    ///
    /// # Errors
    /// If the kernel has no such switch, or it cannot be changed.
    pub(super) fn hold(on: bool) -> Result<Self, String> {
        Self::hold_at(Path::new(SWITCH), on)
    }

    fn hold_at(switch: &Path, on: bool) -> Result<Self, String> {
        let because = |error: io::Error| format!("HyStart cannot be switched {}: {}: {error}", word(on), switch.display());
        let wanted = if on { "1" } else { "0" };
        let lock = File::open(switch).map_err(because)?;
        lock::share(&lock).map_err(because)?;
        if value(switch).map_err(because)? == wanted {
            return Ok(Self::Kept { _lock: lock });
        }
        if on {
            return Err(format!("HyStart is off on this machine, but a flow needs it: {} must be 1", switch.display()));
        }
        lock::release(&lock).map_err(because)?;
        let file = OpenOptions::new().write(true).open(switch).map_err(because)?;
        lock::exclude(&file).map_err(because)?;
        let former = value(switch).map_err(because)?;
        // The process inherits the locked file, so that the lock lasts until the value is restored. A group of its own keeps it alive when
        // the group of this process is interrupted.
        let mut process = Command::new("sh")
            .args(["-c", RESTORE, &former])
            .stdin(Stdio::piped())
            .stdout(Stdio::from(file))
            .process_group(0)
            .spawn()
            .map_err(because)?;
        let changed = Self::Changed { input: process.stdin.take(), process };
        fs::write(switch, wanted).map_err(because)?;
        Ok(changed)
    }
}

impl Drop for Hystart {
    fn drop(&mut self) {
        if let Self::Changed { input, process } = self {
            drop(input.take());
            process.wait().ok();
        }
    }
}

const fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn value(switch: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(switch)?.read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in place of the switch. An ordinary file keeps what is behind the written bytes, so one character is written over another.
    fn switch(name: &str, initial: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("ackclock-hystart-{name}-{}", std::process::id()));
        fs::write(&path, initial).unwrap();
        path
    }

    fn is_free(path: &Path) -> bool {
        lock::is_free(&File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn a_change_lasts_as_long_as_it_is_held() {
        let path = switch("change", "1\n");
        let held = Hystart::hold_at(&path, false).unwrap();
        assert!(matches!(held, Hystart::Changed { .. }));
        assert_eq!(value(&path).unwrap(), "0");
        assert!(!is_free(&path), "runs with HyStart wait");
        drop(held);
        assert_eq!(value(&path).unwrap(), "1");
        assert!(is_free(&path));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_as_wanted_is_only_locked() {
        let path = switch("kept", "1\n");
        let held = [Hystart::hold_at(&path, true).unwrap(), Hystart::hold_at(&path, true).unwrap()];
        assert!(!is_free(&path), "nobody changes it");
        drop(held);
        fs::write(&path, "0\n").unwrap();
        assert!(matches!(Hystart::hold_at(&path, false).unwrap(), Hystart::Kept { .. }));
        let refusal = Hystart::hold_at(&path, true).unwrap_err();
        assert!(refusal.starts_with("HyStart is off on this machine"), "{refusal}");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_kernel_without_the_switch_is_named() {
        let refusal = Hystart::hold_at(Path::new("/nonexistent/hystart"), false).unwrap_err();
        assert_eq!(refusal, "HyStart cannot be switched off: /nonexistent/hystart: No such file or directory (os error 2)");
    }
}
