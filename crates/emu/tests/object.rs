//! The object that this crate contains is that of the sources in `bpf/`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

const HASHES: &str = include_str!("../src/ebpf/control.bpf.o.sha256");

fn sources() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("bpf")
}

fn hash(path: &Path) -> String {
    let content = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    for byte in Sha256::digest(content) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

#[test]
fn every_source_has_the_hash_that_it_had_when_the_object_was_compiled() {
    let recorded: Vec<(&str, &str)> = HASHES.lines().filter_map(|line| line.split_once("  ")).collect();
    assert!(recorded.len() > 5, "{HASHES}");
    for (expected, name) in recorded {
        assert_eq!(hash(&sources().join(name)), expected, "{name} has changed: run `make ebpf`");
    }
}

/// Runs only with the compiler of the object: another one may make other instructions.
#[test]
fn compiling_the_sources_gives_the_object() {
    let version = Command::new("clang").arg("--version").output().map(|answer| answer.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    let first = version.lines().next().unwrap_or("no clang");
    if !HASHES.starts_with(&format!("# {first}\n")) {
        eprintln!("skipped: the object is not of {first}");
        return;
    }
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join("control.bpf.o");
    fs::write(&object, "").unwrap();
    let compiled = Command::new("bash").arg(sources().join("build.sh")).arg(&object).status().unwrap();
    assert!(compiled.success());
    assert_eq!(hash(&object), hash(&sources().join("../src/ebpf/control.bpf.o")), "run `make ebpf`");
}
