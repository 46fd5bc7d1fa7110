//! `ackclock._core`: scenarios in, Arrow tables out. The public Python API is built on it.

mod analytic;
mod batch;
mod control;
mod error;
mod events;
mod kernel;
mod laboratory;
mod library;
mod machine;
mod memory;
mod object;
mod qlog;
mod rows;
mod run;
mod scenario;
mod script;
mod slow_start;
mod summary;
mod table;

use ackclock_sim::scenario::amount::Language;
use pyo3::prelude::*;

/// The JSON Schema of scenario files.
#[pyfunction]
fn schema() -> String {
    format!("{:#}", ackclock_sim::scenario::schema())
}

/// The JSON Schema of a run's summary.
#[pyfunction]
fn summary_schema() -> String {
    format!("{:#}", ackclock_sim::engine::summary_schema())
}

/// All parts as JSON: axes, parts, parameters.
#[pyfunction]
fn registry() -> String {
    ackclock_sim::scenario::registry_json().to_string()
}

/// Every limit of files, messages and runs, as JSON.
#[pyfunction]
fn limits() -> String {
    let row = |limit: &ackclock_core::limits::Limit| serde_json::json!({ "name": limit.name, "most": limit.most, "unit": limit.unit, "doc": limit.doc });
    ackclock_core::limits::ALL.iter().map(row).collect::<serde_json::Value>().to_string()
}

/// The version of `ackclock.h`, and the size of each of its structures, as this program knows them.
#[pyfunction]
fn library_sizes() -> (u32, Vec<(&'static str, usize)>) {
    (library::VERSION, library::SIZES.to_vec())
}

/// Why a text of TOML or JSON takes too much memory to read: the line, and a message. None if it does not.
#[pyfunction]
#[pyo3(signature = (text, *, json=false))]
fn excess(py: Python<'_>, text: &str, json: bool) -> Option<(usize, String)> {
    let language = if json { Language::Json } else { Language::Toml };
    py.detach(|| ackclock_sim::scenario::amount::excess(text, language))
}

/// All tables of a result, as JSON: name, meaning of a row, and name, unit, kind and meaning of every column.
#[pyfunction]
fn tables() -> String {
    ackclock_sim::engine::tables_json().to_string()
}

/// All presets of end hosts, as JSON: settings and their sources.
#[pyfunction]
fn hosts() -> String {
    ackclock_sim::scenario::hosts_json().to_string()
}

/// All presets of links, as JSON: settings and their sources.
#[pyfunction]
fn links() -> String {
    ackclock_sim::scenario::links_json().to_string()
}

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::analytic::{evaluate, models, read_parameter, trace};
    #[pymodule_export]
    use super::batch::{Batch, run_batch};
    #[pymodule_export]
    use super::error::{Interrupted, ScenarioError};
    #[pymodule_export]
    use super::events::{
        PyAck, PyCongestionEvent, PyDelivered, PyEstablished, PyExit, PyFirstWindow, PyIdle, PyLost, PyRateSample, PySent, PySnapshot,
        PyTotals, PyWindow,
    };
    #[pymodule_export]
    use super::kernel::{guest_refusal, guest_run, kernel_refusal, kernel_run, replay};
    #[pymodule_export]
    use super::laboratory::PyLaboratory;
    #[pymodule_export]
    use super::machine::{emulate, kernel_check};
    #[pymodule_export]
    use super::qlog::qlog;
    #[pymodule_export]
    use super::run::{Cancel, PyRunResult, run};
    #[pymodule_export]
    use super::scenario::{PyScenario, PySweepPoints};
    #[pymodule_export]
    use super::script::{ScriptOutcome, run_script};
    #[pymodule_export]
    use super::summary::{completion, page_loads};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::{excess, hosts, library_sizes, limits, links, registry, schema, summary_schema, tables};

    /// Joins the host profiles of other crates to those of the simulator.
    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        #[cfg(feature = "quic")]
        ackclock_sim::scenario::PROFILES.join(ackclock_quic::PROFILES).map_err(pyo3::exceptions::PyImportError::new_err)?;
        Ok(())
    }

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
