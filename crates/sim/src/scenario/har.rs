//! Pages from HTTP Archive files, which browsers save.
//!
//! ## References
//! HTTP Archive (HAR) format 1.2, W3C Web Performance Working Group, historical draft of 2012: `log.entries`, in which sizes are −1 where
//! they are unknown. Chromium adds `_transferSize`, the bytes of a response on the wire, and `_fromCache`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use crate::scenario::application::Object;

/// The objects of the first page in the file `path`, in the order in which the browser asked for them. `request`: bytes of a request of
/// which the file says nothing.
///
/// # Errors
/// A message: the file cannot be read, or is none, or names nothing that was loaded.
pub(super) fn read(path: &Path, request: u64) -> Result<Vec<Object>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    objects(&text, request).map_err(|message| format!("{}: {message}", path.display()))
}

fn objects(text: &str, request: u64) -> Result<Vec<Object>, String> {
    let json: Json = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| format!("is no JSON: {error}"))?;
    let entries = json["log"]["entries"].as_array().ok_or("is no HTTP Archive: it has no log.entries")?;
    let mut loaded: Vec<&Json> = entries.iter().filter(|entry| was_loaded(entry)).collect();
    loaded.sort_by_key(|entry| entry["startedDateTime"].as_str().unwrap_or_default());
    let page = loaded.first().map(|entry| &entry["pageref"]);
    let mut hosts = BTreeMap::new();
    let object = |entry: &&Json| {
        let next = hosts.len() as u32;
        let host = *hosts.entry(host(entry)).or_insert(next);
        Object { host, request: request_size(&entry["request"]).unwrap_or(request), response: response_size(&entry["response"]) }
    };
    let objects: Vec<Object> = loaded.iter().filter(|entry| Some(&entry["pageref"]) == page).map(object).collect();
    if objects.is_empty() { Err("names nothing that was loaded over HTTP".to_owned()) } else { Ok(objects) }
}

/// Whether an entry crossed the network: neither from a cache, nor data in the page, nor failed.
fn was_loaded(entry: &Json) -> bool {
    let web = entry["request"]["url"].as_str().is_some_and(|url| url.starts_with("http://") || url.starts_with("https://"));
    web && entry["_fromCache"].is_null() && entry["response"]["status"].as_i64() > Some(0)
}

/// Scheme, host and port of an entry's URL: what shares connections.
fn host(entry: &Json) -> String {
    let url = entry["request"]["url"].as_str().unwrap_or_default();
    let parts: Vec<&str> = url.splitn(4, '/').take(3).collect();
    parts.join("/").to_ascii_lowercase()
}

/// A size that is known.
fn known(size: &Json) -> Option<u64> {
    size.as_i64().and_then(|size| u64::try_from(size).ok())
}

/// Bytes of a message's headers: as told, or what they are when written out (RFC 9112 §5: name, colon, space, value, line end), with an
/// empty line, but without the first line.
fn headers(message: &Json) -> Option<u64> {
    let length = |header: &Json, key: &str| header[key].as_str().map_or(0, str::len) as u64;
    let written = message["headers"].as_array().filter(|headers| !headers.is_empty());
    let line = |header: &Json| length(header, "name") + length(header, "value") + 4;
    known(&message["headersSize"]).or_else(|| Some(written?.iter().map(line).sum::<u64>() + 2))
}

fn request_size(request: &Json) -> Option<u64> {
    Some(headers(request)? + known(&request["bodySize"]).unwrap_or(0)).filter(|size| *size > 0)
}

fn response_size(response: &Json) -> u64 {
    let body = known(&response["bodySize"]).or_else(|| known(&response["content"]["size"])).unwrap_or(0);
    let whole = known(&response["_transferSize"]).filter(|size| *size > 0);
    whole.unwrap_or_else(|| headers(response).unwrap_or(0) + body).max(1)
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
        let told = json!({ "headersSize": 300, "bodySize": 0 });
        let sized = |body: u64| json!({ "headersSize": 200, "bodySize": body });
        let mut second_page = entry("https://a.test/next", "2026-01-01T10:00:09.000Z", &told, &sized(1));
        second_page["pageref"] = json!("page_2");
        let mut cached = entry("https://a.test/old.js", "2026-01-01T10:00:00.300Z", &told, &sized(7));
        cached["_fromCache"] = json!("disk");
        let entries = [
            entry("https://B.test:8443/x.png", "2026-01-01T10:00:00.200Z", &told, &sized(5000)),
            entry("https://a.test/", "2026-01-01T10:00:00.000Z", &told, &sized(1000)),
            entry("https://b.test:8443/y.png", "2026-01-01T10:00:00.400Z", &told, &sized(6000)),
            entry("https://b.test/z.png", "2026-01-01T10:00:00.500Z", &told, &sized(7000)),
            entry("data:image/png;base64,AAAA", "2026-01-01T10:00:00.250Z", &told, &sized(9)),
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
        // Host: a.test and Accept: */* have 14 and 13 bytes with their line ends, and an empty line 2.
        let expected = [Object { host: 0, request: 29, response: 700 }, Object { host: 0, request: 400, response: 345 }];
        assert_eq!(read(&entries).unwrap(), expected);
    }

    #[test]
    fn what_is_no_archive() {
        assert_eq!(read(&[]).unwrap_err(), "names nothing that was loaded over HTTP");
        assert_eq!(objects("{}", 1).unwrap_err(), "is no HTTP Archive: it has no log.entries");
        assert!(objects("log", 1).unwrap_err().starts_with("is no JSON: "));
    }
}
