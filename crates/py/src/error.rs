//! The exceptions of the module.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};

create_exception!(ackclock._core, ScenarioError, PyValueError, "A scenario is invalid.");
create_exception!(ackclock._core, Interrupted, PyException, "A run was cancelled before its end.");
