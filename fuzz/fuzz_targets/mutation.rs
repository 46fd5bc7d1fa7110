//! Without libFuzzer: reads files again, or mutates example texts at random: deletes and repeats lines, and replaces words and numbers.

use std::time::{Duration, Instant};

use ackclock_core::rng::Generator;

/// Numbers that tend to cause errors.
const NUMBERS: [&str; 12] =
    ["0", "1", "-1", "0.5", "1e-9", "1e15", "1e400", "nan", "65495", "4294967295", "9223372036854775807", "18446744073709551616"];

/// Reads the files of the arguments once, such as an input that libFuzzer has stored.
#[allow(dead_code, reason = "targets whose inputs are no texts")]
pub(crate) fn replay() {
    for path in std::env::args().skip(1) {
        super::exercise(&std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")));
    }
}

/// Mutates the files of the arguments; the first argument is the duration in seconds.
#[allow(dead_code, reason = "targets whose inputs are texts")]
#[expect(clippy::disallowed_methods, reason = "the duration of a campaign is wall-clock time")]
pub(crate) fn main() {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: TARGET SECONDS FILE...";
    let seconds = arguments.next().and_then(|text| text.parse().ok()).expect(usage);
    let examples: Vec<String> =
        arguments.map(|path| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))).collect();
    assert!(!examples.is_empty(), "{usage}");
    for example in &examples {
        super::exercise(example.as_bytes());
    }
    let words: Vec<&str> = examples.iter().flat_map(|example| pieces(example)).collect();
    let mut random = Generator::derived(1, "fuzz");
    let (start, mut count) = (Instant::now(), 0_u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let example: &String = pick(&examples, &mut random);
        let text = mutate(example, &words, &mut random);
        let survived = std::panic::catch_unwind(|| super::exercise(text.as_bytes())).is_ok();
        assert!(survived, "this text causes a panic:\n{text}");
        count += 1;
    }
    println!("{count} texts in {seconds} s without a panic");
}

fn below(limit: usize, random: &mut Generator) -> usize {
    (random.uniform() * limit as f64) as usize
}

fn pick<'a, T>(of: &'a [T], random: &mut Generator) -> &'a T {
    &of[below(of.len(), random)]
}

/// The words, numbers, blanks and symbols of a text.
fn pieces(text: &str) -> Vec<&str> {
    let class = |c: char| {
        if c.is_alphabetic() || c == '_' {
            0
        } else if c.is_ascii_digit() || c == '.' {
            1
        } else {
            c as u32
        }
    };
    let mut rest = text;
    let mut pieces = Vec::new();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| class(c) != class(first)).unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

/// Changes up to four pieces or lines of `text`.
fn mutate(text: &str, words: &[&str], random: &mut Generator) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=below(4, random) {
        if lines.is_empty() {
            break;
        }
        let line = below(lines.len(), random);
        match below(8, random) {
            0 => drop(lines.remove(line)),
            1 => lines.insert(below(lines.len(), random), lines[line].clone()),
            _ => {
                let mut parts = pieces(&lines[line]);
                let Some(index) = (!parts.is_empty()).then(|| below(parts.len(), random)) else { continue };
                let number = parts[index].starts_with(|c: char| c.is_ascii_digit());
                parts[index] = if number && random.uniform() < 0.8 { *pick(&NUMBERS, random) } else { *pick(words, random) };
                lines[line] = parts.concat();
            }
        }
    }
    lines.join("\n")
}
