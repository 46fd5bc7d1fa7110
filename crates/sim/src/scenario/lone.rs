//! A flow without a scenario around it: what its keys say of its end hosts.

use crate::scenario::build::{Context, check_flow};
use crate::scenario::check::check;
use crate::scenario::error::{Problems, ScenarioError};
use crate::scenario::model::{ControlSpec, HostSpec};
use crate::scenario::spec::FLOW;
use crate::scenario::value::{Data, Node};
use crate::scenario::{flow_keys, hosts};

/// The end hosts of a flow.
#[derive(Clone, Debug)]
pub(crate) struct LoneFlow {
    pub(crate) host: HostSpec,
    pub(crate) control: ControlSpec,
    /// In segments.
    pub(crate) initial_ssthresh: f64,
}

impl LoneFlow {
    /// The end hosts that these keys of a `[[flow]]` describe, with presets and defaults.
    ///
    /// # Errors
    /// The first problem of the keys.
    pub(crate) fn new(keys: Vec<(String, Node)>) -> Result<Self, String> {
        let mut root = Node::new(Data::Table(vec![("flow".to_owned(), Node::new(Data::Table(keys)))]));
        hosts::apply(&mut root);
        let flow = root.remove("flow").unwrap_or(root);
        let mut problems = Problems::default();
        let table = check(&flow, FLOW, None, &mut problems);
        check_flow(&table, Context { name: "", file: "", python: false, folder: None }, &mut problems);
        let found = Self {
            host: flow_keys::host(&table),
            control: flow_keys::control(&table),
            initial_ssthresh: flow_keys::initial_ssthresh(&table),
        };
        let first = |error: ScenarioError| error.problems.into_iter().next().map_or_else(String::new, |problem| problem.message);
        problems.unless_any("", found).map_err(first)
    }
}
