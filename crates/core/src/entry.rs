//! Entries: how a part says its name, its parameters, the quantities that it shows, and how it is built.

use crate::params::{Param, Params};

/// A number that a part shows in traces, or that a model gives: what its column or row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name.
    pub name: &'static str,
    /// Its unit as people write it; empty for a plain number.
    pub unit: &'static str,
    /// What it is: one line.
    pub doc: &'static str,
    /// What an axis says besides the unit. Quantities of one axis share a panel; empty: it has a panel of its own.
    pub axis: &'static str,
}

/// Declares a quantity.
pub const fn quantity(name: &'static str, unit: &'static str, doc: &'static str) -> Quantity {
    Quantity { name, unit, doc, axis: "" }
}

impl Quantity {
    /// The same, drawn on an axis that others share.
    #[must_use]
    pub const fn on(self, axis: &'static str) -> Self {
        Self { axis, ..self }
    }
}

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
    /// What it shows in traces: exactly what its `internals` tell.
    pub quantities: &'static [Quantity],
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
    /// What a part shows in traces, or what a model gives.
    pub quantities: &'static [Quantity],
    /// The opening comment of its file, from which its page is made.
    pub header: &'static str,
}

impl<P: ?Sized> Entry<P> {
    /// Describes this entry, whose file has the text `source`.
    pub fn describe(&self, source: &'static str) -> Description {
        let Self { name, summary, reference, params, quantities, .. } = *self;
        Description { name, summary, reference, params, quantities, header: header(source) }
    }
}

/// Finds an entry by name.
pub fn find<P: ?Sized>(entries: &'static [&'static Entry<P>], name: &str) -> Option<&'static Entry<P>> {
    entries.iter().copied().find(|entry| entry.name == name)
}

/// The opening comment of a file.
pub(crate) fn header(source: &'static str) -> &'static str {
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
            described.map(|(entry, source)| entry.describe(source)).collect()
        }
    };
}
pub use entries;
