//! The reader of scripts, their blocks and commands must not panic on any text, and what it reads must survive printing. Played against the
//! host `linux`, a script must end.
//!
//! Under libFuzzer this is guided by coverage. A plain build mutates the given files itself: `script SECONDS FILE…`.
#![cfg_attr(fuzzing, no_main)]

use std::sync::{Arc, LazyLock};

use ackclock_core::units::Duration;
use ackclock_script::code::{self, Variables};
use ackclock_script::script::Action;
use ackclock_script::settings::Settings;
use ackclock_script::{Host, Modern, Options, Simulated, parse, run};
use ackclock_sim::engine::EndHost;

/// Bounds of a script's run.
const MAX_DURATION: Duration = Duration::from_millis(100_000);
const MAX_PACKETS: u64 = 500;

/// The host under test. A copy of its control is faster than another one, so that settings of the control do not change it.
static HOST: LazyLock<Host> = LazyLock::new(|| {
    let end = EndHost::find("linux").expect("a preset");
    let control = end.control(&Default::default()).expect("the host's own control");
    Host { config: end.config().clone(), controls: Arc::new(move |_| Ok(control.clone())) }
});

/// Reads `data` as a script, prints it, and applies its commands and blocks.
fn exercise(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(script) = parse(text, "fuzz.pkt", &[]) else { return };
    assert_eq!(parse(&script.to_string(), "printed.pkt", &[]).as_ref(), Ok(&script));
    let options = Options { common_settings: true, max_duration: MAX_DURATION, max_packets: MAX_PACKETS, ..Options::default() };
    let _ = run(text, &options, |network| Ok(Simulated::new(Modern::new(&HOST, network), network)));
    let mut settings = Settings::default();
    for command in script.before.iter().chain(&script.after) {
        let _ = settings.apply(command);
    }
    let mut variables = Variables::new();
    for event in &script.events {
        if let Action::Code(text) = &event.action
            && let Ok(block) = code::read(text)
        {
            let _ = block.run(&mut variables, &mut Vec::new());
        }
    }
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| exercise(data));

#[cfg(not(fuzzing))]
mod mutation;

#[cfg(not(fuzzing))]
fn main() {
    mutation::main();
}
