//! Scripts for Python: the GIL is released while a script runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ackclock_core::units::Duration;
use ackclock_script::{Define, Host, IpVersion, Modern, Options, Outcome, Simulated, Tolerance, run};
use ackclock_sim::engine::EndHost;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The outcome of a script.
#[pyclass(module = "ackclock._core", frozen)]
pub(crate) struct ScriptOutcome {
    outcome: Outcome,
    file: String,
    text: String,
}

#[pymethods]
impl ScriptOutcome {
    /// `passed`, `failed`, `unsupported` or `error`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.outcome.verdict.word()
    }

    /// Line of the script that the verdict is about; 0 for none.
    #[getter]
    fn line(&self) -> u32 {
        self.outcome.verdict.line()
    }

    /// The reason in one line; empty for a pass.
    #[getter]
    fn reason(&self) -> &str {
        self.outcome.verdict.reason()
    }

    /// The verdict in full.
    #[getter]
    fn message(&self) -> String {
        self.outcome.describe(&self.file, &self.text)
    }

    /// Lines that the script printed.
    #[getter]
    fn printed(&self) -> Vec<String> {
        self.outcome.printed.clone()
    }

    /// Failures that the script declares as non-fatal.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.outcome.warnings.clone()
    }

    /// Number of packets that crossed the network.
    #[getter]
    fn packets(&self) -> usize {
        self.outcome.crossings.len()
    }

    /// Seconds from start to end, in the time of the script.
    #[getter]
    fn duration(&self) -> f64 {
        self.outcome.duration.as_secs_f64()
    }

    /// The packets as a pcapng file.
    fn pcapng<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let program = concat!("ackclock ", env!("CARGO_PKG_VERSION"));
        PyBytes::new(py, &self.outcome.pcapng(program, &self.file))
    }

    /// The packets and the sender's metrics as JSON in the manner of qlog.
    fn qlog(&self) -> String {
        self.outcome.qlog(&self.file)
    }
}

/// Runs the script `text`, called `file` in messages, against the host `host`.
#[pyfunction]
#[pyo3(signature = (text, file, host, *, defines=Vec::new(), tolerance=None, strict=false, strict_segments=false, ip_version=None, kernel=false, guest=None, max_duration=None, max_packets=None))]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "keywords in Python, extracted from it")]
pub(crate) fn run_script(
    py: Python<'_>,
    text: String,
    file: String,
    host: &str,
    defines: Vec<String>,
    tolerance: Option<&str>,
    strict: bool,
    strict_segments: bool,
    ip_version: Option<&str>,
    kernel: bool,
    guest: Option<PathBuf>,
    max_duration: Option<f64>,
    max_packets: Option<u64>,
) -> PyResult<ScriptOutcome> {
    let end = EndHost::find(host).map_err(PyValueError::new_err)?;
    let define = |text: &String| Define::read(text).ok_or_else(|| PyValueError::new_err(format!("{text:?} must be NAME=VALUE")));
    let usual = Options::default();
    let options = Options {
        file: file.clone(),
        defines: defines.iter().map(define).collect::<PyResult<_>>()?,
        ip_version: ip_version.map(IpVersion::find).transpose().map_err(PyValueError::new_err)?,
        tolerance: tolerance.map(Tolerance::read).transpose().map_err(PyValueError::new_err)?,
        usual_tolerance: if kernel || guest.is_some() { Tolerance::PACKETDRILL } else { Tolerance::default() },
        // Scripts are written for the kernel of packetdrill's common set-up; other systems have no such parameters.
        common_settings: kernel || guest.is_some() || host.starts_with("linux"),
        strict,
        strict_segments,
        max_duration: max_duration.map_or(usual.max_duration, Duration::from_secs_f64),
        max_packets: max_packets.unwrap_or(usual.max_packets),
    };
    let host = Host { config: end.config().clone(), controls: Arc::new(move |parameters| end.control(parameters)) };
    let outcome = py.detach(|| {
        if let Some(folder) = &guest {
            return on_guest(&text, &options, folder);
        }
        if kernel {
            return on_kernel(&text, &options);
        }
        run(&text, &options, |network| Ok(Simulated::new(Modern::new(&host, network), network)))
    });
    Ok(ScriptOutcome { outcome, file, text })
}

/// Runs a script against the kernel, in a thread of its own: the thread enters another network namespace and gets another priority.
#[cfg(target_os = "linux")]
fn on_kernel(text: &str, options: &Options) -> Outcome {
    let play = || run(text, options, ackclock_script::Kernel::new);
    let joined = std::thread::scope(|scope| scope.spawn(play).join());
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs a script against a kernel in virtual time, which lies in `folder`.
#[cfg(target_os = "linux")]
fn on_guest(text: &str, options: &Options, folder: &Path) -> Outcome {
    run(text, options, |network| ackclock_uml::script::world(folder, network))
}

/// Only Linux can run such a kernel.
#[cfg(not(target_os = "linux"))]
fn on_guest(text: &str, options: &Options, _: &Path) -> Outcome {
    on_kernel(text, options)
}

/// Only Linux has the kernel under test.
#[cfg(not(target_os = "linux"))]
fn on_kernel(text: &str, options: &Options) -> Outcome {
    run(text, options, |_| {
        Err::<Simulated<Modern>, _>(format!("cannot run on the kernel: this system is {}, not Linux", std::env::consts::OS))
    })
}
