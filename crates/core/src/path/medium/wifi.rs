//! Wi-Fi: half-duplex, with random access and aggregation.
//! ## What it does
//! Only one station sends at a time; a station is one direction of a link. It sends after the medium has been idle for `difs` and for as many
//! slots as it has drawn, evenly from 0 to its contention window, which is `cw_min` at first. The least number of slots wins, and equal
//! numbers collide: the medium is busy until the longer transmission ends, nothing arrives, and the windows of these stations double up to
//! `cw_max`. A slot that others occupy counts, too. A station draws again after each transmission, also if nothing waits then; if it has
//! counted to the end and the medium has been idle for `difs` when a packet comes, it sends at the next slot.
//!
//! A station sends up to `packets` of its packets together (A-MPDU), within `bytes` and, at the mean of the link's rate, within `burst`. This
//! takes T = `preamble` + 8 L / rate, where L is the sum of the packets' sizes, each with `header` and padded to a multiple of 4 bytes; then
//! `sifs` and `ack` follow. The packets arrive together. A frame gets lost with the probability `error`; the block acknowledgement tells the
//! sender, which sends it again with its next burst, and the receiver holds later packets until it arrives. If no frame is received, the
//! window doubles as after a collision.
//! ## References
//! Bianchi 2000, Performance Analysis of the IEEE 802.11 Distributed Coordination Function, IEEE JSAC 18(3): contention and its slots.
//! Høiland-Jørgensen et al. 2017, Ending the Anomaly, USENIX ATC (arXiv:1703.00064): time of an aggregate, overhead of an access.
//! ## Differs from the document
//! In Bianchi's model stations always have packets. That a station without packets counts on, and then sends without another draw, is a rule of
//! IEEE 802.11; that it waits for the next slot is that of EDCA. Not modelled: a limit of retries, after which a frame is dropped; the longer
//! time (EIFS) after a collision; RTS and CTS; classes of traffic; rate adaptation; several receivers of one station; hidden stations. Neither the
//! papers nor the standard were at hand: both papers' formulas are as the field knows them, and the numbers below are confirmed where it says
//! so, by public tables of IEEE 802.11.
//! ## Parameters
//! `slot`: 9 µs, `sifs`: 16 µs, `difs`: 34 µs (SIFS and two slots), those of OFDM in the band of 5 GHz (confirmed).
//! `cw_min`: 15, `cw_max`: 1023, those of OFDM and of EDCA for best effort (confirmed).
//! `preamble`: 36 µs, that of 802.11n (HT, mixed format) with one stream: 8 + 8 + 4 + 8 + 4 + 4 µs (not confirmed).
//! `ack`: 32 µs, a block acknowledgement of 32 bytes at 24 Mbit/s: a preamble of 20 µs and three symbols of 4 µs (computed).
//! `header`: 42 bytes: delimiter 4, header of data with a class of traffic 26, LLC and SNAP 8, checksum 4.
//! `packets`: 64, the block of 802.11n and 802.11ac. 1: no aggregation.
//! `bytes`: 65,535, the longest A-MPDU of 802.11n (confirmed); 802.11ac: 1,048,575.
//! `burst`: 5.484 ms, the longest transmission of 802.11n and later (confirmed).
//! `error`: 0 %, no losses.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::medium::{Attempt, Frames, MediumModel};
use crate::rng::Generator;
use crate::units::{Duration, Instant};

const fn time(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 1e-9, max: 1.0 }, default: Default::Number(default), doc }
}

const fn window(name: &'static str, min: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Integer { min, max: 1e6 }, default: Default::Number(default), doc }
}

const fn size(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size { min: 0.0, max: 1e7 }, default: Default::Number(default), doc }
}

/// Frames begin at multiples of so many bytes within an A-MPDU.
const MULTIPLE: u64 = 4;

