//! Scenarios: from a TOML file to the typed input of the engine.
//!
//! text → [`Document`] (values that know their line) → checked against the declared keys → expanded → [`Scenario`].

pub mod amount;
mod app_keys;
mod application;
mod arrivals;
mod build;
pub(crate) mod check;
mod document;
mod drawn;
mod error;
mod file;
mod flow_keys;
mod flows;
mod freeze;
pub mod har;
mod har_file;
mod host_keys;
mod host_settings;
mod hosts;
mod kernel;
mod kernel_keys;
mod keys;
mod links;
mod lone;
mod marks;
mod memory;
mod model;
pub(crate) mod parameter;
pub(crate) mod part;
mod path_file;
mod pieces;
mod preset;
pub(crate) mod profiles;
mod route;
mod schema;
mod setting;
mod spec;
mod state;
mod sweep;
pub(crate) mod text;
mod toml_reader;
mod topology;
mod traffic;
pub(crate) mod unit;
pub(crate) mod value;

pub use application::*;
pub use document::{Document, Variant};
pub(crate) use drawn::whole_packets;
pub use error::{Problem, ScenarioError};
pub use hosts::hosts_json;
pub use links::links_json;
pub(crate) use lone::LoneFlow;
pub use model::*;
pub use part::{registry_json, relations_json, shorthand};
pub use profiles::{PROFILES, profiles};
pub use schema::schema;
pub use sweep::{Points, SampleRequest, SweepData, SweepNeeds, TableColumn, TableRequest};
pub use text::nearest;

#[cfg(test)]
mod tests;
