//! Scripts against the host `linux`.

use std::sync::Arc;

use ackclock_script::{Host, Modern, Options, Outcome, Simulated, run};
use ackclock_sim::engine::EndHost;

/// The host `name`.
pub(crate) fn host(name: &str) -> Host {
    let end = EndHost::find(name).unwrap();
    Host { config: end.config().clone(), controls: Arc::new(move |parameters| end.control(parameters)) }
}

/// Runs a script against the host `linux`.
pub(crate) fn play(script: &str, options: &Options) -> Outcome {
    let options = Options { common_settings: true, ..options.clone() };
    run(script, &options, |network| Ok(Simulated::new(Modern::new(&host("linux"), network), network)))
}
