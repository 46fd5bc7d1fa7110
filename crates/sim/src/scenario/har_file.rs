//! HTTP Archives as they are written. Entries are read one by one, and only what a page needs is kept: a file takes little more memory than
//! its text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::scenario::text::{quoted, shortened};

/// Largest size of a message in a scenario, in bytes.
pub const LARGEST: u64 = 1_000_000_000_000_000;

/// What a scenario needs of an archive.
#[derive(Debug, Default)]
pub(super) struct Archive {
    /// Name of the first page.
    pub(super) first_page: Option<String>,
    /// The entries that crossed the network, in the order of the file.
    pub(super) loaded: Vec<Loaded>,
}

/// An entry that crossed the network.
#[derive(Debug)]
pub(super) struct Loaded {
    /// When the request started, in seconds since 1970.
    pub(super) started: f64,
    /// Its page.
    pub(super) page: Option<String>,
    /// Scheme, host and port of its URL. Objects with equal ones share connections.
    pub(super) host: String,
    /// Bytes of the request, if known, and of the response; or a message.
    pub(super) sizes: Result<(Option<u64>, u64), String>,
}

impl Archive {
    /// Reads a text of JSON.
    ///
    /// # Errors
    /// A message: the text is not JSON, or not an HTTP Archive.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let root: Root = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
            let what = if error.is_data() { "is not an HTTP Archive" } else { "is not JSON" };
            format!("{what}: {error}")
        })?;
        let log = root.log.unwrap_or_default();
        let Entries(loaded) = log.entries.ok_or("is not an HTTP Archive: it has no log.entries")?;
        Ok(Self { first_page: log.pages.and_then(|FirstPage(id)| id), loaded })
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an archive")]
struct Root {
    log: Option<Log>,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "the log of an archive")]
struct Log {
    pages: Option<FirstPage>,
    entries: Option<Entries>,
}

/// The name of the first of a list of pages.
#[derive(Default)]
struct FirstPage(Option<String>);

/// The entries of a list that crossed the network.
#[derive(Default)]
struct Entries(Vec<Loaded>);

/// Number and bytes of a list of header lines, without the line that is empty.
#[derive(Default)]
struct Headers(u64, u64);

/// Reads a list item by item into `$name`, which begins empty.
macro_rules! list {
    ($name:ty, $what:literal, |$whole:ident, $items:ident| $read:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct List;
                impl<'de> Visitor<'de> for List {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_seq<A: SeqAccess<'de>>(self, mut $items: A) -> Result<Self::Value, A::Error> {
                        let mut $whole = <$name>::default();
                        $read
                        Ok($whole)
                    }
                }
                deserializer.deserialize_seq(List)
            }
        }
    };
}

list!(FirstPage, "a list of pages", |first, pages| {
    if let Some(page) = pages.next_element::<Page>()? {
        first.0 = page.id;
        while pages.next_element::<IgnoredAny>()?.is_some() {}
    }
});

list!(Entries, "a list of entries", |loaded, entries| {
    let mut index = 0;
    while let Some(entry) = entries.next_element::<Entry>()? {
        if entry.was_loaded() {
            loaded.0.push(entry.load(index).map_err(A::Error::custom)?);
        }
        index += 1;
    }
});

// A header line has name, colon, space, value and line end (RFC 9112 §5).
list!(Headers, "a list of headers", |headers, lines| {
    while let Some(Line { name, value }) = lines.next_element()? {
        headers.0 += 1;
        headers.1 += name.length() + value.length() + 4;
    }
});

#[derive(Deserialize)]
#[serde(expecting = "a page")]
struct Page {
    id: Option<String>,
}

/// An entry of `log.entries`.
#[derive(Deserialize)]
#[serde(expecting = "an entry")]
struct Entry {
    #[serde(rename = "pageref")]
    page: Option<String>,
    #[serde(rename = "startedDateTime")]
    started: Option<String>,
    #[serde(rename = "_fromCache", default)]
    cache: Scalar,
    #[serde(default)]
    request: Message,
    #[serde(default)]
    response: Message,
}

/// A request or a response.
#[derive(Default, Deserialize)]
#[serde(expecting = "a request or a response", default)]
struct Message {
    url: Option<String>,
    status: Scalar,
    headers: Option<Headers>,
    content: Option<Content>,
    #[serde(rename = "headersSize")]
    headers_size: Scalar,
    #[serde(rename = "bodySize")]
    body_size: Scalar,
    #[serde(rename = "_transferSize")]
    transfer_size: Scalar,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "the content of a response", default)]
struct Content {
    size: Scalar,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "a header", default)]
struct Line {
    name: Scalar,
    value: Scalar,
}

impl Entry {
    /// Whether the entry crossed the network: neither cached, nor a data URL, nor failed.
    fn was_loaded(&self) -> bool {
        let web = self.request.url.as_deref().is_some_and(|url| url.starts_with("http://") || url.starts_with("https://"));
        let cached = matches!(self.cache, Scalar::Bool(true) | Scalar::Text(_));
        web && !cached && matches!(self.response.status, Scalar::Number(status) if status > 0.0)
    }

