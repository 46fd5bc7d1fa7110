//! Entries: how a part says its name, its parameters and how it is built.

use crate::params::{Param, Params};

/// One part on one axis; `P` is the axis' trait object.
#[derive(Debug)]
pub struct Entry<P: ?Sized + 'static> {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is described: paper or RFC.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Checks what bounds of single parameters cannot say, and builds the part.
    pub build: fn(&Params) -> Result<Box<P>, String>,
}

/// What is the same for the entries of all axes, for listings, documentation and validation.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is described.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The opening comment of its file, from which its page is made.
    pub header: &'static str,
}

impl Description {
    /// Describes an entry whose file has the text `source`.
    pub fn new(name: &'static str, summary: &'static str, reference: &'static str, params: &'static [Param], source: &'static str) -> Self {
        Self { name, summary, reference, params, header: header(source) }
    }
}

/// Finds an entry by name.
pub fn find<P: ?Sized>(entries: &'static [&'static Entry<P>], name: &str) -> Option<&'static Entry<P>> {
    entries.iter().copied().find(|entry| entry.name == name)
}

/// The opening comment of a file.
fn header(source: &'static str) -> &'static str {
    let end = source.lines().take_while(|line| line.starts_with("//!")).map(|line| line.len() + 1).sum();
    &source[..end]
}

/// Declares the parts of a folder, each a file with an `ENTRY`: their modules, the table of their entries, and their descriptions.
///
/// It stands in the folder's `mod.rs`, so that a part is one file and one line there.
#[macro_export]
macro_rules! entries {
    ($entry:ty: $($file:ident),+ $(,)?) => {
        $(pub mod $file;)+
        /// Every entry of this folder, in the order in which listings show them.
        pub static ENTRIES: &[&$entry] = &[$(&$file::ENTRY),+];

        /// Describes every entry of this folder.
        pub fn describe() -> Vec<$crate::entry::Description> {
            let sources = [$(include_str!(concat!(stringify!($file), ".rs"))),+];
            let described = ENTRIES.iter().zip(sources);
            described.map(|(entry, source)| $crate::entry::Description::new(entry.name, entry.summary, entry.reference, entry.params, source)).collect()
        }
    };
}
pub use entries;
