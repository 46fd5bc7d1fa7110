//! Pages from HTTP Archive files, which browsers save.
//!
//! ## References
//! HTTP Archive (HAR) format 1.2, W3C Web Performance Working Group, historical draft of 2012: `log.entries`. A size of −1 is unknown.
//! Chromium adds `_transferSize`, the bytes of a response on the wire, and `_fromCache`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use ackclock_core::limits;
use serde_json::Value as Json;

use crate::scenario::application::Object;
use crate::scenario::text::shortened;

/// Largest size of a message in a scenario, in bytes.
pub const LARGEST: u64 = 1_000_000_000_000_000;
/// Largest number of hosts.
pub const MOST_HOSTS: usize = 1000;

/// The objects of the first page in the file `path`, in the order of the browser's requests. `request` is the size in bytes of a request if
/// the file does not give it.
///
/// # Errors
/// A message: the file cannot be read, is not an HTTP Archive, or has no entry that was loaded.
pub(super) fn read(path: &Path, request: u64) -> Result<Vec<Object>, String> {
    let text = text(path, limits::HAR.most)?;
    objects(&text, request).map_err(|message| format!("{}: {message}", path.display()))
}

/// The text of a file of at most `most` bytes. Only regular files are read: each check reads the file again and must find the same text.
fn text(path: &Path, most: u64) -> Result<String, String> {
    let failed = |error| format!("cannot read {}: {error}", path.display());
    // The type is checked before opening, because opening a pipe without a writer blocks.
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(format!("{} is not a regular file", path.display()));
    }
    if about.len() > most {
        let [size, most] = [about.len(), most].map(|bytes| bytes as f64 / 1e6);
        return Err(format!("{} has {size:.1} MB; the limit is {most:.0} MB: save it without the bodies of responses", path.display()));
    }
    let mut text = String::new();
    // A file that grows meanwhile ends at the limit.
    File::open(path).and_then(|file| file.take(most).read_to_string(&mut text)).map_err(failed)?;
    Ok(text)
}

/// The objects of the first page in `text`.
///
/// # Errors
/// A message: the text is not an HTTP Archive, or has no entry that was loaded.
pub fn objects(text: &str, request: u64) -> Result<Vec<Object>, String> {
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| format!("is not JSON: {error}"))?;
    let entries = json["log"]["entries"].as_array().ok_or("is not an HTTP Archive: it has no log.entries")?;
    let mut loaded: Vec<(f64, &Json)> = Vec::new();
    for entry in entries.iter().filter(|entry| was_loaded(entry)) {
        let started = entry["startedDateTime"].as_str().unwrap_or_default();
        loaded.push((seconds(started).ok_or_else(|| format!("has an entry with the invalid startedDateTime {started:?}"))?, entry));
    }
    loaded.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    // Entries without a page belong to the first page.
    let page = json["log"]["pages"][0]["id"].as_str().or_else(|| loaded.iter().find_map(|(_, entry)| entry["pageref"].as_str()));
    let of_page = |entry: &Json| entry["pageref"].as_str().is_none_or(|of| Some(of) == page);
    let mut hosts = BTreeMap::new();
    let mut objects = Vec::new();
    for (_, entry) in loaded.iter().filter(|(_, entry)| of_page(entry)) {
        let next = hosts.len() as u32;
        let host = *hosts.entry(host(entry)).or_insert(next);
        let request = request_size(&entry["request"])?.unwrap_or(request).min(LARGEST);
        objects.push(Object { host, request, response: response_size(&entry["response"])?.min(LARGEST) });
    }
    if hosts.len() > MOST_HOSTS {
        return Err(format!("names {} hosts; the limit is {MOST_HOSTS}", hosts.len()));
    }
    if objects.is_empty() { Err("has no entry that was loaded over HTTP".to_owned()) } else { Ok(objects) }
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

/// Whether an entry crossed the network: neither cached, nor a data URL, nor failed.
fn was_loaded(entry: &Json) -> bool {
    let web = entry["request"]["url"].as_str().is_some_and(|url| url.starts_with("http://") || url.starts_with("https://"));
    let cached = matches!(&entry["_fromCache"], Json::Bool(true) | Json::String(_));
    web && !cached && entry["response"]["status"].as_i64() > Some(0)
}

