//! The example `examples/outside`, a crate of its own, is built outside the workspace, and its tests pass.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_crate_outside_the_workspace_adds_parts_by_name() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (original, copy) = (repository.join("examples/outside"), temporary.join("outside"));
    let _ = fs::remove_dir_all(&copy);
    for folder in ["", "src", "src/control", "src/slow_start", "tests"] {
        fs::create_dir_all(copy.join(folder)).unwrap();
        for entry in fs::read_dir(original.join(folder)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), copy.join(folder).join(entry.file_name())).unwrap();
            }
        }
    }
    let manifest = fs::read_to_string(copy.join("Cargo.toml")).unwrap();
    let crates = format!("\"{}/", repository.join("crates").display()).replace('\\', "/");
    fs::write(copy.join("Cargo.toml"), manifest.replace("\"../../crates/", &crates)).unwrap();
    // The versions that were fetched for the workspace.
    fs::copy(repository.join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", temporary.parent().unwrap())
        .output()
        .unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{stderr}\n{stdout}");
    assert!(stdout.contains("4 passed"), "{stdout}");
}
