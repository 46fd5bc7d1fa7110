//! Copies the papers to the folder from which maturin adds them to the wheel.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Extensions of a paper's files.
const KINDS: [&str; 2] = ["toml", "md"];

fn main() -> io::Result<()> {
    // Read when the script runs: `env!` would keep the folder of the compilation, which may be a source distribution's, since deleted.
    let papers = folder("CARGO_MANIFEST_DIR")?.join("../../papers");
    println!("cargo:rerun-if-changed={}", papers.display());
    let target = folder("OUT_DIR")?.join("papers");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    for paper in fs::read_dir(papers)? {
        let paper = paper?.path();
        // A study without one is read in the repository.
        if paper.join("paper.toml").exists() {
            copy(&paper, &target.join(paper.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

fn folder(variable: &str) -> io::Result<PathBuf> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("cargo sets {variable}")))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let place = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &place)?;
        } else if path.extension().is_some_and(|kind| KINDS.iter().any(|known| kind == *known)) {
            fs::copy(&path, &place)?;
        }
    }
    Ok(())
}
