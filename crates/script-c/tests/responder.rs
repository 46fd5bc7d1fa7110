//! Compiles the example in C, and runs scripts against it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const PASSES: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 1000
+0 > S. 0:0(0) ack 1
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 100) = 100
+0 > P. 1:101(100) ack 1
+0 %{ assert tcpi_snd_cwnd == 1 }%
";

/// The folder of the test program, which also has the static library.
fn folder() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn library() -> PathBuf {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map_or("", |name| name.to_str().unwrap_or(""));
        name.starts_with("libackclock_script_c") && path.extension().is_some_and(|extension| extension == "a")
    };
    let mut found: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(is_library).collect();
    // Older builds with other settings may lie beside it.
    found.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    found.pop().expect("cargo builds the static library for the test")
}

/// Runs a script against the program; returns exit code and output.
fn run(program: &Path, name: &str, script: &str) -> (i32, String) {
    let file = folder().join(name);
    fs::write(&file, script).unwrap();
    let done = Command::new(program).arg(&file).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    (done.status.code().unwrap(), text.replace(file.to_str().unwrap(), name))
}

#[test]
fn a_stack_in_c() {
    let source = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let program = folder().join("ackclock_responder");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .args([source.join("include"), source.join("examples/responder.c"), library()])
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    assert_eq!(run(&program, "responder_passes.pkt", PASSES), (0, "responder_passes.pkt: passed\n".to_owned()));
    let (code, text) = run(&program, "responder_fails.pkt", &PASSES.replace("101(100) ack 1\n", "101(100) ack 2\n"));
    assert_eq!(code, 1);
    assert!(text.starts_with("responder_fails.pkt:9: failed: acknowledgment number: expected 2, came 1\n"), "{text}");
    let (code, text) = run(&program, "responder_close.pkt", &format!("{PASSES}+0 close(4) = 0\n"));
    assert_eq!(code, 2);
    assert!(text.contains("responder_close.pkt:11: unsupported: the stack under test does not implement close"), "{text}");
    let (code, text) = run(&program, "responder_late.pkt", &PASSES.replace("+0 > P.", "+.1 > P."));
    assert!(code == 1 && text.contains("the packet came at another time"), "{text}");
    assert_eq!(run(&program, "responder_broken.pkt", "0 > S 0:0(").0, 3);
}
