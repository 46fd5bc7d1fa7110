//! Server and client as programs, over the loopback interface.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_transfer");

#[test]
fn a_client_gets_what_it_asks_for_with_each_stack() {
    for (stack, control) in [("quinn", "hystart_pp"), ("quinn", "slow_start = search, avoidance = reno"), ("noq", "bbr")] {
        let arguments = [stack, "serve", "127.0.0.1:0", "--once", "--control", control];
        let mut server = Command::new(PROGRAM).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect("an address");
        let client = Command::new(PROGRAM).args([stack, "get", address, "3000000"]).output().unwrap();
        let said = String::from_utf8_lossy(&client.stdout).into_owned();
        assert!(client.status.success() && said.starts_with("received 3000000 B in "), "{stack}, {control}: {said}");
        assert!(server.wait().unwrap().success());
        let mut said = String::new();
        server.stdout.unwrap().read_to_string(&mut said).unwrap();
        assert!(said.starts_with("sent 3000000 B in ") && said.contains("cwnd ") && said.contains("slow start "), "{said}");
    }
}

#[test]
fn a_wrong_word_is_named_and_ends_with_2() {
    for (arguments, message) in [
        (&["quic"][..], "\"quic\" is neither quinn nor noq"),
        (&["noq", "serve", "::1"], "\"::1\" is no address with a port"),
        (&["noq", "get", "127.0.0.1:1", "many"], "\"many\" is no number of bytes"),
        (&["quinn", "serve", "127.0.0.1:1", "--control", "cubik"], "there is no control \"cubik\""),
    ] {
        let output = Command::new(PROGRAM).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.starts_with(message), "{said}");
    }
}