/// Scheme, host and port of an entry's URL. Objects with equal ones share connections.
fn host(entry: &Json) -> String {
    let url = entry["request"]["url"].as_str().unwrap_or_default();
    let parts: Vec<&str> = url.splitn(4, '/').take(3).collect();
    parts.join("/").to_ascii_lowercase()
}

/// A size, if known; −1 and an absent size are unknown.
///
/// # Errors
/// If the size is negative otherwise, no whole number, or larger than any that a page may have.
fn known(message: &Json, key: &str) -> Result<Option<u64>, String> {
    match &message[key] {
        Json::Number(size) => match size.as_f64() {
            Some(-1.0) => Ok(None),
            Some(bytes) if (0.0..=LARGEST as f64).contains(&bytes) && bytes.fract() == 0.0 => Ok(Some(bytes as u64)),
            _ => Err(format!(
                "has an entry whose {key} is {}; it must be a whole number up to {:e}, or -1",
                shortened(&size.to_string()),
                LARGEST as f64
            )),
        },
        _ => Ok(None),
    }
}

/// Bytes of a message's headers: the recorded size or, if unknown, the size of the headers as text. The text has an empty line, but not the
/// first line. A header line has name, colon, space, value and line end (RFC 9112 §5).
fn headers(message: &Json) -> Result<Option<u64>, String> {
    let length = |header: &Json, key: &str| header[key].as_str().map_or(0, str::len) as u64;
    let written = message["headers"].as_array().filter(|headers| !headers.is_empty());
    let line = |header: &Json| length(header, "name") + length(header, "value") + 4;
    Ok(known(message, "headersSize")?.or_else(|| Some(written?.iter().map(line).sum::<u64>() + 2)))
}

fn request_size(request: &Json) -> Result<Option<u64>, String> {
    let body = known(request, "bodySize")?.unwrap_or(0);
    Ok(headers(request)?.map(|headers| headers + body).filter(|size| *size > 0))
}

