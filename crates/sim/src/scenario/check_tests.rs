//! Keys that were never declared are mistakes in the code that reads them.

use super::{Record, check};
use crate::scenario::error::Problems;
use crate::scenario::spec::ROOT;
use crate::scenario::toml_reader::read_toml;

/// A checked file whose topology is a chain.
fn chain() -> Record {
    let mut problems = Problems::default();
    let root = read_toml("duration = '1 s'\n[topology]\nkind = 'chain'\n[flow]\n", &mut problems);
    check(&root, ROOT, None, &mut problems)
}

#[test]
#[should_panic(expected = "\"duraton\" is not a key of \"\"")]
fn a_key_that_no_table_declares_panics() {
    chain().whole("duraton");
}

#[test]
#[should_panic(expected = "\"pairs\" is not a key of \"topology\", kind \"chain\"")]
fn a_key_of_another_kind_panics() {
    chain().table("topology").unwrap().integer("pairs");
}

#[test]
#[should_panic(expected = "\"delays\" is not a key of \"topology.access\"")]
fn the_path_of_an_undeclared_key_panics() {
    chain().table("topology").and_then(|topology| topology.table("access")).unwrap().key("delays");
}

#[test]
fn a_key_that_is_declared_and_absent_reads_as_absent() {
    let chain = chain();
    assert_eq!((chain.text("name"), chain.list("record").len()), (None, 0));
    assert!(!chain.table("topology").unwrap().field("links").given);
}
