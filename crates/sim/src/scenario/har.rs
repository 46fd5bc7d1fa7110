//! Pages from HTTP Archive files, which browsers save.
//!
//! ## References
//! HTTP Archive (HAR) format 1.2, W3C Web Performance Working Group, historical draft of 2012: `log.entries`. A size of −1 is unknown.
//! Chromium adds `_transferSize`, the bytes of a response on the wire, and `_fromCache`.

use std::collections::BTreeMap;
use std::path::Path;

use ackclock_core::limits;

use crate::scenario::application::Object;
use crate::scenario::file;
pub use crate::scenario::har_file::LARGEST;
use crate::scenario::har_file::{Archive, Loaded};

/// Largest number of hosts.
pub const MOST_HOSTS: usize = 1000;

/// The objects of the first page in the file `path`, in the order of the browser's requests. `request` is the size in bytes of a request if
/// the file does not give it.
///
/// # Errors
/// A message: the file cannot be read, is not an HTTP Archive, or has no entry that was loaded.
pub(super) fn read(path: &Path, request: u64) -> Result<Vec<Object>, String> {
    let text = file::text(path, limits::HAR.most, ": save it without the bodies of responses")?;
    objects(&text, request).map_err(|message| format!("{}: {message}", path.display()))
}

/// The objects of the first page in `text`.
///
/// # Errors
/// A message: the text is not an HTTP Archive, has a wrong entry, or has no entry that was loaded.
pub fn objects(text: &str, request: u64) -> Result<Vec<Object>, String> {
    let Archive { first_page, mut loaded } = Archive::read(text)?;
    loaded.sort_by(|one, other| one.started.total_cmp(&other.started));
    // Entries without a page belong to the first page.
    let page = first_page.or_else(|| loaded.iter().find_map(|entry| entry.page.clone()));
    let mut hosts = BTreeMap::new();
    let mut objects = Vec::new();
    for Loaded { host, page: of, sizes, .. } in loaded {
        if of.is_some() && of != page {
            continue;
        }
        let next = hosts.len() as u32;
        let host = *hosts.entry(host).or_insert(next);
        let (asked, response) = sizes?;
        objects.push(Object { host, request: asked.unwrap_or(request).min(LARGEST), response: response.min(LARGEST) });
    }
    if hosts.len() > MOST_HOSTS {
        return Err(format!("names {} hosts; the limit is {MOST_HOSTS}", hosts.len()));
    }
    if objects.is_empty() { Err("has no entry that was loaded over HTTP".to_owned()) } else { Ok(objects) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

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
        let refused = read(&[wrong]).unwrap_err();
        let expected =
            "is not an HTTP Archive: log.entries[0] (https://a.test/): the startedDateTime \"soon\" is invalid at line 1 column ";
        assert!(refused.starts_with(expected), "{refused}");
    }

    #[test]
    fn sizes_that_no_message_has_are_refused() {
        let known = json!({ "headersSize": 300, "bodySize": 0 });
        for size in ["1e300", "-2", "0.5", "1000000000000001", "18446744073709551615", "-1e300"] {
            let text = format!("{{ \"headersSize\": 0, \"bodySize\": {size} }}");
            let response: Json = serde_json::from_str(&text).unwrap();
            let refused = read(&[entry("https://a.test/", "2026-01-01T10:00:00Z", &known, &response)]).unwrap_err();
            assert!(
                refused.starts_with("log.entries[0] (https://a.test/): the response's bodySize is ")
                    && refused.ends_with("; it must be a whole number up to 1e15, or -1 if unknown"),
                "{refused}"
            );
        }
        let number =
            r#"{"log": {"entries": [{"startedDateTime": "2026-01-01T10:00:00Z", "request": {"url": "http://a/", "bodySize": NaN}}]}}"#;
        assert!(objects(number, 1).unwrap_err().starts_with("is not JSON: "));
    }

    #[test]
    fn sizes_that_are_no_numbers_are_refused() {
        let fine = json!({ "headersSize": 0, "bodySize": null });
        let at = "2026-01-01T10:00:00Z";
        let wrong = |key: &str, value: Json| {
            let mut request = fine.clone();
            request[key] = value;
            read(&[entry("https://a.test/", at, &fine, &fine), entry("https://a.test/b", at, &request, &fine)]).unwrap_err()
        };
        let place = "log.entries[1] (https://a.test/b): the request's";
        let must = "it must be a whole number up to 1e15, or -1 if unknown";
        assert_eq!(wrong("bodySize", json!("x")), format!("{place} bodySize is \"x\"; {must}"));
        assert_eq!(wrong("headersSize", json!(true)), format!("{place} headersSize is true; {must}"));
        assert_eq!(wrong("bodySize", json!([1])), format!("{place} bodySize is a list; {must}"));
        assert_eq!(wrong("bodySize", json!({})), format!("{place} bodySize is a table; {must}"));
        let content = json!({ "headersSize": 0, "content": { "size": "many" } });
        let refused = read(&[entry("https://a.test/", at, &fine, &content)]).unwrap_err();
        assert_eq!(refused, format!("log.entries[0] (https://a.test/): the response's content.size is \"many\"; {must}"));
    }

    #[test]
    fn what_is_no_archive() {
        assert_eq!(read(&[]).unwrap_err(), "has no entry that was loaded over HTTP");
        assert_eq!(objects("{}", 1).unwrap_err(), "is not an HTTP Archive: it has no log.entries");
        assert!(objects("log", 1).unwrap_err().starts_with("is not JSON: "));
        assert!(objects("{\"log\": {\"entries\": [", 1).unwrap_err().starts_with("is not JSON: "));
        assert_eq!(objects("{\"log\": {\"pages\": []}}", 1).unwrap_err(), "is not an HTTP Archive: it has no log.entries");
        let wrong = objects("{\"log\": {\"entries\": [1]}}", 1).unwrap_err();
        assert_eq!(wrong, "is not an HTTP Archive: invalid type: integer `1`, expected an entry at line 1 column 22");
    }
}
