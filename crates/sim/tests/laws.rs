//! The response functions of controls for fast and long paths: the mean window at a loss in every n packets.

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

/// The mean window in segments, from the deliveries between two times, with one loss in `distance` packets and a round-trip time of 100 ms.
fn window(avoidance: &str, distance: u32) -> f64 {
    let delivered = |duration: u64| {
        let text = format!(
            "duration = '{duration} s'\n[topology]\nkind = 'dumbbell'\naccess = {{ rate = '100 Gbit/s', delay = '1 ms' }}\n\
             [topology.bottleneck]\nrate = '100 Gbit/s'\ndelay = '48 ms'\nqueue = 'unlimited'\n\
             loss = {{ kind = 'periodic', packets = {distance} }}\n\
             [[flow]]\nprofile = 'modern'\ninitial_ssthresh = '50 segments'\navoidance = {avoidance}\n\
             modern = {{ receive_buffer = '500 MB', receive_buffer_max = '500 MB', delayed_ack = '1 ms' }}\n"
        );
        let scenario = Document::from_toml(&text, "laws.toml").unwrap().scenario().unwrap();
        run(&scenario, &mut || false).unwrap().flows[0].delivered_packets as f64
    };
    let (begin, seconds) = (100, 100);
    (delivered(begin + seconds) - delivered(begin)) / seconds as f64 * 0.1
}

/// Checks the ratios of the mean windows to a law at several distances of losses.
#[track_caller]
fn holds(avoidance: &str, law: impl Fn(f64) -> f64, distances: &[u32], bounds: std::ops::RangeInclusive<f64>) {
    for &distance in distances {
        let ratio = window(avoidance, distance) / law(f64::from(distance));
        println!("{avoidance} {distance}: {ratio:.3}");
        assert!(bounds.contains(&ratio), "{avoidance}, a loss in {distance}: {ratio} of the law");
    }
}

#[test]
fn scalable_has_the_window_0_075_over_p() {
    holds("'scalable'", |distance| 0.075 * distance, &[2000, 5000], 0.9..=1.1);
}

#[test]
fn highspeed_has_the_window_of_rfc_3649() {
    holds("'highspeed'", |distance| 0.12 * distance.powf(0.835), &[2000, 5000, 20_000], 0.9..=1.1);
}
