//! What came of a script, and how a failure is shown.

use std::fmt::{self, Write as _};

use ackclock_core::units::Instant;

use crate::script::Direction;

/// Number of packets that a failure shows.
const SHOWN: usize = 10;

/// A packet that crossed the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// When.
    pub at: Instant,
    /// Into the stack or out of it.
    pub direction: Direction,
    /// The packet in the words of the script.
    pub text: String,
    /// The packet on the wire.
    pub bytes: Vec<u8>,
    /// Congestion window of the stack in segments, if it tells.
    pub cwnd: Option<i64>,
    /// Window in bytes that the script's side has advertised last.
    pub rwnd: u32,
    /// The fields of `tcp_info` after the packet.
    pub info: Vec<(&'static str, i64)>,
}

/// What did not happen as the script says.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Line of the script, from 1.
    pub line: u32,
    /// What went wrong, in one line.
    pub message: String,
    /// What the script expects.
    pub expected: Option<String>,
    /// What came.
    pub came: Option<String>,
}

/// The verdict on a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The stack behaved as the script says.
    Passed,
    /// It did not.
    Failed(Failure),
    /// The script needs something that is not supported here: nothing is known about the stack.
    Unsupported {
        /// Line of the script, from 1; 0 for its options.
        line: u32,
        /// What is not supported, and why.
        reason: String,
    },
    /// The text is not a script, or the world failed.
    Error {
        /// Line of the script, from 1; 0 if none is to blame.
        line: u32,
        /// What is wrong.
        reason: String,
    },
}

impl Verdict {
    /// The verdict in one word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Unsupported { .. } => "unsupported",
            Self::Error { .. } => "error",
        }
    }

    /// Line of the script that the verdict is about; 0 for none.
    pub const fn line(&self) -> u32 {
        match self {
            Self::Passed => 0,
            Self::Failed(failure) => failure.line,
            Self::Unsupported { line, .. } | Self::Error { line, .. } => *line,
        }
    }

    /// The reason in one line; empty for a pass.
    pub fn reason(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::Failed(failure) => &failure.message,
            Self::Unsupported { reason, .. } | Self::Error { reason, .. } => reason,
        }
    }
}

/// What came of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Verdict.
    pub verdict: Verdict,
    /// All packets in the order of time.
    pub crossings: Vec<Crossing>,
    /// Lines that the script printed.
    pub printed: Vec<String>,
    /// Failures that the script declares as non-fatal, and settings without effect.
    pub warnings: Vec<String>,
    /// Virtual or real time from start to end.
    pub duration: Instant,
}

impl Outcome {
    /// The outcome of a script that has not started.
    pub(crate) const fn early(verdict: Verdict) -> Self {
        Self { verdict, crossings: Vec::new(), printed: Vec::new(), warnings: Vec::new(), duration: Instant::ZERO }
    }

    /// The verdict in full: the line of the script `text` called `file`, the expected and the actual packet, and the last packets.
    pub fn describe(&self, file: &str, text: &str) -> String {
        let mut out = String::new();
        // Writing to a text cannot fail.
        let _ = self.write(&mut out, file, text);
        out
    }

    fn write(&self, out: &mut String, file: &str, text: &str) -> fmt::Result {
        let (line, word, reason) = (self.verdict.line(), self.verdict.word(), self.verdict.reason());
        let place = if line == 0 { file.to_owned() } else { format!("{file}:{line}") };
        if reason.is_empty() {
            return writeln!(out, "{place}: {word}");
        }
        writeln!(out, "{place}: {word}: {reason}")?;
        if let Some(source) = text.lines().nth((line as usize).wrapping_sub(1)) {
            writeln!(out, "  script    {}", source.trim())?;
        }
        let Verdict::Failed(failure) = &self.verdict else { return Ok(()) };
        for (label, what) in [("expected", &failure.expected), ("came", &failure.came)] {
            if let Some(what) = what {
                writeln!(out, "  {label:<8}  {what}")?;
            }
        }
        let first = self.crossings.len().saturating_sub(SHOWN);
        if self.crossings.is_empty() {
            return writeln!(out, "  no packet was sent or received before");
        }
        writeln!(out, "  last packets:")?;
        writeln!(out, "        time   cwnd      rwnd  packet")?;
        for Crossing { at, text, cwnd, rwnd, .. } in &self.crossings[first..] {
            let cwnd = cwnd.map_or_else(|| "-".to_owned(), |cwnd| cwnd.to_string());
            writeln!(out, "  {:>10.6}  {cwnd:>5}  {rwnd:>8}  {text}", at.as_secs_f64())?;
        }
        Ok(())
    }
}
