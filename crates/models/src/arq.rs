//! ARQ: stop-and-wait, Go-Back-N and selective repeat over a lossy channel, by simulation.
//! ## What it does
//! Time is divided into slots of one frame. In each slot the sender may send a frame, which is lost with probability p; 1 + 2a slots later
//! the sender learns whether the receiver accepted it. The model counts the slots with accepted frames.
//! ## References
//! Tanenbaum & Wetherall, *Computer networks*, 5th edition, §3.4; Preveze 2019, §1, names the three schemes. The model `sliding_window` has
//! the closed forms.
//! ## Differs from the document
//! Acknowledgements are never lost. A timer that expires exactly when the acknowledgement is due replaces negative acknowledgements. 2a is
//! a whole number.
//!
//! The closed forms hold exactly in this model, with two exceptions. Go-Back-N with a window below 1 + 2a matches `go_back_n_exact`, not
//! the textbook's form. The form for selective repeat limits the number of unacknowledged frames; `span = "sequence"` requires them to lie
//! within W of the oldest one. Such a sender waits if the oldest frame is lost, and is slower.
//! ## Parameters
//! `loss`: 1 %. `seed`: 1. `scheme`: selective repeat. `a`: 10 and `window`: 7, as in `sliding_window`. `span`: outstanding, as in the
//! textbooks. `slots`: 100000.

mod go_back_n;
mod selective_repeat;
mod sender;
mod stop_and_wait;

use std::collections::VecDeque;

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_core::rng::Generator;

use self::go_back_n::GoBackN;
use self::selective_repeat::SelectiveRepeat;
use self::sender::Sender;
use self::stop_and_wait::StopAndWait;
use crate::{Model, params};

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
            doc: "retransmission scheme",
        },
        params::plain("a", 10.0, (0.0, 1e6), "one-way delay of the path, in frame times; 2a must be whole"),
        params::whole("window", 7.0, (1.0, 1e6), "frames that may be unacknowledged; stop-and-wait has one"),
        Param {
            name: "span",
            kind: Kind::Word(&["outstanding", "sequence"]),
            default: Default::Word("outstanding"),
            doc: "limit of the window in selective repeat: number of unacknowledged frames, or range of their sequence numbers",
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
    quantity("efficiency", "", "share of slots with an accepted frame"),
    quantity("taken", "frames", "frames accepted by the receiver"),
    quantity("sent", "frames", "frames sent, including retransmissions"),
    quantity("lost", "frames", "frames lost by the channel"),
];

/// The receiver: accepts every frame, or only the next one in order.
struct Receiver {
    next: u64,
    in_order: bool,
}

impl Receiver {
    fn accepts(&mut self, frame: u64) -> bool {
        let accepts = !self.in_order || frame == self.next;
        self.next += u64::from(accepts);
        accepts
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    accepted: u64,
    sent: u64,
    lost: u64,
}

/// Runs a sender for `slots`; `delay` is the number of slots from a frame to its acknowledgement.
fn run(sender: &mut dyn Sender, receiver: &mut Receiver, delay: usize, slots: u64, mut loses: impl FnMut() -> bool) -> Counts {
    let mut counts = Counts::default();
    let mut under_way: VecDeque<Option<(u64, bool)>> = vec![None; delay].into();
    for _ in 0..slots {
        if let Some(Some((frame, accepted))) = under_way.pop_front() {
            sender.on_result(frame, accepted);
        }
        let outcome = sender.send().map(|frame| {
            let lost = loses();
            let accepted = !lost && receiver.accepts(frame);
            counts.sent += 1;
            counts.lost += u64::from(lost);
            counts.accepted += u64::from(accepted);
            (frame, accepted)
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
    let [accepted, sent, lost] = [counts.accepted, counts.sent, counts.lost].map(|count| count as f64);
    Ok(vec![accepted / slots, accepted, sent, lost])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sliding_window;
    use crate::testing::{compute, pick, with};
    use ackclock_core::params::Value;

    const SCHEMES: [&str; 3] = ["stop_and_wait", "go_back_n", "selective_repeat"];

    /// The frame sent in each slot if the n-th transmission is lost for every n in `lost`.
    fn frames(sender: &mut dyn Sender, in_order: bool, delay: usize, slots: u64, lost: &[usize]) -> (Vec<Option<u64>>, Counts) {
        struct Watched<'a>(&'a mut dyn Sender, Vec<Option<u64>>);
        impl Sender for Watched<'_> {
            fn send(&mut self) -> Option<u64> {
                let frame = self.0.send();
                self.1.push(frame);
                frame
            }
            fn on_result(&mut self, frame: u64, accepted: bool) {
                self.0.on_result(frame, accepted);
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
        // A round trip takes 3 slots; the second frame sent is lost.
        let (sent, counts) = frames(&mut StopAndWait::default(), true, 3, 10, &[1]);
        assert_eq!((sent, counts.accepted), (some(&[0, -1, -1, 1, -1, -1, 1, -1, -1, 2]), 3));
        let (sent, counts) = frames(&mut GoBackN::new(4), true, 3, 10, &[1]);
        assert_eq!((sent, counts.accepted), (some(&[0, 1, 2, 3, 1, 2, 3, 4, 5, 6]), 7));
        let (sent, counts) = frames(&mut GoBackN::new(2), true, 3, 10, &[1]);
        assert_eq!((sent, counts.accepted), (some(&[0, 1, -1, 2, 1, 2, -1, 3, 4, -1]), 5));
        let (sent, counts) = frames(&mut SelectiveRepeat::new(4, false), false, 3, 10, &[1]);
        assert_eq!((sent, counts.accepted), (some(&[0, 1, 2, 3, 1, 4, 5, 6, 7, 8]), 9));
        let (sent, counts) = frames(&mut SelectiveRepeat::new(3, true), false, 3, 10, &[1]);
        assert_eq!((sent, counts.accepted), (some(&[0, 1, 2, 3, 1, -1, -1, 4, 5, 6]), 7));
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
                // The end of the run may cut off the last cycle.
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
