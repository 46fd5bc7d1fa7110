//! Random scenarios of two flows, the first over a stack of QUIC.

use proptest::prelude::*;

/// A scenario whose first flow has the stack `profile` and one of `controls`: its parameter `control`, and the keys of a flow.
pub(crate) fn any_scenario(profile: &'static str, controls: &'static [(&'static str, &'static str)]) -> impl Strategy<Value = String> {
    let queue = prop::sample::select(vec!["'4 packets'", "'30 packets'", "'unlimited'", "'codel'", "'red'"]);
    let loss = prop_oneof![2 => Just(0.0), 2 => 0.0..3.0_f64, 1 => 3.0..50.0_f64];
    let delay = (1..60_u32, prop::option::weighted(0.3, (0.0..10.0_f64, 1..30_u32))).prop_map(|(delay, late)| match late {
        None => format!("'{delay} ms'"),
        Some((share, extra)) => {
            format!("{{ kind = 'reordering', delay = '{delay} ms', share = '{share} %', chosen = 'late', extra = '{extra} ms' }}")
        }
    });
    let application = prop::sample::select(vec![
        "",
        "size = '20 packets'",
        "application = { kind = 'on-off', burst = '100 kB', pause = '700 ms' }",
        "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '500 ms' }",
        "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', multiplexed = true }",
    ]);
    let settings = prop::sample::select(vec!["", ", ack_every = 10", ", gso = 8", ", mtu_discovery = true"]);
    let stack = (prop::sample::select(controls), settings, any::<bool>());
    ((1..40_u32, delay), queue, (loss.clone(), loss), application, stack, 0..1000_u32).prop_map(
        move |((rate, delay), queue, (loss, back), application, ((control, keys), settings, ecn), seed)| {
            format!(
                "duration = '8 s'\nseed = {seed}\n[topology]\nkind = 'dumbbell'\naccess = {{ delay = '1 ms' }}\n\
                 bottleneck = {{ rate = '{rate} Mbit/s', delay = {delay}, queue = {queue}, loss = '{loss} %', reverse = {{ loss = '{back} %' }} }}\n\
                 [[flow]]\necn = {ecn}\nprofile = {{ kind = '{profile}', control = '{control}'{settings} }}\n{keys}\n{application}\n[[flow]]\nstart = '1 s'\n"
            )
        },
    )
}
