//! The examples `examples/outside` and `examples/stack`, crates of their own, are built outside the workspace, and their tests pass.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Copies a crate without what was built in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to).unwrap();
        } else if entry.file_name() != "target" {
            copy(&entry.path(), &to);
        }
    }
}

/// The output of the tests of the example `name`, which pass.
fn tested(name: &str) -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let example = temporary.join(name);
    let _ = fs::remove_dir_all(&example);
    copy(&repository.join("examples").join(name), &example);
    let manifest = fs::read_to_string(example.join("Cargo.toml")).unwrap();
    let crates = format!("\"{}/", repository.join("crates").display()).replace('\\', "/");
    fs::write(example.join("Cargo.toml"), manifest.replace("\"../../crates/", &crates)).unwrap();
    // The versions that were fetched for the workspace.
    fs::copy(repository.join("Cargo.lock"), example.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet"])
        .current_dir(&example)
        .env("CARGO_TARGET_DIR", temporary.parent().unwrap())
        .output()
        .unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{stderr}\n{stdout}");
    stdout
}

#[test]
fn a_crate_outside_the_workspace_adds_parts_by_name() {
    let stdout = tested("outside");
    assert!(stdout.contains("4 passed"), "{stdout}");
}

#[test]
fn a_crate_outside_the_workspace_adds_a_stack() {
    let stdout = tested("stack");
    assert!(stdout.contains("3 passed") && stdout.contains("8 passed"), "{stdout}");
}
