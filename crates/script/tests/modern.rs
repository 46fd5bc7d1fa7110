//! Scripts run against `modern` with the settings of Linux.

mod common;

use ackclock_script::{Options, Verdict};
use common::play;

/// The window stays at ten: it grows in slow start only while it limits the sender.
const EXAMPLE: &str = "\
+0         socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.020 connect(3, ..., ...) = 0
+0         > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8>
+.020      < S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0         > . 1:1(0) ack 1
+.010      write(3, ..., 3000) = 3000
+0         > P. 1:3001(3000) ack 1
+.020      < . 1:1(0) ack 3001 win 512
+0         %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
";

/// Asserts that a script passes.
#[track_caller]
fn passes(script: &str) {
    let outcome = play(script, &Options::default());
    assert!(outcome.verdict == Verdict::Passed, "{}", outcome.describe("script", script));
}

#[test]
fn the_window_grows_only_if_it_limits_the_sender() {
    passes(EXAMPLE);
}
