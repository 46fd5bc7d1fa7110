//! Entries: a part's name, parameters, quantities and build function.

use std::sync::{PoisonError, RwLock};

pub use crate::params::{Description, Quantity, quantity};
use crate::params::{Param, Params, PartSpec};

/// One part on one axis; `P` is the trait object of the axis.
#[derive(Debug)]
pub struct Entry<P: ?Sized + 'static> {
    /// Name in a scenario.
    pub name: &'static str,
    /// Summary, in one line.
    pub summary: &'static str,
    /// Paper or RFC that describes it.
    pub reference: &'static str,
    /// Parameters.
    pub params: &'static [Param],
    /// Quantities in traces: exactly those that its `internals` report.
    pub quantities: &'static [Quantity],
    /// Checks conditions beyond the bounds of single parameters, and builds the part.
    pub build: fn(&Params) -> Result<Box<P>, String>,
}

impl<P: ?Sized> Entry<P> {
    /// Describes this entry; `header` is the opening comment of its file.
    pub const fn describe(&self, header: &'static str) -> Description {
        let Self { name, summary, reference, params, quantities, .. } = *self;
        Description { name, summary, reference, params, quantities, header }
    }
}

/// The entries of a folder or of another crate, with their descriptions. [`entries!`] declares both.
#[derive(Debug)]
pub struct List<P: ?Sized + 'static> {
    /// The entries, in the order of listings.
    pub entries: &'static [&'static Entry<P>],
    /// Their descriptions; in the folder's own list also those of what no entry builds.
    pub descriptions: &'static [Description],
}

// Derived, they would demand that the parts can be copied.
impl<P: ?Sized> Clone for List<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ?Sized> Copy for List<P> {}

/// The parts of an axis: those of its folder, and those of other crates that a program has joined.
#[derive(Debug)]
pub struct Parts<P: ?Sized + 'static>(RwLock<List<P>>);

impl<P: ?Sized> Parts<P> {
    /// The parts of a folder.
    pub const fn new(list: List<P>) -> Self {
        Self(RwLock::new(list))
    }

    /// All parts, in the order of listings.
    pub fn list(&self) -> List<P> {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the parts of another crate, which scenarios that are read afterwards can name like those of the folder. Parts that were joined
    /// before stay.
    ///
    /// # Errors
    /// If the name of a part is taken by another one, or the list has no description of it; nothing is added then.
    pub fn join(&self, list: List<P>) -> Result<(), String> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let (mut entries, mut descriptions) = (all.entries.to_vec(), all.descriptions.to_vec());
        for entry in list.entries {
            if entries.iter().any(|known| std::ptr::eq(*known, *entry)) {
                continue;
            }
            if descriptions.iter().any(|known| known.name == entry.name) {
                return Err(format!("the name {:?} is taken by another part", entry.name));
            }
            let described = list.descriptions.iter().find(|part| part.name == entry.name);
            descriptions.push(*described.ok_or_else(|| format!("the list describes no part {:?}", entry.name))?);
            entries.push(entry);
        }
        if entries.len() > all.entries.len() {
            // The lists live as long as the program, because parts are joined once.
            *all = List { entries: entries.leak(), descriptions: descriptions.leak() };
        }
        Ok(())
    }

    /// The entry of this name.
    pub fn find(&self, name: &str) -> Option<&'static Entry<P>> {
        find(self.list().entries, name)
    }

    /// Builds the part that `spec` names, such as the value of a parameter of [`Kind::Part`](crate::params::Kind::Part).
    ///
    /// # Errors
    /// If there is no such part, or it refuses its parameters; the message has the part's name and the reason.
    pub fn build(&self, spec: &PartSpec) -> Result<Box<P>, String> {
        let entry = self.find(spec.name).ok_or_else(|| format!("there is no part {:?}", spec.name))?;
        (entry.build)(&spec.params).map_err(|reason| format!("{}: {reason}", spec.name))
    }

    /// Builds the part `name` and drops it: the [`Axis::build`](crate::params::Axis::build) of an axis.
    ///
    /// # Errors
    /// The part's reason to refuse `params`. A name without an entry builds nothing and is no error.
    pub fn try_build(&self, name: &str, params: &Params) -> Result<(), String> {
        self.find(name).map_or(Ok(()), |entry| (entry.build)(params).map(drop))
    }
}

/// Finds an entry by name.
fn find<P: ?Sized>(entries: &[&'static Entry<P>], name: &str) -> Option<&'static Entry<P>> {
    entries.iter().copied().find(|entry| entry.name == name)
}

/// The length in bytes of the opening comment of a file.
pub const fn header_length(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut end = 0;
    while end + 2 < bytes.len() && bytes[end] == b'/' && bytes[end + 1] == b'/' && bytes[end + 2] == b'!' {
        while end < bytes.len() && bytes[end] != b'\n' {
            end += 1;
        }
        end += 1;
    }
    end
}

/// The first `N` bytes of a file. A copy, because with a slice the program would contain the whole file.
pub const fn start<const N: usize>(source: &str) -> [u8; N] {
    let mut copy = [0; N];
    let mut at = 0;
    while at < N {
        copy[at] = source.as_bytes()[at];
        at += 1;
    }
    copy
}

/// Declares the parts of a folder, each a file with an `ENTRY`: the modules, the table of entries, and the descriptions.
///
/// The folder's `mod.rs` calls it, so that a part is one file and one line there.
#[macro_export]
macro_rules! entries {
    ($entry:ty: $($file:ident),+ $(,)?) => {
        $(pub mod $file;)+
        /// Every entry of this folder, in the order of listings.
        pub static ENTRIES: &[&$entry] = &[$(&$file::ENTRY),+];

        /// Describes every entry of this folder.
        pub static DESCRIPTIONS: &[$crate::entry::Description] = &[$($file::ENTRY.describe({
            const SOURCE: &str = include_str!(concat!(stringify!($file), ".rs"));
            static HEADER: [u8; $crate::entry::header_length(SOURCE)] = $crate::entry::start(SOURCE);
            // It ends at the end of a line.
            match std::str::from_utf8(&HEADER) {
                Ok(header) => header,
                Err(_) => "",
            }
        })),+];
    };
}
pub use entries;
