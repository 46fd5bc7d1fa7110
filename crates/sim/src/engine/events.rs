//! The event queue. Keys order events by time, time of determination, turn and subject; events wait in fixed places and in a 4-ary heap.
//!
//! An event is one 128-bit number, so that comparing events is comparing numbers. Among events at the same time, the one determined first
//! comes first, as in ns-2's order of insertion: see [`Moment`]. For packets whose transmissions start at the same time, the [`Turn`] gives
//! their order.

use std::hint::select_unpredictable;

use ackclock_core::units::{Instant, Moment};
use ackclock_host::Side;

use crate::net::turn::Turn;

/// Bits of a key for the subject.
const SUBJECT_BITS: u32 = 26;
/// Spans between the determination of an event and its time, in seconds. Below 2⁻³² a span counts as zero, and above 2³² all spans are
/// equal. In between, a key stores seven digits.
const SPANS: (f32, f32) = (1.0 / 4_294_967_296.0, 4_294_967_040.0);
/// Largest number of subjects.
pub(crate) const MAX_SUBJECTS: usize = 1 << SUBJECT_BITS;
const ARITY: usize = 4;
/// Largest number of subjects with a place outside the heap.
const MAX_PLACES: usize = 12;
/// The place of a subject without one.
const NO_PLACE: u8 = u8::MAX;
/// The place of an event in the heap.
const HEAP: usize = NO_PLACE as usize;

/// The subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The link whose queue chooses a packet to send.
    Link(usize),
    /// The pipe whose first packet arrives.
    Pipe(usize),
    /// The timer of one end of a flow.
    Timer {
        /// The flow.
        flow: usize,
        /// Its end.
        side: Side,
    },
    /// The application with a timeout.
    Application(usize),
    /// The first notice in flight.
    Notice,
    /// The first packet to arrive on a wire on which packets overtake. Each of its packets has an event.
    Wire(usize),
    /// The medium on which stations send.
    Medium(usize),
}

/// The numbers of subjects in keys. Among events at the same time that were also determined at the same time, the lower number comes first.
/// Links thus come before arrivals, as with first-in, first-out queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subjects {
    /// The first number of pipes, timers and applications, that of notices, and the first one of media.
    pipes: usize,
    timers: usize,
    applications: usize,
    notice: usize,
    media: usize,
}

impl Subjects {
    /// Numbers for the given counts of subjects. `Err`: the total, if it is too large.
    pub(crate) fn new(
        (links, pipes, wires, media): (usize, usize, usize, usize),
        flows: usize,
        applications: usize,
    ) -> Result<Self, usize> {
        let (timers, notice) = (links + pipes, links + pipes + 2 * flows + applications);
        let subjects = Self { pipes: links, timers, applications: timers + 2 * flows, notice, media: notice + 1 + wires };
        let count = subjects.media + media;
        if count <= MAX_SUBJECTS { Ok(subjects) } else { Err(count) }
    }

    /// The number of a subject.
    #[inline]
    pub(crate) const fn encode(&self, subject: Subject) -> usize {
        match subject {
            Subject::Link(link) => link,
            Subject::Pipe(pipe) => self.pipes + pipe,
            Subject::Timer { flow, side } => self.timers + 2 * flow + side.index(),
            Subject::Application(application) => self.applications + application,
            Subject::Notice => self.notice,
            Subject::Wire(wire) => self.notice + 1 + wire,
            Subject::Medium(medium) => self.media + medium,
        }
    }

    /// The subject with this number.
    pub(crate) const fn decode(&self, number: usize) -> Subject {
        if number < self.pipes {
            Subject::Link(number)
        } else if number < self.timers {
            Subject::Pipe(number - self.pipes)
        } else if number < self.applications {
            let timer = number - self.timers;
            Subject::Timer { flow: timer / 2, side: if timer.is_multiple_of(2) { Side::Sender } else { Side::Receiver } }
        } else if number < self.notice {
            Subject::Application(number - self.applications)
        } else if number == self.notice {
            Subject::Notice
        } else if number < self.media {
            Subject::Wire(number - self.notice - 1)
        } else {
            Subject::Medium(number - self.media)
        }
    }

    /// The key of an event other than an arrival.
    pub(crate) fn key(&self, moment: Moment, subject: Subject) -> Key {
        let turn = if let Subject::Link(_) = subject { Turn::FIRST } else { Turn::LAST };
        Key::new(moment, turn, self.encode(subject))
    }

    /// The key of a packet's arrival at the end of a pipe or wire; `turn` is that of its transmission.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `launch`")]
    pub(crate) fn arrival(&self, moment: Moment, turn: Turn, at: Subject) -> Key {
        Key::new(moment, turn, self.encode(at))
    }
}

/// An event's position in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u128);

impl Key {
    /// Later than every event.
    const NEVER: Self = Self(((f64::INFINITY.to_bits() as u128) << 64) | u64::MAX as u128);

