//! The host whose endpoint is under test: the settings of `modern`, its congestion controls, and what kernel parameters change of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ackclock_core::cc::CongestionControl;
use ackclock_tcp::modern::Config;

/// Kernel parameters that a congestion control follows, with their values: `tcp_congestion_control`, those of the module `tcp_cubic`, and
/// `route.initcwnd`.
pub type ControlParameters = BTreeMap<String, String>;

/// Makes a congestion control: that of the host, as far as the parameters do not say otherwise.
pub type Controls = Arc<dyn Fn(&ControlParameters) -> Result<Box<dyn CongestionControl>, String> + Send + Sync>;

/// A host.
#[derive(Clone)]
pub struct Host {
    /// Settings of its endpoints.
    pub config: Config,
    /// Its congestion controls.
    pub controls: Controls,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("config", &self.config).finish_non_exhaustive()
    }
}
