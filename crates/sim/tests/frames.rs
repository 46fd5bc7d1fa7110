//! Frames of live video, from the scenario file to their measures.

use ackclock_sim::engine::{Media, RunResult, run};
use ackclock_sim::scenario::Document;
use proptest::prelude::*;

fn simulate(text: &str) -> RunResult {
    let document = Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&document.scenario().unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap()
}

/// A link of 10 ms with this rate and queue, and a source with these keys.
fn text(rate: &str, queue: &str, keys: &str) -> String {
    format!(
        "duration = '60 s'\ntopology = {{ kind = 'chain', links = [{{ rate = '{rate}', delay = '10 ms', queue = '{queue}' }}] }}\n\
         [[flow]]\nname = 'video'\nprofile = 'modern'\napplication = {{ kind = 'frames', {keys} }}\n"
    )
}

fn media(result: &RunResult) -> Media {
    result.applications[0].media.unwrap()
}

#[test]
fn frames_on_an_ample_link_are_never_late() {
    let result = simulate(&text("100 Mbit/s", "unlimited", "rate = '1.5 Mbit/s', key_factor = 1.0, variation = 0.0"));
    let media = media(&result);
    // 60 s at 30 frames a second, of 6250 bytes each. The rate is at its top from the start and stays there.
    assert_eq!((media.parts, media.switches, media.late_share), (1800, 0, Some(0.0)));
    assert!((media.bitrate_bps.unwrap() / 1.5e6 - 1.0).abs() < 1e-3, "{media:?}");
    // At most seven packets of 1052 bytes take 84 µs each, after the way of 10 ms.
    assert!((media.frame_delay_median.unwrap().as_secs_f64() - 0.01 - 7.0 * 1052.0 * 8.0 / 1e8).abs() < 1e-4, "{media:?}");
    // From the lowest rate the target grows by 5 % every 200 ms: ln 10 / ln 1.05 = 47.2 steps.
    let grown = self::media(&simulate(&text("100 Mbit/s", "unlimited", "key_factor = 1.0, variation = 0.0")));
    assert_eq!((grown.switches, grown.late_share), (48, Some(0.0)));
}

#[test]
fn the_rate_stays_below_the_path() {
    let adapted = media(&simulate(&text("1 Mbit/s", "unlimited", "rate = '1 Mbit/s'")));
    assert!((0.5e6..0.951e6).contains(&adapted.bitrate_bps.unwrap()) && adapted.switches > 20, "{adapted:?}");
    // A source that cannot go below the path's rate has a backlog that grows until the end: 2 Mbit/s, of which 0.95 arrive.
    let fixed = media(&simulate(&text("1 Mbit/s", "unlimited", "min_rate = '2 Mbit/s', max_rate = '2 Mbit/s'")));
    assert!(fixed.switches == 0 && fixed.late_share > Some(0.95), "{fixed:?}");
    assert!((fixed.bitrate_bps.unwrap() / (1e6 * 1000.0 / 1052.0) - 1.0).abs() < 0.02, "{fixed:?}");
    assert!(fixed.frame_delay_p95 > adapted.frame_delay_p95 && adapted.late_share < fixed.late_share, "{adapted:?}");
}

#[test]
fn mistakes() {
    for (keys, message) in [
        ("min_rate = '2 Mbit/s'", "t.toml:6: flow.0.application.max_rate: must be at least min_rate"),
        ("rate = '2 Mbit/s'", "t.toml:6: flow.0.application.rate: must be from min_rate to max_rate"),
    ] {
        let result = Document::from_toml(&text("1 Mbit/s", "unlimited", keys), "t.toml").and_then(|document| document.scenario());
        assert!(result.unwrap_err().to_string().starts_with(message), "{keys}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_of_a_frame_arrives_once(
        (rate, delay, queue, loss) in (200..9000_u32, 1..120_u32, 4..60_u32, 0..6_u32),
        (fps, key_interval, key_factor, variation) in (1..70_u32, 1..90_u32, 1.0..9.0_f64, 0.0..1.0_f64),
        (least, most) in (50..900_u32, 900..6000_u32),
        profile in prop::sample::select(vec!["modern", "ns2"]),
        seed in 0..1000_u32,
    ) {
        let text = format!(
            "duration = '2000 s'\nseed = {seed}\n\
             topology.bottleneck = {{ rate = '{rate} kbit/s', delay = '{delay} ms', queue = '{queue} packets', loss = '{loss} %' }}\n\
             [[flow]]\nprofile = '{profile}'\nstop = '10 s'\napplication = {{ kind = 'frames', fps = {fps}, min_rate = '{least} kbit/s', \
             max_rate = '{most} kbit/s', key_interval = {key_interval}, key_factor = {key_factor}, variation = {variation} }}\n"
        );
        let document = Document::from_toml(&text, "t.toml").unwrap();
        let result = run(&document.scenario().unwrap(), &mut || false).unwrap();
        let (media, frames) = (media(&result), &result.applications[0].transfers);
        // Long after the last frame, all have arrived, in order.
        prop_assert!(media.parts == media.parts_complete && media.parts <= 10 * u64::from(fps) && media.parts > 0, "{}", text);
        prop_assert_eq!(frames.iter().map(|frame| frame.bytes).sum::<u64>(), result.flows[0].delivered_packets * 1000, "{}", text);
        prop_assert_eq!(media.bytes, result.flows[0].delivered_packets * 1000, "{}", text);
        prop_assert!(frames.is_sorted_by_key(|frame| frame.completed) && frames.iter().all(|it| it.first_byte <= it.completed), "{}", text);
        prop_assert!(media.late_share.is_some_and(|share| (0.0..=1.0).contains(&share)), "{}", text);
        let again = Document::from_toml(&document.frozen().unwrap(), "t.toml").unwrap();
        prop_assert_eq!(run(&again.scenario().unwrap(), &mut || false).unwrap().digest(), result.digest(), "{}", text);
    }
}