    /// An event at this moment for the subject with this number.
    fn new(moment: Moment, turn: Turn, number: usize) -> Self {
        let span = (moment.at.as_secs_f64() - moment.since.as_secs_f64()) as f32;
        let span = if span > SPANS.0 { span } else { SPANS.0 };
        let span = if span < SPANS.1 { span } else { SPANS.1 };
        // The earlier an event was determined, the sooner it comes. The bits of positive numbers have the order of the numbers.
        let order = u64::from(SPANS.1.to_bits() - span.to_bits()) << Turn::BITS | turn.number();
        Self(u128::from(moment.at.to_bits()) << 64 | u128::from(order << SUBJECT_BITS | number as u64))
    }

    /// Time of the event.
    pub(crate) const fn time(self) -> Instant {
        Instant::from_bits((self.0 >> 64) as u64)
    }

    /// Number of its subject.
    pub(crate) const fn number(self) -> usize {
        (self.0 as u64 & ((1 << SUBJECT_BITS) - 1)) as usize
    }
}

/// Future events, earliest first.
///
/// Most events belong to a few lanes and scheduled links, each with one event at a time. They have fixed places, which are compared with
/// each other and with the earliest event of a heap. This is cheaper than sifting them through a heap of timers that seldom expire.
///
/// The earliest event is found when the one before it leaves, not when it is asked for: the comparisons then run beside the work on that
/// event instead of before it.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The earliest event, or [`Key::NEVER`].
    next: Key,
    /// Its place, or [`HEAP`].
    at: usize,
    /// The place of each subject by its number, or [`NO_PLACE`]. Subjects with higher numbers have none.
    place_of: Vec<u8>,
    /// The event of each place, or [`Key::NEVER`]; their number is a multiple of [`ARITY`].
    places: Vec<Key>,
    heap: Vec<Key>,
}

impl EventQueue {
    /// An empty queue. `frequent` are the numbers of subjects with one event at a time, the first of which get places.
    pub(crate) fn new(frequent: impl Iterator<Item = usize>) -> Self {
        let mut queue = Self { next: Key::NEVER, at: HEAP, place_of: Vec::new(), places: Vec::new(), heap: Vec::new() };
        for number in frequent.take(MAX_PLACES) {
            queue.place_of.resize(queue.place_of.len().max(number + 1), NO_PLACE);
            queue.place_of[number] = queue.places.len() as u8;
            queue.places.push(Key::NEVER);
        }
        queue.places.resize(queue.places.len().next_multiple_of(ARITY), Key::NEVER);
        queue
    }

    /// The earliest event, or [`Key::NEVER`].
    pub(crate) fn peek(&self) -> Key {
        self.next
    }

    /// Finds the earliest event among all.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each event runs it once")]
    fn find(&mut self) {
        (self.next, self.at) = (self.heap.first().copied().unwrap_or(Key::NEVER), HEAP);
        let (fours, _) = self.places.as_chunks();
        let Some((first, others)) = fours.split_first() else { return };
        let (mut least, mut at) = earliest(first);
        for (begin, four) in (ARITY..).step_by(ARITY).zip(others) {
            let (key, place) = earliest(four);
            (least, at) = if key < least { (key, begin + place) } else { (least, at) };
        }
        // The heap's events are timers, which are seldom next.
        if least < self.next {
            (self.next, self.at) = (least, at);
        }
    }

    /// Adds an event. It replaces the event of a subject with a place.
    pub(crate) fn push(&mut self, key: Key) {
        let at = self.place_of.get(key.number()).map_or(HEAP, |&place| usize::from(place));
        match self.places.get_mut(at) {
            Some(place) => *place = key,
            None => self.rise(key),
        }
        if key < self.next {
            (self.next, self.at) = (key, at);
        } else if at == self.at && at != HEAP {
            self.find_again();
        }
    }

    /// Finds the earliest event after that of its place has moved.
    #[cold]
    fn find_again(&mut self) {
        self.find();
    }

    /// Adds an event to the heap.
    #[inline(never)]
    fn rise(&mut self, key: Key) {
        let mut hole = self.heap.len();
        self.heap.push(key);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = key;
    }

    /// Replaces the earliest event by the next one of the same subject, or removes it if there is none.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `find`")]
    pub(crate) fn replace(&mut self, next: Option<Key>) {
        if let Some(place) = self.places.get_mut(self.at) {
            *place = next.unwrap_or(Key::NEVER);
        } else if let Some(next) = next {
            self.sift(next);
        } else if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift(last);
        }
        self.find();
    }

    /// Replaces the earliest event of the heap by `key`: one sift instead of a pop and a push.
    #[inline(never)]
    fn sift(&mut self, key: Key) {
        let heap = self.heap.as_mut_slice();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let least = if let Some(four) = heap.get(first..).and_then(|children| children.first_chunk()) {
                earliest(four).1
            } else {
                let Some(children) = heap.get(first..).filter(|children| !children.is_empty()) else { break };
                (1..children.len()).fold(0, |least, child| if children[child] < children[least] { child } else { least })
            };
            let child = heap[first + least];
            if key <= child {
                break;
            }
            heap[hole] = child;
            hole = first + least;
        }
        heap[hole] = key;
    }
}

