//! How much a text holds: counted before its tree is built, which takes up to 370 bytes for each value.

use ackclock_core::limits;

use crate::scenario::error::{Origin, Problems};

/// Adds a problem if a text of TOML has too many values or lines; returns whether it does.
pub(crate) fn is_too_much(text: &str, problems: &mut Problems) -> bool {
    let (found, most) = (values(text), limits::VALUES.most);
    if found > most {
        let advice = "write equal flows as one, with count";
        problems.add(&Origin::Nowhere, "", format!("has about {found} values or lines; the limit is {most}: {advice}"));
    }
    found > most
}

/// About the number of values or lines: the largest number of a kind of mark outside of texts and comments.
fn values(text: &str) -> u64 {
    let (bytes, mut at) = (text.as_bytes(), 0);
    let [mut entries, mut items, mut steps, mut groups, mut lines] = [0_u64; 5];
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'=' => entries += 1,
            b',' => items += 1,
            b'.' => steps += 1,
            b'[' | b'{' => groups += 1,
            b'\n' => lines += 1,
            b'#' => at = end_of_line(bytes, at) - 1,
            b'"' | b'\'' => at = end_of_text(bytes, at) - 1,
            _ => {}
        }
        at += 1;
    }
    [entries, items, steps, groups, lines].into_iter().fold(0, u64::max)
}

/// The place of the next end of a line.
fn end_of_line(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| from + length)
}

/// The place after the text whose quote is at `from`; a text in single quotes has no escapes.
fn end_of_text(bytes: &[u8], from: usize) -> usize {
    let quote = bytes[from];
    let long = bytes[from..].starts_with(&[quote; 3]);
    let mut at = from + if long { 3 } else { 1 };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\n' if !long => return at,
            byte if *byte == quote && (!long || bytes[at..].starts_with(&[quote; 3])) => return at + if long { 3 } else { 1 },
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_in_texts_and_comments_are_no_values() {
        for (text, found) in [
            ("", 0),
            ("a = 1\nb = 2", 2),
            ("a = [1, 2, 3]", 2),
            ("a.b.c.d = 1", 3),
            ("# , , ,\na = 1", 1),
            ("a = ', , \\' # , ,\nb = ', ,", 2),
            ("a = \"\\\", , ,\" , ,", 2),
            ("a = \"\"\", \n, \"\n\\\"\"\", \"\"\" , , ,", 3),
            ("a = ''', ' , ''' , ,", 2),
            ("a = \"\"\"", 1),
            ("a = \"", 1),
            ("\"\\", 0),
        ] {
            assert_eq!(values(text), found, "{text}");
        }
    }

    #[test]
    fn a_text_with_too_many_values_is_refused() {
        let list = format!("a = [{}]", "1,".repeat(limits::VALUES.most as usize));
        let mut problems = Problems::default();
        assert!(!is_too_much(&list, &mut problems));
        assert!(is_too_much(&format!("{list}\nb = [1, 2]"), &mut problems));
        assert!(!problems.is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_a_number(text in "[\"'\\\\\\n#=,.\\[{a]{0,60}") {
            assert!(values(&text) <= text.len() as u64);
        }
    }
}
