//! Blocks `%{ … }%`: assertions about the socket's `tcp_info`, in a small part of Python.
//!
//! A block holds assignments, `assert EXPRESSION[, VALUE]`, `print` and comments. Expressions have numbers, texts, lists, names, arithmetic,
//! comparisons, `and`, `or`, `not`, `in`, `A if B else C`, the functions of [`FUNCTIONS`], f-strings and the operator `%` on texts.
//! Everything else is reported as unsupported with its line: [`read`] finds what is wrong with the form, [`Block::run`] finds unknown names.

mod operator;
mod reader;
mod text;
mod token;
mod tree;
mod value;

#[cfg(test)]
mod tests;

pub use reader::read;
pub use tree::{Block, Stop, Variables};
pub use value::{FUNCTIONS, Value};
