//! ARQ: stop-and-wait, Go-Back-N and selective repeat as senders over a lossy channel.
//! ## What it does
//! Time goes in slots of one frame. In each the sender may send a frame, which is lost with probability p; 1 + 2a slots later it learns
//! whether the receiver took it. Counts the slots whose frames were taken.
//! ## References
//! Tanenbaum & Wetherall, *Computer networks*, 5th edition, §3.4; Preveze 2019, §1, names the three schemes. The closed forms are the model
//! `sliding_window`.
//! ## Differs from the document
//! Acknowledgements are never lost, and a timer that expires exactly when an acknowledgement is due stands for negative ones. 2a is a whole
//! number. The closed forms hold exactly in this model, but for two: that of Go-Back-N with a small window, see there; and of selective
//! repeat they count frames under way. A sender whose unacknowledged frames have to lie within W of the oldest one waits when that is lost, and is slower; `span` chooses.
//! ## Parameters
//! `loss`: 1 %, `seed`: 1. `scheme`: selective repeat. `a`: 10, `window`: 7, as in `sliding_window`. `span`: outstanding, as the textbooks
//! count. `slots`: 100000.

mod go_back_n;
mod selective_repeat;
mod stop_and_wait;

use std::collections::VecDeque;

use self::go_back_n::GoBackN;
use self::selective_repeat::SelectiveRepeat;
use self::stop_and_wait::StopAndWait;
use crate::analytic::{Model, params};
use crate::entry::{Quantity, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::rng::Generator;

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "arq",
    summary: "stop-and-wait, Go-Back-N and selective repeat over a lossy channel, by simulation",
    reference: "Tanenbaum & Wetherall, Computer networks, §3.4",
    params: &[
        params::LOSS,
        params::whole("seed", 1.0, (0.0, 9_007_199_254_740_992.0), "seed of the run"),
        Param {
            name: "scheme",
            kind: Kind::Word(&["stop_and_wait", "go_back_n", "selective_repeat"]),
            default: Default::Word("selective_repeat"),
            doc: "how the sender repeats",
        },
        params::plain("a", 10.0, (0.0, 1e6), "one-way delay of the path over the time to send a frame; 2a is whole"),
        params::whole("window", 7.0, (1.0, 1e6), "frames that may be unacknowledged; stop-and-wait has one"),
        Param {
            name: "span",
            kind: Kind::Word(&["outstanding", "sequence"]),
            default: Default::Word("outstanding"),
            doc: "what the window of selective repeat limits: frames without acknowledgement, or how far numbers may be apart",
        },
        params::whole("slots", 1e5, (1.0, 1e9), "slots of the run"),
    ],
    outputs: OUTPUTS,
    axis: "loss",
    simulated: true,
    slow: true,
    paper: None,
    evaluate,
    trace: None,
};

const OUTPUTS: &[Quantity] = &[
    quantity("efficiency", "", "share of slots whose frame the receiver took"),
    quantity("taken", "frames", "frames that the receiver took"),
    quantity("sent", "frames", "frames sent, repetitions included"),
    quantity("lost", "frames", "frames lost by the channel"),
];

/// A sender: asked in every slot, told a round trip later.
trait Sender {
    /// The number of the frame that it sends in this slot.
    fn send(&mut self) -> Option<u64>;

    /// What became of a frame that it sent a round trip ago.
    fn learn(&mut self, frame: u64, taken: bool);
}

/// The receiver: takes what it can use.
struct Receiver {
    next: u64,
    in_order: bool,
}

