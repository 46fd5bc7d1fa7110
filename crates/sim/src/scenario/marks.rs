//! The marks of a text of TOML or JSON: what shows, without a tree, how much the text holds. A wrong text has marks too.

/// A mark. Texts in quotes and comments have no marks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A word, a text, a comment or a run of spaces.
    Word,
    /// A word or text in brackets without a `,` before it: wrong, but a reader takes it for a value.
    Extra,
    /// `=`, or `:` in JSON: an entry of a table.
    Entry,
    /// `,`: an item of a list or an entry of a table.
    Item,
    /// `.` in a key: a table.
    Step,
    /// `[` of a list.
    List,
    /// `{`.
    Table,
    /// `[` at the start of a header, `[[` as one mark.
    Header,
    /// `]`, `}`, or a `.` in a number.
    Other,
    /// The end of a line.
    Line,
}

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

/// Reads a text from mark to mark.
#[derive(Debug)]
pub(crate) struct Marks<'a> {
    bytes: &'a [u8],
    at: usize,
    language: Language,
    /// The open brackets that are no headers: whether each is a table.
    open: Vec<bool>,
    /// Whether a key may stand here.
    key: bool,
    /// Whether this line is a header.
    header: bool,
    /// Whether a value stands here already, so that a further word is an extra one.
    full: bool,
}

impl<'a> Marks<'a> {
    /// The marks of `text`.
    pub(crate) fn new(text: &'a str, language: Language) -> Self {
        Self { bytes: text.as_bytes(), at: 0, language, open: Vec::new(), key: language == Language::Toml, header: false, full: false }
    }
}

impl Iterator for Marks<'_> {
    /// The place of a mark, in bytes, and the mark.
    type Item = (usize, Mark);

    fn next(&mut self) -> Option<Self::Item> {
        let (bytes, at, json) = (self.bytes, self.at, self.language == Language::Json);
        let byte = *bytes.get(at)?;
        self.at += 1;
        let full = self.full;
        self.full = match byte {
            b'=' | b':' | b',' | b'.' | b'[' | b'{' => false,
            b'\n' | b' ' | b'\t' | b'\r' | b'#' => full,
            _ => true,
        };
        let mark = match byte {
            b'\n' => {
                if self.open.is_empty() {
                    (self.key, self.header) = (!json, false);
                }
                Mark::Line
            }
            b'=' => {
                self.key = false;
                Mark::Entry
            }
            b':' if json => Mark::Entry,
            b',' => {
                self.key = !json && self.open.last() == Some(&true);
                Mark::Item
            }
            b'.' if self.key => Mark::Step,
            b'[' if self.header => Mark::Other,
            b'[' if self.key && self.open.is_empty() => {
                self.header = true;
                self.at += usize::from(bytes.get(at + 1) == Some(&b'['));
                Mark::Header
            }
            b'[' => {
                self.open.push(false);
                self.key = false;
                Mark::List
            }
            b'{' => {
                self.open.push(true);
                self.key = !json;
                Mark::Table
            }
            b']' | b'}' => {
                if !self.header {
                    self.open.pop();
                    self.key = false;
                }
                Mark::Other
            }
            b'.' => Mark::Other,
            b'#' if !json => self.word(end_of_line(bytes, at)),
            b'"' | b'\'' => self.value(end_of_text(bytes, at), full),
            b' ' | b'\t' => self.run(|byte| matches!(byte, b' ' | b'\t')),
            b'\r' => Mark::Word,
            _ => {
                self.run(|byte| {
                    !matches!(
                        byte,
                        b'\n' | b'=' | b':' | b',' | b'.' | b'[' | b']' | b'{' | b'}' | b'#' | b'"' | b'\'' | b' ' | b'\t' | b'\r'
                    )
                });
                self.value(self.at, full)
            }
        };
        Some((at, mark))
    }
}

impl Marks<'_> {
    fn word(&mut self, end: usize) -> Mark {
        self.at = end.max(self.at);
        Mark::Word
    }

    /// A word or text that ends at `end`.
    fn value(&mut self, end: usize, full: bool) -> Mark {
        self.word(end);
        if full && !self.open.is_empty() { Mark::Extra } else { Mark::Word }
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> Mark {
        let length = self.bytes[self.at..].iter().take_while(|byte| belongs(**byte)).count();
        self.word(self.at + length)
    }
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

    /// The marks other than words, a letter each.
    fn found(text: &str, language: Language) -> String {
        let letter = |(_, mark): (usize, Mark)| match mark {
            Mark::Word => None,
            Mark::Extra => Some('x'),
            Mark::Entry => Some('='),
            Mark::Item => Some(','),
            Mark::Step => Some('.'),
            Mark::List => Some('['),
            Mark::Table => Some('{'),
            Mark::Header => Some('H'),
            Mark::Other => Some('o'),
            Mark::Line => Some('|'),
        };
        Marks::new(text, language).filter_map(letter).collect()
    }

    #[test]
    fn marks_of_toml() {
        for (text, marks) in [
            ("", ""),
            ("a = 1\nb = 2", "=|="),
            ("a = [1, 2.5, 3]", "=[,o,o"),
            ("a.b.c = 1.5\nd = 0.5", "..=o|=o"),
            ("[a.b]\n[[a . c]]\n x = []", "H.o|H.oo|=[o"),
            ("a = { b.c = 1.0, d.e = [{ f.g = 2.0 }] }", "={.=o,.=[{.=oooo"),
            ("a = [\n[1.5],\n]\n[b]", "=[|[oo,|o|Ho"),
            ("# , , ,\na = 1", "|="),
            ("a = ', , \\' # , ,\nb = ', ,", "=|="),
            ("a = \"\\\", , ,\" , ,", "=,,"),
            ("a = \"\"\", \n, \"\n\\\"\"\", \"\"\" , , ,", "=,,,"),
            ("a = ''', ' , ''' , ,", "=,,"),
            ("a = \"\"\"", "="),
            ("a = \"", "="),
            ("\"\\", ""),
            ("a = [1 2.5 'x'\n3, # 4\n5] 6", "=[xox|x,|o"),
            ("]}a.b=1", "ooo="),
        ] {
            assert_eq!(found(text, Language::Toml), marks, "{text}");
        }
    }

    #[test]
    fn marks_of_json() {
        assert_eq!(found("{\"a.b\": [1.5, {\"c\": \"x, y\"}],\n\"#\": 1}", Language::Json), "{=[o,{=oo,|=o");
        assert_eq!(found("[[], {}]", Language::Json), "[[o,{oo");
    }

    proptest! {
        #[test]
        fn marks_follow_each_other(text in "[\"'\\\\\\n#=,.:\\[\\]{}a µ]{0,60}", json: bool) {
            let language = if json { Language::Json } else { Language::Toml };
            let places: Vec<usize> = Marks::new(&text, language).map(|(at, _)| at).collect();
            prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(places.last().is_none_or(|last| *last < text.len()));
            prop_assert_eq!(places.first(), (!text.is_empty()).then_some(&0));
        }
    }
}