    /// What the scenario needs of the entry number `index`.
    fn load(self, index: usize) -> Result<Loaded, String> {
        let Self { page, started, request, response, .. } = self;
        let url = request.url.as_deref().unwrap_or_default();
        let place = format!("log.entries[{index}] ({})", shortened(url));
        let started = started.unwrap_or_default();
        let started = seconds(&started).ok_or_else(|| format!("{place}: the startedDateTime {} is invalid", quoted(&started)))?;
        let sizes = || {
            let asked = request.asked().map_err(|message| format!("{place}: the request's {message}"))?;
            let answered = response.answered().map_err(|message| format!("{place}: the response's {message}"))?;
            Ok((asked, answered))
        };
        let host: Vec<&str> = url.splitn(4, '/').take(3).collect();
        Ok(Loaded { started, page, host: host.join("/").to_ascii_lowercase(), sizes: sizes() })
    }
}

impl Message {
    /// Bytes of the headers: the recorded size or, if unknown, the size of the headers as text. The text has an empty line, but not the first
    /// line.
    fn headers(&self) -> Result<Option<u64>, String> {
        let text = self.headers.as_ref().filter(|headers| headers.0 > 0).map(|headers| headers.1 + 2);
        Ok(self.headers_size.known("headersSize")?.or(text))
    }

    /// Bytes of a request, if known.
    fn asked(&self) -> Result<Option<u64>, String> {
        let body = self.body_size.known("bodySize")?.unwrap_or(0);
        Ok(self.headers()?.map(|headers| headers + body).filter(|size| *size > 0))
    }

    /// Bytes of a response.
    fn answered(&self) -> Result<u64, String> {
        let content = self.content.as_ref().map_or(Ok(None), |content| content.size.known("content.size"))?;
        let body = self.body_size.known("bodySize")?.or(content).unwrap_or(0);
        let whole = self.transfer_size.known("_transferSize")?.filter(|size| *size > 0);
        Ok(whole.unwrap_or(self.headers()?.unwrap_or(0) + body).max(1))
    }
}

/// A value of any kind, of which only the plain ones are kept.
#[derive(Debug, Default)]
enum Scalar {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List,
    Table,
}

impl Scalar {
    /// Bytes of a text; 0 for any other value.
    fn length(&self) -> u64 {
        if let Self::Text(text) = self { text.len() as u64 } else { 0 }
    }

    /// The size called `key`, if known; −1 and an absent size are unknown.
    ///
    /// # Errors
    /// If it is no whole number, negative otherwise, or larger than any that a page may have.
    fn known(&self, key: &str) -> Result<Option<u64>, String> {
        let shown = match self {
            Self::Null | Self::Number(-1.0) => return Ok(None),
            Self::Number(bytes) if (0.0..=LARGEST as f64).contains(bytes) && bytes.fract() == 0.0 => return Ok(Some(*bytes as u64)),
            Self::Number(number) => format!("{number:?}"),
            Self::Bool(value) => value.to_string(),
            Self::Text(text) => quoted(text),
            Self::List => "a list".to_owned(),
            Self::Table => "a table".to_owned(),
        };
        Err(format!("{key} is {shown}; it must be a whole number up to {:e}, or -1 if unknown", LARGEST as f64))
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar::Bool(value))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number as f64))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::List)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Scalar, A::Error> {
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Table)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// Seconds since 1970 of a time as in ISO 8601: `2026-01-31T10:00:00.250+01:00`.
fn seconds(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', 't'])?;
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let numbers = |text: &str, sign: char| text.split(sign).map(|part| part.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
    let (date, clock) = (numbers(date, '-')?, numbers(clock, ':')?);
    let ([year, month, day], [hour, minute, second]) = (<[f64; 3]>::try_from(date).ok()?, <[f64; 3]>::try_from(clock).ok()?);
    let offset = match zone.split_at(1) {
        ("Z" | "z", "") => 0.0,
        (sign, offset) => {
            let [hours, minutes] = <[f64; 2]>::try_from(numbers(offset, ':')?).ok()?;
            (60.0 * hours + minutes) * if sign == "-" { -60.0 } else { 60.0 }
        }
    };
    // Days of the civil calendar. Years begin in March, so that the leap day is the last.
    let years = if month > 2.0 { year } else { year - 1.0 };
    let months = if month > 2.0 { month - 3.0 } else { month + 9.0 };
    let leaps = (years / 4.0).floor() - (years / 100.0).floor() + (years / 400.0).floor();
    let days = 365.0 * years + leaps + ((153.0 * months + 2.0) / 5.0).floor() + day - 719_469.0;
    Some(((days * 24.0 + hour) * 60.0 + minute) * 60.0 + second - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_any_zone() {
        // 2000-03-01 is day 11017 after 1970-01-01.
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Some(11_017.0 * 86_400.0));
        assert_eq!(seconds("2000-02-29T23:59:30.5-01:00"), Some(11_017.0 * 86_400.0 + 3600.0 - 29.5));
        assert_eq!([seconds("yesterday"), seconds("2000-03-01"), seconds("2000-03-01T00:00:00")], [None; 3]);
    }
}