/// This part in the registry.
pub static ENTRY: Entry<dyn MediumModel> = Entry {
    name: "wifi",
    summary: "half-duplex, with random access and aggregation",
    reference: "Bianchi 2000; Høiland-Jørgensen et al. 2017",
    params: &[
        time("slot", 9e-6, "time of a slot"),
        time("sifs", 16e-6, "time between a transmission and its acknowledgement"),
        time("difs", 34e-6, "time for which the medium is idle before slots count; AIFS in EDCA"),
        time("preamble", 36e-6, "time of a transmission before its first frame"),
        time("ack", 32e-6, "time of an acknowledgement"),
        window("cw_min", 0.0, 15.0, "slots are drawn from 0 to this number at first"),
        window("cw_max", 1.0, 1023.0, "largest number to which that doubles; at 0, two stations would collide for ever"),
        size("header", 42.0, "bytes that every frame has besides its packet"),
        Param {
            name: "packets",
            kind: Kind::Integer { min: 1.0, max: 1024.0 },
            default: Default::Number(64.0),
            doc: "most packets in one transmission; 1: no aggregation",
        },
        size("bytes", 65_535.0, "most bytes in one transmission of several packets"),
        time("burst", 5.484e-3, "longest time of a transmission of several packets"),
        Param {
            name: "error",
            kind: Kind::Probability { min: 0.0, max: 0.9 },
            default: Default::Number(0.0),
            doc: "probability that a frame is not received, and sent again",
        },
    ],
    quantities: &[],
    build: |params| {
        let time = |name| Duration::from_secs_f64(params.number(name));
        let [cw_min, cw_max] = ["cw_min", "cw_max"].map(|name| params.number(name) as u64);
        if cw_min > cw_max {
            return Err("cw_min must not be above cw_max".to_owned());
        }
        let frames = Frames {
            preamble: time("preamble"),
            header: params.number("header") as u64,
            multiple: MULTIPLE,
            packets: params.number("packets") as usize,
            bytes: params.number("bytes") as u64,
            time: time("burst"),
            error: params.number("error"),
        };
        Ok(Box::new(Wifi {
            slot: time("slot"),
            difs: time("difs"),
            answer: time("sifs") + time("ack"),
            cw: (cw_min, cw_max),
            frames,
            idle: Instant::ZERO,
            stations: Vec::new(),
        }))
    },
};

/// A station.
#[derive(Clone, Copy, Debug)]
struct Station {
    /// Whether it has something to send.
    ready: bool,
    /// Slots to count after the medium has become idle; `None`: it has counted to the end.
    slots: Option<u64>,
    /// Slots are drawn from 0 to this number.
    cw: u64,
}

impl Station {
    fn draw(cw: u64, random: &mut Generator) -> u64 {
        ((random.uniform() * (cw + 1) as f64) as u64).min(cw)
    }
}

/// Random access by the distributed coordination function.
#[derive(Debug)]
pub struct Wifi {
    slot: Duration,
    difs: Duration,
    /// From the end of a transmission to that of its acknowledgement.
    answer: Duration,
    /// Least and largest contention window.
    cw: (u64, u64),
    frames: Frames,
    /// Time from which on the medium is idle.
    idle: Instant,
    stations: Vec<Station>,
}

impl Wifi {
    /// The least number of slots of a station that has something to send.
    fn least(&self) -> Option<u64> {
        self.stations.iter().filter(|station| station.ready).filter_map(|station| station.slots).min()
    }
}

impl MediumModel for Wifi {
    fn frames(&self) -> Frames {
        self.frames
    }

    fn attach(&mut self, stations: usize) {
        self.stations = vec![Station { ready: false, slots: None, cw: self.cw.0 }; stations];
    }

    fn request(&mut self, now: Instant, station: usize, random: &mut Generator) {
        let counting = self.idle + self.difs;
        let station = &mut self.stations[station];
        station.ready = true;
        station.slots = Some(if now < counting {
            station.slots.unwrap_or_else(|| Station::draw(station.cw, random))
        } else {
            // The next slot. What is off it by rounding alone is at it.
            let next = (now.since(counting).as_secs_f64() / self.slot.as_secs_f64() - 1e-6).ceil() as u64;
            next.max(station.slots.unwrap_or(0))
        });
    }

    fn withdraw(&mut self, station: usize) {
        self.stations[station].ready = false;
    }

    fn next(&self) -> Option<Instant> {
        self.least().map(|slots| self.idle + self.difs + self.slot * slots as f64)
    }

    fn senders(&self, out: &mut Vec<usize>) {
        let least = self.least();
        let stations = self.stations.iter().enumerate();
        out.extend(stations.filter(|(_, station)| station.ready && station.slots == least).map(|(number, _)| number));
    }