/// The earliest of four events, and its index.
fn earliest(four: &[Key; ARITY]) -> (Key, usize) {
    let [a, b, c, d] = four;
    // Which of them it is cannot be predicted: select, don't branch. The compiler branches where it could select a key in memory, so indices
    // are selected.
    let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
    let least = select_unpredictable(four[right] < four[left], right, left) % ARITY;
    (four[least], least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moment(at: u64, since: u64) -> Moment {
        Moment { at: Instant::from_nanos(at), since: Instant::from_nanos(since) }
    }

    /// All events, earliest first.
    fn drain(mut queue: EventQueue) -> Vec<Key> {
        let mut keys = Vec::new();
        while queue.peek() != Key::NEVER {
            keys.push(queue.peek());
            queue.replace(None);
        }
        keys
    }

    #[test]
    fn at_equal_times_what_was_determined_first_comes_first() {
        // Subjects 1 and 9 have fixed places.
        let mut queue = EventQueue::new([9, 1].into_iter());
        for (since, number) in [(6, 5), (2, 9), (7, 1), (2, 3)] {
            queue.push(Key::new(moment(7, since), Turn::FIRST, number));
        }
        let order: Vec<usize> = drain(queue).into_iter().map(Key::number).collect();
        assert_eq!(order, [3, 9, 5, 1]);
    }

    #[test]
    fn a_subject_with_a_place_has_one_event() {
        let mut queue = EventQueue::new([4].into_iter());
        for (time, number) in [(3, 4), (2, 7), (1, 4), (5, 7)] {
            queue.push(Key::new(moment(time, 0), Turn::FIRST, number));
        }
        let order: Vec<(u64, usize)> = drain(queue).into_iter().map(|key| (key.time().as_nanos(), key.number())).collect();
        assert_eq!(order, [(1, 4), (2, 7), (5, 7)]);
    }

    #[test]
    fn a_queue_without_events_says_never() {
        assert!(EventQueue::new([0].into_iter()).peek().time() >= Instant::MAX);
    }

    #[test]
    fn a_key_keeps_every_bit_of_the_time() {
        for secs in [0.0, 0.1 + 0.2, 12_345.678_9, f64::INFINITY] {
            let at = Instant::ZERO + ackclock_core::units::Duration::from_secs_f64(secs);
            assert_eq!(Key::new(Moment { at, since: Instant::ZERO }, Turn::LAST, 7).time(), at);
        }
    }

    #[test]
    fn numbers_become_the_subjects_that_they_were_made_of() {
        let subjects = Subjects::new((3, 5, 2, 2), 2, 2).unwrap();
        let timers = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(flow, side)| Subject::Timer { flow, side: Side::ALL[side] });
        let all = (0..3).map(Subject::Link).chain((0..5).map(Subject::Pipe)).chain(timers).chain((0..2).map(Subject::Application));
        let last = (0..2).map(Subject::Wire).chain((0..2).map(Subject::Medium));
        let all: Vec<Subject> = all.chain([Subject::Notice]).chain(last).collect();
        let numbers: Vec<usize> = all.iter().map(|&subject| subjects.encode(subject)).collect();
        assert_eq!(numbers, (0..all.len()).collect::<Vec<usize>>());
        assert_eq!(numbers.iter().map(|&number| subjects.decode(number)).collect::<Vec<Subject>>(), all);
        assert_eq!(subjects.key(moment(9, 4), Subject::Pipe(2)).number(), subjects.encode(Subject::Pipe(2)));
    }

    #[test]
    fn too_many_subjects_have_no_numbers() {
        assert!(Subjects::new((0, MAX_SUBJECTS - 3, 1, 1), 0, 0).is_ok());
        assert_eq!(Subjects::new((0, MAX_SUBJECTS - 2, 1, 1), 0, 0).unwrap_err(), MAX_SUBJECTS + 1);
    }

    proptest! {
        #[test]
        fn events_come_out_sorted(
            times in prop::collection::vec(0_u64..50, 1..200),
            replacements in prop::collection::vec(0_u64..100, 0..100),
            changes in prop::collection::vec((0..MAX_PLACES, 0_u64..100), 0..100),
            places in 0_usize..20,
        ) {
            // Every subject has one event and can have a place.
            let mut queue = EventQueue::new(0..places);
            for (number, &time) in times.iter().enumerate() {
                queue.push(Key::new(moment(time, 0), Turn::FIRST, number));
            }
            let mut expected: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
            for &time in &replacements {
                let earliest = queue.peek().number();
                expected[earliest].0 = time;
                queue.replace(Some(Key::new(moment(time, 0), Turn::FIRST, earliest)));
            }
            // An event of a subject with a place can move, also if it is the next one.
            for &(number, time) in changes.iter().filter(|change| change.0 < places.min(times.len())) {
                expected[number].0 = time;
                queue.push(Key::new(moment(time, 0), Turn::FIRST, number));
                prop_assert_eq!(Some(queue.peek().time().as_nanos()), expected.iter().map(|it| it.0).min());
            }
            expected.sort_unstable();
            let popped: Vec<(u64, usize)> = drain(queue).into_iter().map(|key| (key.time().as_nanos(), key.number())).collect();
            prop_assert_eq!(popped, expected);
        }
    }
}
