//! Programs that run in a guest before the run.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use crate::guest::{Guest, GuestError};
use crate::setup::Commands;

/// Time between two looks at what programs do before a run, and looks, as long as that may take.
pub(crate) const LOOK: u64 = 10_000_000;
pub(crate) const LOOKS: u64 = 500;

/// How a program has ended.
pub(crate) enum Ending {
    /// With this exit code.
    Code(i32),
    /// There is no such program.
    Missing,
}

/// Runs a program before the run, in the namespace of the interface `device`, with this variable as its environment.
///
/// # Errors
/// If it does not start, or the guest fails.
pub(crate) fn execute<'a>(guest: &mut Guest, device: u32, words: impl Iterator<Item = &'a str>, variable: &str) -> Result<Ending, String> {
    let text = |error: GuestError| error.to_string();
    let mut words = words.peekable();
    let name = words.peek().copied().unwrap_or_default();
    let mut commands = Commands::new(guest);
    for word in words {
        commands.add(&format!("word {}", encoded(OsStr::new(word)))).map_err(text)?;
    }
    commands.add(&format!("variable {}", encoded(OsStr::new(variable)))).and_then(|()| commands.finish()).map_err(text)?;
    match guest.ask(&format!("enter {device};start 0 1 /")).map_err(text)?.as_str() {
        "ok" => {}
        "program: No such file or directory" => return Ok(Ending::Missing),
        other => return Err(other.to_owned()),
    }
    let began = guest.now();
    for look in 1..=LOOKS {
        if let Some(code) = guest.ended(0) {
            return Ok(Ending::Code(code));
        }
        guest.idle(began + look * LOOK).map_err(text)?;
    }
    Err(format!("{name} does not end"))
}

/// A text as a word of a command: whatever could end it becomes %XX.
pub(crate) fn encoded(text: &OsStr) -> String {
    let mut word = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-=:,+@".contains(&byte) {
            word.push(char::from(byte));
        } else {
            let _ = write!(word, "%{byte:02X}");
        }
    }
    word
}
