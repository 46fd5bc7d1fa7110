//! A player of segments, from the scenario file to its measures.

use ackclock_core::units::Duration;
use ackclock_sim::engine::{Media, RunResult, run};
use ackclock_sim::scenario::{Document, Scenario};
use proptest::prelude::*;

/// A link of 10 ms without queue limit or loss, and a player with these keys.
fn text(rate: &str, keys: &str) -> String {
    format!(
        "duration = '120 s'\ntopology = {{ kind = 'chain', links = [{{ rate = '{rate}', delay = '10 ms', queue = 'unlimited' }}] }}\n\
         [[flow]]\nname = 'video'\nprofile = 'modern'\napplication = {{ kind = 'player', {keys} }}\n"
    )
}

fn scenario(text: &str) -> Scenario {
    Document::from_toml(text, "t.toml").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn simulate(text: &str) -> RunResult {
    run(&scenario(text), &mut || false).unwrap()
}

fn media(result: &RunResult) -> Media {
    result.applications[0].media.unwrap()
}

/// Startup, stalls and playback in seconds.
fn sum(media: &Media) -> f64 {
    [media.startup_time, media.stall_time, media.played_time].into_iter().flatten().map(Duration::as_secs_f64).sum()
}

fn message_of(text: &str) -> String {
    let result = Document::from_toml(text, "t.toml").and_then(|document| document.scenario());
    result.map_or_else(|error| error.to_string(), |_| panic!("this is sound:\n{text}"))
}

const LADDER: &str = "bitrates = ['500 kbit/s', '1 Mbit/s', '2 Mbit/s', '3 Mbit/s', '3.5 Mbit/s', '5 Mbit/s']";

#[test]
fn the_throughput_rule_settles_below_its_share_of_the_goodput() {
    let result = simulate(&text("4 Mbit/s", LADDER));
    // Segments of 1000 bytes with 52 bytes of headers carry 3.80 Mbit/s, of which 85 % are 3.23 Mbit/s: the step of 3 Mbit/s.
    let sizes: Vec<u64> = result.applications[0].transfers.iter().map(|segment| segment.bytes).collect();
    let settled = sizes.iter().position(|bytes| *bytes == 1_500_000).unwrap();
    assert!(settled < 10 && sizes[settled..].iter().all(|bytes| *bytes == 1_500_000), "{sizes:?}");
    assert!(sizes[..settled].is_sorted(), "{sizes:?}");
    let media = media(&result);
    assert_eq!((media.stalls, media.stall_time.unwrap().as_secs_f64()), (Some(0), 0.0));
    assert!((sum(&media) - 120.0).abs() < 1e-6);
    // The whole goodput carries the step above, and twice as much the highest one, which stalls.
    let last = |safety| {
        let result = simulate(&text("4 Mbit/s", &format!("{LADDER}, abr = {{ kind = 'throughput', safety = {safety}, samples = 5 }}")));
        (result.applications[0].transfers.last().unwrap().bytes, result.applications[0].media.unwrap().stalls)
    };
    assert_eq!(last(1.0), (1_750_000, Some(0)));
    let (bytes, stalls) = last(2.0);
    assert!(bytes == 2_500_000 && stalls > Some(5), "{bytes} {stalls:?}");
}

#[test]
fn a_bitrate_beyond_the_path_stalls_by_the_difference() {
    // 2 Mbit for each second of video, of which 1 Mbit/s with headers arrive.
    let result = simulate(&text("1 Mbit/s", "bitrates = ['2 Mbit/s'], segment = '1 s', segments = 40"));
    let (media, segments) = (media(&result), &result.applications[0].transfers);
    assert_eq!((media.parts_complete, media.switches, media.bitrate_bps), (40, 0, Some(2e6)));
    // Every wait between two segments exceeds the second that plays.
    let times: Vec<f64> = segments.iter().map(|segment| segment.completed.unwrap().as_secs_f64()).collect();
    let stalled = media.stall_time.unwrap().as_secs_f64();
    assert!((stalled - (times[39] - times[0] - 39.0)).abs() < 1e-6, "{stalled}");
    assert_eq!(media.stalls, Some(39));
    // A segment takes 2 s · 1052/1000, and a round trip of 20 ms with the transmission of a request and an answer.
    let expected = 39.0 * (2.0 * 1.052 + 0.02 + 0.012 - 1.0);
    assert!((stalled / expected - 1.0).abs() < 0.02, "{stalled} {expected}");
    assert!((media.startup_time.unwrap().as_secs_f64() - times[0]).abs() < 1e-9);
    assert!((media.played_time.unwrap().as_secs_f64() - 40.0).abs() < 1e-6, "each second plays once");
}

#[test]
fn the_buffer_rule_climbs_the_ladder_and_fills_the_buffer() {
    let result = simulate(&text("50 Mbit/s", &format!("{LADDER}, abr = {{ kind = 'buffer' }}, segment = '2 s', buffer = '20 s'")));
    let segments = &result.applications[0].transfers;
    let sizes: Vec<u64> = segments.iter().map(|segment| segment.bytes).collect();
    assert!(sizes.is_sorted() && sizes[0] == 125_000 && *sizes.last().unwrap() == 1_250_000, "{sizes:?}");
    assert_eq!(media(&result).stalls, Some(0));
    // Once the buffer is full, a segment is requested whenever another has been played.
    let times: Vec<f64> = segments.iter().map(|segment| segment.requested.unwrap().as_secs_f64()).collect();
    assert!(times[12..].windows(2).all(|pair| (pair[1] - pair[0] - 2.0).abs() < 1e-6), "{times:?}");
    // On a narrow path the map stays where the path is: between the steps around its goodput.
    let narrow = simulate(&text("2.5 Mbit/s", &format!("{LADDER}, abr = {{ kind = 'buffer' }}, segment = '2 s', buffer = '20 s'")));
    let media = media(&narrow);
    assert!(media.bitrate_bps.unwrap() < 2.4e6 && media.bitrate_bps.unwrap() > 1.6e6 && media.stalls == Some(0), "{media:?}");
}

#[test]
fn a_player_stops() {
    let flow = "stop = '10 s'\nname";
    let result = simulate(&text("20 Mbit/s", "bitrates = ['1 Mbit/s'], segment = '1 s', buffer = '3 s'").replace("name", flow));
    let (media, segments) = (media(&result), &result.applications[0].transfers);
    assert!(segments.iter().all(|segment| segment.queued.as_secs_f64() < 10.0));
    // What has been requested still plays.
    assert!((media.played_time.unwrap().as_secs_f64() - segments.len() as f64).abs() < 1e-6);
    assert_eq!(media.stalls, Some(0));
}

#[test]
fn mistakes() {
    let text = |keys: &str| text("1 Mbit/s", keys);
    for (keys, message) in [
        (
            "segment = '1 s'",
            "t.toml:6: flow.0.application.bitrates: is missing; example: [\"400 kbit/s\", \"1 Mbit/s\", \"2.5 Mbit/s\", \"5 Mbit/s\"]",
        ),
        ("bitrates = []", "t.toml:6: flow.0.application.bitrates: at least one bitrate is needed"),
        ("bitrates = ['2 Mbit/s', '1 Mbit/s']", "t.toml:6: flow.0.application.bitrates: must be in rising order"),
        (
            "bitrates = ['2 Mbit/s'], buffer = '1 s'",
            "t.toml:6: flow.0.application.buffer: must hold a segment, but is shorter than segment",
        ),
    ] {
        assert_eq!(message_of(&text(keys)), message);
    }
    let one_way = message_of(&text("bitrates = ['2 Mbit/s']").replace("profile = 'modern'\n", ""));
    assert!(one_way.contains("flow.0.application: needs a profile that carries data both ways, but ns2 does not"), "{one_way}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_moment_is_startup_stall_or_playback(
        (rate, delay, queue, loss) in (200..9000_u32, 1..120_u32, 4..60_u32, 0..6_u32),
        ladder in prop::collection::btree_set(50..6000_u32, 1..6),
        (segment, start, buffer) in (200..6000_u32, 0..15_000_u32, 6000..40_000_u32),
        segments in prop::option::of(1..40_u32),
        abr in prop::sample::select(vec!["throughput", "buffer"]),
        (began, seed) in (0..5000_u32, 0..1000_u32),
    ) {
        let ladder: Vec<String> = ladder.iter().map(|rate| format!("'{rate} kbit/s'")).collect();
        let segments = segments.map(|segments| format!(", segments = {segments}")).unwrap_or_default();
        let text = format!(
            "duration = '60 s'\nseed = {seed}\n\
             topology.bottleneck = {{ rate = '{rate} kbit/s', delay = '{delay} ms', queue = '{queue} packets', loss = '{loss} %' }}\n\
             [[flow]]\nprofile = 'modern'\nstart = '{began} ms'\napplication = {{ kind = 'player', bitrates = [{}], segment = '{segment} ms', \
             start = '{start} ms', buffer = '{buffer} ms', abr.kind = '{abr}'{segments} }}\n",
            ladder.join(", ")
        );
        let document = Document::from_toml(&text, "t.toml").unwrap();
        let result = run(&document.scenario().unwrap(), &mut || false).unwrap();
        let (media, transfers) = (media(&result), &result.applications[0].transfers);
        let arrived = f64::from(segment) / 1e3 * media.parts_complete as f64;
        let (played, elapsed) = (media.played_time.unwrap().as_secs_f64(), 60.0 - f64::from(began) / 1e3);
        prop_assert!(played <= arrived + 1e-6, "{}", text);
        if media.startup_time.is_some() {
            let over = sum(&media) < elapsed - 1e-6;
            prop_assert!(sum(&media) <= elapsed + 1e-6, "{} {}", sum(&media), text);
            // A video that is over has played completely.
            prop_assert!(!over || (played - arrived).abs() < 1e-6 && transfers.iter().all(|it| it.completed.is_some()), "{}", text);
        } else {
            prop_assert!(played == 0.0 && media.stalls == Some(0), "{}", text);
        }
        // The buffer never holds more than it can, and one segment is on its way at a time.
        prop_assert!(arrived - played <= f64::from(buffer) / 1e3 + 1e-6, "{}", text);
        prop_assert!(transfers.windows(2).all(|pair| pair[0].completed.is_some() && pair[0].completed <= pair[1].requested), "{}", text);
        let whole: u64 = transfers.iter().filter(|it| it.completed.is_some()).map(|it| it.bytes).sum();
        let begun: u64 = transfers.iter().map(|it| it.bytes).sum();
        prop_assert!(media.bytes == whole && (whole..=begun).contains(&result.flows[0].delivered_bytes), "{}", text);
        let again = Document::from_toml(&document.frozen().unwrap(), "t.toml").unwrap();
        prop_assert_eq!(run(&again.scenario().unwrap(), &mut || false).unwrap().digest(), result.digest(), "{}", text);
    }
}
