//! The functions of `bpf/functions.h` over their whole ranges, against 64-bit floating point.

use crate::program::values;

const ONE: f64 = 4_294_967_296.0;

/// `count` numbers from `first` to `last`, as raw fixed-point numbers.
fn raw(first: f64, last: f64, count: u32) -> Vec<i64> {
    (0..=count).map(|index| ((first + (last - first) * f64::from(index) / f64::from(count)) * ONE).round() as i64).collect()
}

#[test]
fn the_exponential() {
    let mut numbers = raw(-25.0, 25.0, 400_000);
    // Around zero, around the ends, and at multiples of ln 2, where the whole power of two changes.
    let changes = (-33..=30).map(|power| (f64::from(power) * std::f64::consts::LN_2 * ONE) as i64);
    let ends = [-23.0, 0.0, 30.0 * std::f64::consts::LN_2].map(|end| (end * ONE) as i64);
    numbers.extend(changes.chain(ends).flat_map(|near| near - 5..=near + 5));
    let results = values(numbers.iter().map(|number| format!("exponential {number}")));
    for (number, result) in numbers.into_iter().zip(results) {
        let (exact, result) = ((number as f64 / ONE).exp().min(ONE / 4.0), result as f64 / ONE);
        let bound = if number < 0 { 3.0 / ONE } else { 2e-9 * exact };
        assert!((result - exact).abs() <= bound, "e^{}: {result} instead of {exact}", number as f64 / ONE);
    }
}

#[test]
fn the_logarithm() {
    // Every power of two with its neighbours, and numbers in between.
    let powers = (0..62).flat_map(|power| [(1_i64 << power) - 1, 1 << power, (1 << power) + 1]).filter(|&number| number > 0);
    let between = raw(-22.0, 21.0, 400_000).into_iter().map(|power| ((power as f64 / ONE).exp() * ONE) as i64);
    let numbers: Vec<i64> = powers.chain(between).collect();
    let results = values(numbers.iter().map(|number| format!("logarithm {number}")));
    for (number, result) in numbers.into_iter().zip(results) {
        let (x, result) = (number as f64 / ONE, result as f64 / ONE);
        assert!((result - x.ln()).abs() <= 2.5e-9, "ln {x}: {result} instead of {}", x.ln());
    }
    assert_eq!(values(["logarithm 4294967296".to_owned()].into_iter()), [0], "ln 1");
}

#[test]
fn the_quotient_of_large_numbers() {
    // Numbers of all sizes with a quotient below 2^31.
    let all: Vec<u64> = (0..63).flat_map(|bits| [1_u64 << bits, (1 << bits) + (1 << bits) / 3 + 1, (2 << bits) - 1]).collect();
    let pairs: Vec<(u64, u64)> = all
        .iter()
        .flat_map(|&above| all.iter().map(move |&below| (above, below)))
        .filter(|(above, below)| above / below < 1 << 31)
        .collect();
    let results = values(pairs.iter().map(|(above, below)| format!("quotient {above} {below}")));
    for ((above, below), result) in pairs.into_iter().zip(results) {
        let exact = (u128::from(above) << 32) / u128::from(below);
        let error = exact as f64 - result as f64;
        // The bits of a large divisor, and of its dividend, that do not count.
        let bound = if below < 1 << 32 { 0.0 } else { 17.0 + exact as f64 / 2_f64.powi(28) };
        assert!(error.abs() <= bound, "{above}/{below}: {result} instead of {exact}");
    }
}
