//! Classes: axis `class`. A class is a rule that selects packets, and the queue of these packets.

use super::contract::{Ecn, Packet, Scheduler};
use crate::entry::{Entry, List, Parts, entries};
use crate::params::{Axis, Params};

entries! { Entry<Class>:
    class,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<Class> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "class",
    noun: "class",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "class",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};

/// Which packets belong to a class: those that meet every condition.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The flows, in order; empty: all.
    flows: Vec<u32>,
    /// Whether packets with the codepoint belong to the class, by its value.
    ecn: [bool; 4],
    sizes: (u64, u64),
}

impl Rule {
    fn selects(&self, packet: &Packet) -> bool {
        self.ecn[packet.ecn as usize]
            && (self.sizes.0..=self.sizes.1).contains(&packet.size.0)
            && (self.flows.is_empty() || self.flows.binary_search(&packet.flow).is_ok())
    }
}

/// A class: what a scenario says of it. A discipline with classes takes from it what it needs.
#[derive(Debug)]
pub struct Class {
    pub(crate) rule: Rule,
    pub(crate) queue: Box<dyn Scheduler>,
    /// Bytes in a turn.
    pub(crate) quantum: Option<u64>,
    /// Rates in bits per second, with the sizes of their buckets in bytes.
    pub(crate) rate: Option<f64>,
    pub(crate) ceil: Option<f64>,
    pub(crate) burst: Option<u64>,
    pub(crate) cburst: Option<u64>,
    pub(crate) priority: Option<usize>,
    /// The classes inside.
    pub(crate) classes: Vec<Self>,
}

impl Class {
    /// Builds the classes in the list `class`.
    pub(crate) fn list(params: &Params) -> Result<Vec<Self>, String> {
        params.parts("class").iter().map(|class| PARTS.build(class).map(|class| *class)).collect()
    }

    /// The classes of a discipline that reads only `read` of them besides rule and queue.
    pub(crate) fn plain(params: &Params, read: &[&str]) -> Result<Vec<Self>, String> {
        let classes = Self::list(params)?;
        if classes.is_empty() {
            return Err("there must be at least one class".to_owned());
        }
        for class in &classes {
            let given = [
                ("quantum", class.quantum.is_some()),
                ("rate", class.rate.is_some()),
                ("ceil", class.ceil.is_some()),
                ("burst", class.burst.is_some()),
                ("cburst", class.cburst.is_some()),
                ("priority", class.priority.is_some()),
                ("class", !class.classes.is_empty()),
            ];
            if let Some((name, _)) = given.iter().find(|(name, given)| *given && !read.contains(name)) {
                return Err(format!("its classes have no {name}"));
            }
        }
        Ok(classes)
    }
}

/// The rules of a discipline's classes.
#[derive(Debug, Default)]
pub(crate) struct Rules(Vec<Rule>);

impl Rules {
    /// Adds the rule of the next class.
    pub(crate) fn push(&mut self, rule: Rule) {
        self.0.push(rule);
    }

    /// The number of the first class that selects `packet`, or else of the last.
    pub(crate) fn class_of(&self, packet: &Packet) -> usize {
        self.0.iter().position(|rule| rule.selects(packet)).unwrap_or(self.0.len() - 1)
    }
}

/// The packets that a word for codepoints names.
fn codepoints(word: &str) -> [bool; 4] {
    Ecn::ALL.map(|ecn| match word {
        "not_ect" => ecn == Ecn::NotEct,
        "ect" => ecn != Ecn::NotEct,
        "ect0" => ecn == Ecn::Ect0,
        "ect1" => ecn == Ecn::Ect1,
        "l4s" => ecn == Ecn::Ect1 || ecn == Ecn::Ce,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, packet};

    #[test]
    fn every_condition_must_be_met() {
        let rule = |set: &[(&str, Value)]| build(&class::ENTRY, set).unwrap().rule;
        let selected = |rule: &Rule| {
            let with = |flow, ecn, size| rule.selects(&Packet { ecn, ..packet(0, flow, size) });
            [with(1, Ecn::NotEct, 100), with(2, Ecn::Ect1, 100), with(3, Ecn::Ce, 1500), with(1, Ecn::Ect0, 1500)]
        };
        let (word, number) = (|word: &str| Value::Word(word.to_owned()), Value::Number);
        assert_eq!(selected(&rule(&[])), [true; 4]);
        assert_eq!(selected(&rule(&[("flows", Value::Numbers(vec![3.0, 1.0]))])), [true, false, true, true]);
        assert_eq!(selected(&rule(&[("ecn", word("l4s"))])), [false, true, true, false]);
        assert_eq!(selected(&rule(&[("ecn", word("ect"))])), [false, true, true, true]);
        assert_eq!(selected(&rule(&[("max_size", number(100.0))])), [true, true, false, false]);
        assert_eq!(selected(&rule(&[("min_size", number(101.0)), ("ecn", word("ect0"))])), [false, false, false, true]);
    }
}
