//! The commands that set up interfaces, in the namespace of the calling thread.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs `program` with `input`, such as `ip -batch -`.
///
/// # Errors
/// If the program is missing or fails: its name and its words.
pub fn run(program: &str, arguments: &[&str], input: &str) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{program}` does not start: {error}"))?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("`{program}` failed: {error}"))?;
    if output.status.success() && written.is_ok() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program} {}` failed: {}", arguments.join(" "), said.trim()))
}
