//! Follows CONTRIBUTING.md in a copy of the crates, with its printed examples.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of some crates as a separate workspace.
pub(crate) struct Copied {
    root: PathBuf,
    target: PathBuf,
    contributing: String,
}

impl Copied {
    /// Copies the named crates into the folder `scratch` of this test.
    pub(crate) fn new(scratch: &str, crates: &[&str]) -> Self {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let root = temporary.join(scratch);
        let _ = fs::remove_dir_all(&root);
        for name in crates {
            copy(&repository.join("crates").join(name), &root.join("crates").join(name));
        }
        // The copy has the same dependencies and profiles. Its version distinguishes its artifacts from those of the original and of other
        // copies; otherwise cargo would take them for the same packages.
        let manifest = fs::read_to_string(repository.join("Cargo.toml")).unwrap();
        let members = crates.iter().map(|name| format!("\"crates/{name}\"")).collect::<Vec<_>>().join(", ");
        let members = format!("members = [{members}]");
        let version = format!("version = \"0.0.0-{}\"", scratch.replace('_', "-"));
        let lines = manifest.lines().map(|line| match line.split_once(" = ") {
            Some(("members", _)) => members.as_str(),
            Some(("version", _)) => version.as_str(),
            _ => line,
        });
        // Its crates need each other in the version that they have here.
        let needed = concat!(", version = \"", env!("CARGO_PKG_VERSION"), "\"");
        let manifest = lines.collect::<Vec<_>>().join("\n").replace(needed, "");
        assert!(manifest.contains(&members) && manifest.matches(&version).count() == 1);
        fs::write(root.join("Cargo.toml"), manifest).unwrap();
        fs::copy(repository.join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
        let contributing = fs::read_to_string(repository.join("CONTRIBUTING.md")).unwrap();
        // The target folder of this build, which already has the dependencies.
        Self { root, target: temporary.parent().unwrap().to_owned(), contributing }
    }

    /// The code block after the marker `<!-- example: NAME -->`.
    pub(crate) fn example(&self, name: &str) -> &str {
        let marker = format!("<!-- example: {name} -->\n```rust\n");
        let (_, rest) = self.contributing.split_once(&marker).unwrap_or_else(|| panic!("no example {name}"));
        rest.split_once("```").unwrap_or_else(|| panic!("example {name} does not end")).0
    }

    /// Writes the file `path`.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Inserts the example `name` after a text that occurs once in the file `path`.
    pub(crate) fn insert(&self, name: &str, path: &str, after: &str) {
        let text = fs::read_to_string(self.root.join(path)).unwrap();
        assert_eq!(text.matches(after).count(), 1, "{path}: {after:?}");
        self.write(path, &text.replace(after, &format!("{after}{}", self.example(name))));
    }

    /// Inserts an example of one line.
    pub(crate) fn insert_line(&self, name: &str, path: &str, after: &str) {
        assert_eq!(self.example(name).lines().count(), 1, "one line");
        self.insert(name, path, after);
    }

    /// Runs `cargo test` with these arguments for these tests; asserts that each has run and that none has failed.
    pub(crate) fn test(&self, arguments: &[&str], tests: &[&str]) {
        let output = Command::new(env!("CARGO"))
            .args(["test", "--offline"])
            .args(arguments)
            .arg("--")
            .args(tests)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .output()
            .unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success(), "{stderr}\n{stdout}");
        for test in tests {
            assert!(stdout.lines().any(|line| line.contains(test) && line.ends_with("ok")), "{test} did not run:\n{stdout}");
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