    fn occupy(&mut self, end: Instant, attempts: &[Attempt], random: &mut Generator) {
        let Some(passed) = attempts.first().and_then(|attempt| self.stations[attempt.station].slots) else { return };
        for station in &mut self.stations {
            // The slot that is occupied counts.
            station.slots = station.slots.and_then(|slots| slots.checked_sub(passed + 1));
        }
        let answered = attempts.iter().any(|attempt| attempt.received);
        for attempt in attempts {
            let station = &mut self.stations[attempt.station];
            station.cw = if attempt.received { self.cw.0 } else { (2 * station.cw + 1).min(self.cw.1) };
            station.slots = Some(Station::draw(station.cw, random));
            station.ready = attempt.more;
        }
        self.idle = if answered { end + self.answer } else { end };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};
    use crate::units::{Bytes, Rate};

    /// A medium whose `stations` always have something to send, after `accesses` of 1 ms each: accesses, collisions, and accesses and
    /// collisions of station 0.
    fn saturated(set: &[(&str, Value)], stations: u16, accesses: u32) -> [f64; 4] {
        let (mut medium, mut random) = (build(&ENTRY, set).unwrap(), Generator::derived(1, "test"));
        medium.attach(stations.into());
        (0..stations.into()).for_each(|station| medium.request(Instant::ZERO, station, &mut random));
        let (mut found, mut senders) = ([0.0; 4], Vec::new());
        for _ in 0..accesses {
            let now = medium.next().unwrap();
            senders.clear();
            medium.senders(&mut senders);
            let collided = senders.len() > 1;
            let of_first = senders.contains(&0);
            for (place, is) in [true, collided, of_first, collided && of_first].into_iter().enumerate() {
                found[place] += f64::from(u8::from(is));
            }
            let attempts: Vec<_> = senders.iter().map(|&station| Attempt { station, received: !collided, more: true }).collect();
            medium.occupy(now + Duration::from_millis(1), &attempts, &mut random);
        }
        found
    }

