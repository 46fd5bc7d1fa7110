//! The switch of HyStart, which the kernel has once for all CUBIC connections of the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use ackclock_linux::lock;

use ackclock_kernel::KernelError;

/// The switch of this machine: 1 is on.
const SWITCH: &str = "/sys/module/tcp_cubic/parameters/hystart";
/// Waits for the end of this process or of the run, then writes the former value.
const RESTORE: &str = "trap '' INT TERM HUP; read -r _; echo \"$0\"";

/// Time between two looks at a lock that another run holds.
const PAUSE: Duration = Duration::from_millis(50);

/// Keeps HyStart on, or keeps it off, while it exists. Runs of other processes that need the other state wait.
#[derive(Debug)]
pub(super) enum Hystart {
    /// It is as wanted; a shared lock keeps it so.
    Kept { _lock: File },
    /// It has been changed.
    Changed { _change: Change },
}

/// A change of the switch, undone on drop.
#[derive(Debug)]
pub(super) struct Change {
    switch: PathBuf,
    former: String,
    /// Restores the former value when its input ends, also if this process is killed. It holds the lock.
    process: Child,
}

impl Hystart {
    /// Sees to it that HyStart is `on`; `None` if this kernel has no switch, so that it is never off. Waits for runs that need the other
    /// state, until `interrupted` returns true.
    ///
    /// # Errors
    /// If the switch cannot be changed, or `interrupted` returned true.
    pub(super) fn hold(on: bool, interrupted: &mut dyn FnMut() -> bool) -> Result<Option<Self>, KernelError> {
        let switch = Path::new(SWITCH);
        // The kernel loads its CUBIC, with the switch, for the first socket that needs it.
        if on && !switch.exists() {
            return Ok(None);
        }
        Self::hold_at(switch, on, interrupted).map(Some)
    }

    fn hold_at(switch: &Path, on: bool, interrupted: &mut dyn FnMut() -> bool) -> Result<Self, KernelError> {
        let because = |error: io::Error| format!("HyStart cannot be switched {}: {}: {error}", word(on), switch.display());
        let wanted = if on { "1" } else { "0" };
        let lock = File::open(switch).map_err(because)?;
        wait(interrupted, || lock::share(&lock).map_err(because))?;
        if value(switch).map_err(because)? == wanted {
            return Ok(Self::Kept { _lock: lock });
        }
        if on {
            return Err(format!("HyStart is off on this machine, but a flow needs it: {} must be 1", switch.display()).into());
        }
        lock::release(&lock).map_err(because)?;
        let file = OpenOptions::new().write(true).open(switch).map_err(because)?;
        wait(interrupted, || lock::exclude(&file).map_err(because))?;
        let former = value(switch).map_err(because)?;
        // The process inherits the locked file, so that the lock lasts until the value is restored. A group of its own keeps it alive when
        // the group of this process is interrupted.
        let process = Command::new("sh")
            .args(["-c", RESTORE, &former])
            .stdin(Stdio::piped())
            .stdout(Stdio::from(file))
            .process_group(0)
            .spawn()
            .map_err(because)?;
        let change = Change { switch: switch.to_owned(), former, process };
        fs::write(switch, wanted).map_err(because)?;
        Ok(Self::Changed { _change: change })
    }
}

/// Waits for a lock that other runs hold.
fn wait(interrupted: &mut dyn FnMut() -> bool, mut lock: impl FnMut() -> Result<bool, String>) -> Result<(), KernelError> {
    while !lock()? {
        if interrupted() {
            return Err(KernelError::Interrupted);
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

impl Drop for Change {
    fn drop(&mut self) {
        // A line, since other copies of the pipe could keep the input open.
        if let Some(mut input) = self.process.stdin.take() {
            input.write_all(b"\n").ok();
        }
        self.process.wait().ok();
        // If something ended the process, this one restores the value.
        if value(&self.switch).is_ok_and(|value| value != self.former) {
            fs::write(&self.switch, &self.former).ok();
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
        lock::exclude(&File::open(path).unwrap()).unwrap()
    }

    fn hold(path: &Path, on: bool) -> Result<Hystart, String> {
        Hystart::hold_at(path, on, &mut || true).map_err(|error| error.to_string())
    }

    #[test]
    fn a_change_lasts_as_long_as_it_is_held() {
        let path = switch("change", "1\n");
        let held = hold(&path, false).unwrap();
        assert!(matches!(held, Hystart::Changed { .. }));
        assert_eq!(value(&path).unwrap(), "0");
        assert_eq!(hold(&path, true).unwrap_err(), "interrupted", "runs with HyStart wait");
        drop(held);
        assert_eq!(value(&path).unwrap(), "1");
        assert!(is_free(&path));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_as_wanted_is_only_locked() {
        let path = switch("kept", "1\n");
        let held = [hold(&path, true).unwrap(), hold(&path, true).unwrap()];
        assert!(!is_free(&path), "nobody changes it");
        drop(held);
        fs::write(&path, "0\n").unwrap();
        assert!(matches!(hold(&path, false).unwrap(), Hystart::Kept { .. }));
        let refusal = hold(&path, true).unwrap_err();
        assert!(refusal.starts_with("HyStart is off on this machine"), "{refusal}");
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_kernel_without_the_switch_is_named() {
        let refusal = hold(Path::new("/nonexistent/hystart"), false).unwrap_err();
        assert_eq!(refusal, "HyStart cannot be switched off: /nonexistent/hystart: No such file or directory (os error 2)");
    }
}