fn response_size(response: &Json) -> Result<u64, String> {
    let body = known(response, "bodySize")?.or(known(&response["content"], "size")?).unwrap_or(0);
    let whole = known(response, "_transferSize")?.filter(|size| *size > 0);
    let headers = headers(response)?.unwrap_or(0);
    Ok(whole.unwrap_or(headers + body).max(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(url: &str, at: &str, request: &Json, response: &Json) -> Json {
        let mut entry = json!({ "pageref": "page_1", "startedDateTime": at, "request": request, "response": response });
        entry["request"]["url"] = json!(url);
        entry["response"]["status"] = json!(200);
        entry
    }

    fn read(entries: &[Json]) -> Result<Vec<Object>, String> {
        objects(&json!({ "log": { "version": "1.2", "entries": entries } }).to_string(), 400)
    }

    #[test]
    fn objects_are_in_the_order_of_time_and_of_the_first_page() {
        let known = json!({ "headersSize": 300, "bodySize": 0 });
        let sized = |body: u64| json!({ "headersSize": 200, "bodySize": body });
        let mut second_page = entry("https://a.test/next", "2026-01-01T10:00:09.000Z", &known, &sized(1));
        second_page["pageref"] = json!("page_2");
        let mut cached = entry("https://a.test/old.js", "2026-01-01T10:00:00.300Z", &known, &sized(7));
        cached["_fromCache"] = json!("disk");
        let entries = [
            entry("https://B.test:8443/x.png", "2026-01-01T10:00:00.200Z", &known, &sized(5000)),
            entry("https://a.test/", "2026-01-01T10:00:00.000Z", &known, &sized(1000)),
            entry("https://b.test:8443/y.png", "2026-01-01T10:00:00.400Z", &known, &sized(6000)),
            entry("https://b.test/z.png", "2026-01-01T10:00:00.500Z", &known, &sized(7000)),
            entry("data:image/png;base64,AAAA", "2026-01-01T10:00:00.250Z", &known, &sized(9)),
            second_page,
            cached,
        ];
        let object = |host, response| Object { host, request: 300, response };
        assert_eq!(read(&entries).unwrap(), [object(0, 1200), object(1, 5200), object(1, 6200), object(2, 7200)]);
    }

    #[test]
    fn sizes_that_are_unknown() {
        let list = json!([{ "name": "Host", "value": "a.test" }, { "name": "Accept", "value": "*/*" }]);
        let request = json!({ "headersSize": -1, "bodySize": -1, "headers": list });
        let response = json!({ "headersSize": -1, "bodySize": -1, "headers": [], "content": { "size": 700 } });
        let wire = json!({ "headersSize": -1, "bodySize": 10, "_transferSize": 345 });
        let time = "2026-01-01T10:00:00.000Z";
        let entries =
            [entry("http://a.test/", time, &request, &response), entry("http://a.test/b", time, &json!({ "headersSize": -1 }), &wire)];
        // `Host: a.test` and `Accept: */*` have 14 and 13 bytes with line ends, and the empty line has 2.
        let expected = [Object { host: 0, request: 29, response: 700 }, Object { host: 0, request: 400, response: 345 }];
        assert_eq!(read(&entries).unwrap(), expected);
    }

    #[test]
    fn times_and_pages() {
        // 2000-03-01 is day 11017 after 1970-01-01.
        assert_eq!(seconds("2000-03-01T00:00:00Z"), Some(11_017.0 * 86_400.0));
        assert_eq!(seconds("2000-02-29T23:59:30.5-01:00"), Some(11_017.0 * 86_400.0 + 3600.0 - 29.5));
        assert_eq!([seconds("yesterday"), seconds("2000-03-01"), seconds("2000-03-01T00:00:00")], [None; 3]);
        let sized = |body: f64| json!({ "headersSize": 0, "bodySize": body });
        let known = json!({ "headersSize": 300, "bodySize": 0 });
        let mut early = entry("https://a.test/early", "2026-01-01T10:00:00.5+01:00", &known, &sized(10.0));
        early["pageref"] = json!(null);
        early["_fromCache"] = json!(false);
        let entries = [
            entry("https://a.test/", "2026-01-01T09:00:00.250Z", &known, &sized(1e15)),
            early,
            entry("https://a.test/late", "2026-01-01T09:00:01Z", &known, &sized(20.0)),
        ];
        let sizes: Vec<u64> = read(&entries).unwrap().iter().map(|object| object.response).collect();
        assert_eq!(sizes, [LARGEST, 10, 20], "ordered by time in any time zone; sizes are at most those of a scenario");
        let mut wrong = entries[0].clone();
        wrong["startedDateTime"] = json!("soon");
        assert_eq!(read(&[wrong]).unwrap_err(), "has an entry with the invalid startedDateTime \"soon\"");
    }

    #[test]
    fn sizes_that_no_message_has_are_refused() {
        let known = json!({ "headersSize": 300, "bodySize": 0 });
        for size in ["1e300", "-2", "0.5", "1000000000000001", "18446744073709551615", "-1e300"] {
            let text = format!("{{ \"headersSize\": 0, \"bodySize\": {size} }}");
            let response: Json = serde_json::from_str(&text).unwrap();
            let refused = read(&[entry("https://a.test/", "2026-01-01T10:00:00Z", &known, &response)]).unwrap_err();
            assert!(
                refused.starts_with("has an entry whose bodySize is ") && refused.ends_with("a whole number up to 1e15, or -1"),
                "{refused}"
            );
        }
        let number =
            r#"{"log": {"entries": [{"startedDateTime": "2026-01-01T10:00:00Z", "request": {"url": "http://a/", "bodySize": NaN}}]}}"#;
        assert!(objects(number, 1).unwrap_err().starts_with("is not JSON: "));
    }

    #[test]
    fn files_without_end_are_refused() {
        let file = std::env::temp_dir().join(format!("ackclock-{}.har", std::process::id()));
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(text(&file, 5).unwrap(), "12345");
        assert!(text(&file, 4).unwrap_err().ends_with(" has 0.0 MB; the limit is 0 MB: save it without the bodies of responses"));
        std::fs::remove_file(&file).unwrap();
        assert!(text(&file, 5).unwrap_err().starts_with("cannot read "));
        let folder = std::env::temp_dir();
        assert_eq!(text(&folder, 5).unwrap_err(), format!("{} is not a regular file", folder.display()));
    }

    #[test]
    fn what_is_no_archive() {
        assert_eq!(read(&[]).unwrap_err(), "has no entry that was loaded over HTTP");
        assert_eq!(objects("{}", 1).unwrap_err(), "is not an HTTP Archive: it has no log.entries");
        assert!(objects("log", 1).unwrap_err().starts_with("is not JSON: "));
    }
}