    /// Probability p that an attempt collides, from equations 7 and 9 of Bianchi 2000.
    fn bianchi(stations: u16, window: f64, stages: i32) -> f64 {
        let excess = |p: f64| {
            let ratio: f64 = (0..stages).map(|stage| (2.0 * p).powi(stage)).sum();
            let tau = 2.0 / (1.0 + window + p * window * ratio);
            1.0 - (1.0 - tau).powi(i32::from(stations) - 1) - p
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    }

    #[test]
    fn stations_with_one_window_collide_as_often_as_chance_says() {
        // Without doubling, a station sends in 2 / (W + 1) of the slots, independently of the others.
        for (window, stations) in [(16.0, 2), (16.0, 5), (32.0, 2)] {
            let set = ["cw_min", "cw_max"].map(|name| (name, Value::Number(window - 1.0)));
            let [_, _, attempts, collided] = saturated(&set, stations, 200_000);
            let p = 1.0 - (1.0 - 2.0 / (window + 1.0)).powi(i32::from(stations) - 1);
            assert_close(bianchi(stations, window, 0), p, 1e-9);
            assert_close(collided / attempts, p, 4.0 * (p * (1.0 - p) / attempts).sqrt());
        }
    }

    /// Probability that an attempt of two stations collides whose windows are `window` or, after a collision, twice that: from the chain of
    /// both together, slot by slot.
    fn together(window: usize) -> f64 {
        let windows = [window, 2 * window];
        // A station's state: 0 to W - 1 slots at first, then 0 to 2 W - 1 of the doubled window.
        let (count, place) = (3 * window, |stage: usize, slots: usize| stage * window + slots);
        let drawn = |stage: usize| (0..windows[stage]).map(move |slots| (place(stage, slots), 1.0 / windows[stage] as f64));
        let after = |state: usize, collided: bool| -> Vec<(usize, f64)> {
            match state {
                state if state == place(0, 0) || state == place(1, 0) => drawn(usize::from(collided)).collect(),
                state => vec![(state - 1, 1.0)],
            }
        };
        let sends = |state: usize| state == place(0, 0) || state == place(1, 0);
        let mut now = vec![1.0 / (count * count) as f64; count * count];
        for _ in 0..400 {
            let mut next = vec![0.0; count * count];
            for (state, probability) in now.iter().enumerate() {
                let (one, other) = (state / count, state % count);
                let collided = sends(one) && sends(other);
                for (one, p) in after(one, collided) {
                    for (other, q) in after(other, collided) {
                        next[one * count + other] += probability * p * q;
                    }
                }
            }
            now = next;
        }
        let sum = |of: &dyn Fn(usize, usize) -> bool| -> f64 {
            now.iter().enumerate().filter(|(state, _)| of(state / count, state % count)).map(|(_, probability)| probability).sum()
        };
        sum(&|one, other| sends(one) && sends(other)) / sum(&|one, _| sends(one))
    }

    #[test]
    fn two_stations_collide_as_often_as_their_common_chain_says() {
        for window in [2, 4, 8] {
            let set = [("cw_min", Value::Number(window as f64 - 1.0)), ("cw_max", Value::Number(2.0 * window as f64 - 1.0))];
            let ([_, _, attempts, collided], p) = (saturated(&set, 2, 400_000), together(window));
            // Collisions are correlated: six standard deviations.
            assert_close(collided / attempts, p, 6.0 * (p * (1.0 - p) / attempts).sqrt());
            // Bianchi's model takes both stations for independent, which two are least.
            assert_close(bianchi(2, window as f64, 1) / p, 1.0, 0.1);
        }
    }

    #[test]
    fn stations_collide_as_in_bianchis_model() {
        // The more stations, the better it holds that they are independent.
        for (stations, within) in [(2, 0.08), (5, 0.05), (10, 0.03), (20, 0.02)] {
            let [_, _, attempts, collided] = saturated(&[], stations, 400_000);
            assert_close(collided / attempts / bianchi(stations, 16.0, 6), 1.0, within);
        }
    }

    #[test]
    fn stations_share_the_medium_equally() {
        let [accesses, collisions, of_first, _] = saturated(&[], 2, 200_000);
        assert_close((of_first - collisions) / (accesses - collisions), 0.5, 0.01);
    }

    #[test]
    fn a_station_alone_waits_half_the_window_on_average() {
        let (mut medium, mut random) = (build(&ENTRY, &[]).unwrap(), Generator::derived(1, "test"));
        medium.attach(1);
        medium.request(Instant::ZERO, 0, &mut random);
        let (count, length) = (100_000, 1e-3);
        for _ in 0..count {
            let end = medium.next().unwrap() + Duration::from_secs_f64(length);
            medium.occupy(end, &[Attempt { station: 0, received: true, more: true }], &mut random);
        }
        let mean = medium.next().unwrap().as_secs_f64() / f64::from(count);
        assert_close(mean, length + 16e-6 + 32e-6 + 34e-6 + 7.5 * 9e-6, 4.0 * 9e-6 * 21.25_f64.sqrt() / f64::from(count).sqrt() + 2e-9);
    }

    #[test]
    fn an_idle_medium_is_taken_at_the_next_slot() {
        let (mut medium, mut random) = (build(&ENTRY, &[]).unwrap(), Generator::derived(1, "test"));
        medium.attach(2);
        let at = |micros: f64| Instant::ZERO + Duration::from_secs_f64(micros * 1e-6);
        medium.request(at(34.0 + 9.0 * 100.0 + 1.0), 0, &mut random);
        assert_close(medium.next().unwrap().as_secs_f64(), (34.0 + 9.0 * 101.0) * 1e-6, 1e-12);
        // The other station comes within the same slot: they collide.
        medium.request(at(34.0 + 9.0 * 100.0 + 2.0), 1, &mut random);
        let mut senders = Vec::new();
        medium.senders(&mut senders);
        assert_eq!(senders, [0, 1]);
        let attempts = senders.iter().map(|&station| Attempt { station, received: false, more: false });
        medium.occupy(at(2000.0), &attempts.collect::<Vec<_>>(), &mut random);
        assert_eq!(medium.next(), None);
    }

    #[test]
    fn frames_fit_in_bytes_and_time() {
        let frames = build(&ENTRY, &[]).unwrap().frames();
        assert_eq!(frames.frame(Bytes(1500)), Bytes(1544));
        assert_eq!(frames.frame(Bytes(1502)), Bytes(1544));
        let most = |rate| frames.most(Rate::from_bits_per_sec(rate).unwrap());
        assert_eq!((most(1_000_000_000), most(8_000_000)), (65_535, 5448));
    }

    #[test]
    fn the_windows_are_in_order() {
        let error = build(&ENTRY, &[("cw_min", Value::Number(2000.0))]).unwrap_err();
        assert_eq!(error, "cw_min must not be above cw_max");
    }
}
