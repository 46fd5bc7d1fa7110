//! The laboratory behind a page, for Python: its requests and frames are those of [`ackclock_web`].

use std::sync::{Mutex, PoisonError};

use ackclock_web::Laboratory;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Answers a page's requests.
#[pyclass(name = "Laboratory", module = "ackclock._core", frozen)]
#[derive(Default)]
pub(crate) struct PyLaboratory(Mutex<Laboratory>);

#[pymethods]
impl PyLaboratory {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Answers a request. Requests from several threads are answered one after the other, without the GIL.
    fn handle<'py>(&self, py: Python<'py>, request: &str) -> Bound<'py, PyBytes> {
        // A panic is an answer, and leaves the laboratory usable.
        let answer = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).handle(request));
        PyBytes::new(py, &answer)
    }
}
