//! The reader of HTTP Archives must not panic on any text, and the pages that it reads must be within the limits of a scenario.
//!
//! Under libFuzzer this is guided by coverage. A plain build mutates the given files itself: `har SECONDS FILE…`.
#![cfg_attr(fuzzing, no_main)]

use ackclock_sim::scenario::har;

/// Reads `data` as an HTTP Archive.
fn exercise(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(objects) = har::objects(text, 400) else { return };
    let hosts = objects.iter().map(|object| object.host).max().map_or(0, |last| last as usize + 1);
    assert!((1..=har::MOST_HOSTS).contains(&hosts) && objects[0].host == 0);
    for object in &objects {
        assert!((1..=har::LARGEST).contains(&object.request) && (1..=har::LARGEST).contains(&object.response));
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
