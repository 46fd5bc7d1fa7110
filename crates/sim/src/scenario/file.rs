//! Files that a scenario names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Why a file is not read where there may be none.
pub(super) const REFUSED: &str = "files cannot be read here";

/// The text of a file of at most `most` bytes; a message about a larger one ends with `advice`. Only regular files are read: each check reads
/// the file again and must find the same text.
///
/// # Errors
/// A message: the file cannot be read, or is too large.
pub(super) fn text(path: &Path, most: u64, advice: &str) -> Result<String, String> {
    let failed = |error| format!("cannot read {}: {error}", path.display());
    // The type is checked before opening, because opening a pipe without a writer blocks.
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(format!("{} is not a regular file", path.display()));
    }
    if about.len() > most {
        let [size, most] = [about.len(), most].map(|bytes| bytes as f64 / 1e6);
        return Err(format!("{} has {size:.1} MB; the limit is {most:.0} MB{advice}", path.display()));
    }
    let mut text = String::new();
    // A file that grows meanwhile ends at the limit.
    File::open(path).and_then(|file| file.take(most).read_to_string(&mut text)).map_err(failed)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_end_are_refused() {
        let file = std::env::temp_dir().join(format!("ackclock-{}.txt", std::process::id()));
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(text(&file, 5, "").unwrap(), "12345");
        assert!(text(&file, 4, ": cut it").unwrap_err().ends_with(" has 0.0 MB; the limit is 0 MB: cut it"));
        std::fs::remove_file(&file).unwrap();
        assert!(text(&file, 5, "").unwrap_err().starts_with("cannot read "));
        let folder = std::env::temp_dir();
        assert_eq!(text(&folder, 5, "").unwrap_err(), format!("{} is not a regular file", folder.display()));
    }
}
