//! Lists the presets of end hosts, `src/hosts/*.toml`, and of links, `src/links/*.toml`. A file in a folder is all that a preset needs.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let source = list("HOSTS", "host", "src/hosts")? + &list("LINKS", "preset of links", "src/links")?;
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("presets.rs"), source)
}

/// The declaration of the presets in `folder`.
fn list(name: &str, noun: &str, folder: &str) -> io::Result<String> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // The order of files in a folder depends on the file system.
    files.sort();
    let (mut names, mut texts) = (String::new(), String::new());
    for path in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_stem().and_then(|stem| stem.to_str()).ok_or_else(|| io::Error::other("a file name is not valid Unicode"))?;
        let _ = write!(names, "{name:?}, ");
        let path = path.to_str().ok_or_else(|| io::Error::other("a file path is not valid Unicode"))?;
        let _ = write!(texts, "include_str!({path:?}), ");
    }
    Ok(format!(
        "/// A preset is a {noun}.\npub(crate) static {name}: Presets = Presets {{ noun: {noun:?}, names: &[{names}], texts: &[{texts}] }};\n"
    ))
}