impl Receiver {
    fn takes(&mut self, frame: u64) -> bool {
        let takes = !self.in_order || frame == self.next;
        self.next += u64::from(takes);
        takes
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    taken: u64,
    sent: u64,
    lost: u64,
}

/// Runs a sender for so many slots; `delay` is that from a frame to its acknowledgement.
fn run(sender: &mut dyn Sender, receiver: &mut Receiver, delay: usize, slots: u64, mut loses: impl FnMut() -> bool) -> Counts {
    let mut counts = Counts::default();
    let mut under_way: VecDeque<Option<(u64, bool)>> = vec![None; delay].into();
    for _ in 0..slots {
        if let Some(Some((frame, taken))) = under_way.pop_front() {
            sender.learn(frame, taken);
        }
        let outcome = sender.send().map(|frame| {
            let lost = loses();
            let taken = !lost && receiver.takes(frame);
            counts.sent += 1;
            counts.lost += u64::from(lost);
            counts.taken += u64::from(taken);
            (frame, taken)
        });
        under_way.push_back(outcome);
    }
    counts
}

fn evaluate(params: &Params) -> Result<Vec<f64>, String> {
    let (loss, slots) = (params.number("loss"), params.number("slots"));
    let delay = 1.0 + 2.0 * params.number("a");
    if delay.fract() != 0.0 {
        return Err(format!("a is {}, but 2a must be a whole number of slots", params.number("a")));
    }
    let mut random = Generator::derived(params.number("seed") as u64, &format!("arq/loss/{:016x}", loss.to_bits()));
    let window = params.number("window") as u64;
    let scheme = params.word("scheme");
    let mut sender: Box<dyn Sender> = match scheme {
        "stop_and_wait" => Box::new(StopAndWait::default()),
        "go_back_n" => Box::new(GoBackN::new(window)),
        _ => Box::new(SelectiveRepeat::new(window, params.word("span") == "sequence")),
    };
    let mut receiver = Receiver { next: 0, in_order: scheme != "selective_repeat" };
    let counts = run(&mut *sender, &mut receiver, delay as usize, slots as u64, || random.uniform() < loss);
    let [taken, sent, lost] = [counts.taken, counts.sent, counts.lost].map(|count| count as f64);
    Ok(vec![taken / slots, taken, sent, lost])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytic::{compute, pick, sliding_window, with};
    use crate::params::Value;

    const SCHEMES: [&str; 3] = ["stop_and_wait", "go_back_n", "selective_repeat"];

    /// Frames sent in each slot, when the n-th one sent is lost for every n in `lost`.
    fn frames(sender: &mut dyn Sender, in_order: bool, delay: usize, slots: u64, lost: &[usize]) -> (Vec<Option<u64>>, Counts) {
        struct Watched<'a>(&'a mut dyn Sender, Vec<Option<u64>>);
        impl Sender for Watched<'_> {
            fn send(&mut self) -> Option<u64> {
                let frame = self.0.send();
                self.1.push(frame);
                frame
            }
            fn learn(&mut self, frame: u64, taken: bool) {
                self.0.learn(frame, taken);
            }
        }
        let (mut watched, mut count) = (Watched(sender, Vec::new()), 0);
        let counts = run(&mut watched, &mut Receiver { next: 0, in_order }, delay, slots, || {
            count += 1;
            lost.contains(&(count - 1))
        });
        (watched.1, counts)
    }

    #[test]
    fn sequences_by_hand() {
        let some = |frames: &[i64]| frames.iter().map(|&frame| u64::try_from(frame).ok()).collect::<Vec<_>>();
        // A round trip of 3 slots; the second frame sent is lost.
        let (sent, counts) = frames(&mut StopAndWait::default(), true, 3, 10, &[1]);
        assert_eq!((sent, counts.taken), (some(&[0, -1, -1, 1, -1, -1, 1, -1, -1, 2]), 3));
        let (sent, counts) = frames(&mut GoBackN::new(4), true, 3, 10, &[1]);
        assert_eq!((sent, counts.taken), (some(&[0, 1, 2, 3, 1, 2, 3, 4, 5, 6]), 7));
        let (sent, counts) = frames(&mut GoBackN::new(2), true, 3, 10, &[1]);
        assert_eq!((sent, counts.taken), (some(&[0, 1, -1, 2, 1, 2, -1, 3, 4, -1]), 5));
        let (sent, counts) = frames(&mut SelectiveRepeat::new(4, false), false, 3, 10, &[1]);
        assert_eq!((sent, counts.taken), (some(&[0, 1, 2, 3, 1, 4, 5, 6, 7, 8]), 9));
        let (sent, counts) = frames(&mut SelectiveRepeat::new(3, true), false, 3, 10, &[1]);
        assert_eq!((sent, counts.taken), (some(&[0, 1, 2, 3, 1, -1, -1, 4, 5, 6]), 7));
    }

    fn sample(scheme: &str, settings: &[(&str, f64)], span: &str) -> (f64, f64) {
        let values: Vec<f64> = (1..=24)
            .map(|seed| {
                let mut params = with(&ENTRY, &[settings, &[("seed", f64::from(seed))]].concat());
                params.set("scheme", Value::Word(scheme.to_owned()));
                params.set("span", Value::Word(span.to_owned()));
                pick(&ENTRY, &params, "efficiency")
            })
            .collect();
        let mean = values.iter().sum::<f64>() / 24.0;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 23.0;
        (mean, (variance / 24.0).sqrt())
    }

    #[test]
    fn senders_are_as_efficient_as_the_closed_forms_say() {
        for (loss, a, window) in
            [(0.1, 2.0, 3.0), (0.1, 2.0, 5.0), (0.01, 10.0, 7.0), (0.02, 10.0, 40.0), (0.4, 0.5, 2.0), (0.3, 0.0, 1.0), (0.3, 3.0, 6.0)]
        {
            let slots = 50_000.0;
            let settings = [("loss", loss), ("a", a), ("window", window)];
            for scheme in SCHEMES {
                let (mean, error) = sample(scheme, &[&settings[..], &[("slots", slots)]].concat(), "outstanding");
                let exact = compute(&sliding_window::ENTRY, &settings, if scheme == "go_back_n" { "go_back_n_exact" } else { scheme });
                // The last cycle may be cut off.
                let bound = 4.5 * error + (1.0 + 2.0 * a) / slots;
                assert!((mean - exact).abs() < bound, "{scheme}, p = {loss}, a = {a}, W = {window}: {mean} ± {error}, not {exact}");
                assert!(bound < 0.01, "{bound}");
            }
        }
    }

    #[test]
    fn without_loss_they_are_exact() {
        for scheme in SCHEMES {
            let mut params = with(&ENTRY, &[("loss", 0.0), ("a", 2.0), ("window", 3.0), ("slots", 5000.0)]);
            params.set("scheme", Value::Word(scheme.to_owned()));
            let exact = compute(&sliding_window::ENTRY, &[("loss", 0.0), ("a", 2.0), ("window", 3.0)], scheme);
            assert_eq!(pick(&ENTRY, &params, "efficiency"), exact, "{scheme}");
        }
    }

    #[test]
    fn a_window_of_numbers_waits_for_the_oldest_frame() {
        let settings = [("loss", 0.1), ("a", 10.0), ("window", 21.0), ("slots", 50_000.0)];
        let (free, bound) = (sample("selective_repeat", &settings, "outstanding"), sample("selective_repeat", &settings, "sequence"));
        assert!(bound.0 + 10.0 * bound.1 < free.0, "{bound:?}, {free:?}");
        let wide = [&settings[..2], &[("window", 2000.0), ("slots", 50_000.0)]].concat();
        let (mean, error) = sample("selective_repeat", &wide, "sequence");
        assert!((mean - 0.9).abs() < 4.5 * error + 1e-3, "{mean}");
    }

    #[test]
    fn half_a_slot_is_refused() {
        let params = with(&ENTRY, &[("a", 0.3)]);
        assert!(evaluate(&params).unwrap_err().contains("2a must be a whole number"));
    }
}
