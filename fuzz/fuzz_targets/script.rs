//! The reader of scripts, their blocks and commands must not panic on any text, and what it reads must survive printing.
//!
//! Under libFuzzer this is guided by coverage. A plain build mutates the given files itself: `script SECONDS FILE…`.
#![cfg_attr(fuzzing, no_main)]

use ackclock_script::code::{self, Variables};
use ackclock_script::parse;
use ackclock_script::script::Action;
use ackclock_script::settings::Settings;

/// Reads `data` as a script, prints it, and applies its commands and blocks.
fn exercise(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(script) = parse(text, "fuzz.pkt", &[]) else { return };
    assert_eq!(parse(&script.to_string(), "printed.pkt", &[]).as_ref(), Ok(&script));
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
