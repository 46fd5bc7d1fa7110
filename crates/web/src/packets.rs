//! The packets on all links in a part of a run.

use ackclock_core::qdisc::{Ecn, Reason};
use ackclock_core::units::{Duration, Instant};
use ackclock_host::Side;
use ackclock_sim::columns::seconds;
use ackclock_sim::engine::crossings;
use ackclock_sim::trace::{Crossing, Span};
use serde_json::{Value as Json, json};

use crate::answers::{outline, read};
use crate::error::{Refusal, problem};
use crate::frame::{Columns, with};
use crate::request::Watching;

/// Answers with the crossings of links from `from` to `to`, as the [documentation of this crate](crate) describes.
pub(crate) fn packets(watching: Watching, columns: &mut Columns) -> Result<Json, Refusal> {
    let (source, [from, to], most, events) = watching.parts();
    let (scenario, _) = read(&source)?.scenario_and_frozen()?;
    if scenario.placeholder {
        return Err("a congestion control or slow start is a Python object, which cannot run here".to_owned().into());
    }
    if !(from >= 0.0 && from.is_finite()) {
        return Err(problem("from", &format!("{from} is not a time of the run; give seconds from 0 on")));
    }
    if !(to > from && to.is_finite()) {
        return Err(problem("to", &format!("{to} is not after `from`, {from} s")));
    }
    let at = |seconds| Instant::ZERO + Duration::from_secs_f64(seconds);
    let found = crossings(&scenario, Span { from: at(from), to: at(to), most }, events.unwrap_or(u64::MAX), &mut || false)?;
    let table = table(&found.rows, columns);
    let missing_from = found.missing_from.map(seconds);
    Ok(json!({ "scenario": outline(&scenario), "from": from, "to": to, "missing_from": missing_from, "packets": table }))
}

/// The rows as columns.
fn table(rows: &[Crossing], columns: &mut Columns) -> Json {
    let time = |time: Option<u64>| time.map_or(f64::NAN, seconds);
    let words = |described: Json, words: &[&str]| with(described, "words", json!(words));
    let reasons: Vec<&str> = std::iter::once("").chain(Reason::ALL.iter().map(|reason| reason.name())).collect();
    let reason = |row: &Crossing| row.dropped.and_then(|(reason, _)| reasons.iter().position(|name| *name == reason.name())).unwrap_or(0);
    let described = [
        with(columns.wholes("link", rows.iter().map(|row| row.link)), "names", json!("links")),
        with(columns.wholes("flow", rows.iter().map(|row| row.flow)), "names", json!("flows")),
        words(columns.bytes("kind", rows.iter().map(|row| u8::from(!row.data))), &["data", "ack"]),
        words(columns.bytes("source", rows.iter().map(|row| u8::from(row.side == Side::Receiver))), &["sender", "receiver"]),
        columns.wholes("number", rows.iter().map(|row| row.number)),
        columns.wholes("size", rows.iter().map(|row| row.size)),
        words(columns.bytes("retransmission", rows.iter().map(|row| u8::from(row.retransmission))), &["no", "yes"]),
        words(columns.bytes("ecn", rows.iter().map(|row| row.ecn as u8)), &Ecn::ALL.map(Ecn::name)),
        columns.doubles("entered", rows.iter().map(|row| seconds(row.entered))),
        columns.doubles("left", rows.iter().map(|row| time(row.left))),
        columns.doubles("arrived", rows.iter().map(|row| time(row.arrived))),
        columns.doubles("dropped", rows.iter().map(|row| time(row.dropped.map(|(_, at)| at)))),
        words(columns.bytes("reason", rows.iter().map(|row| reason(row) as u8)), &reasons),
    ];
    json!({ "rows": rows.len(), "columns": described })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Laboratory;

    const SCENARIO: &str = r#"
duration = "2 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", queue = "20 packets", loss = "1 %" }
[[flow]]
[[flow]]
"#;

    /// The header of an answer, and the bytes of its columns.
    fn ask(request: &Json) -> (Json, Vec<u8>) {
        let frame = Laboratory::new().handle(&request.to_string());
        let length = u32::from_le_bytes(frame[..4].try_into().expect("four bytes")) as usize;
        let header = serde_json::from_slice(&frame[4..4 + length]).expect("JSON");
        (header, frame[(4 + length).next_multiple_of(8)..].to_vec())
    }

    fn doubles(header: &Json, bytes: &[u8], name: &str) -> Vec<f64> {
        let columns = header["packets"]["columns"].as_array().expect("columns");
        let column = columns.iter().find(|column| column["name"] == name).expect(name);
        let (start, rows) =
            (column["offset"].as_u64().expect("a number") as usize, header["packets"]["rows"].as_u64().expect("a number") as usize);
        assert_eq!(column["type"], "f64");
        bytes[start..start + 8 * rows].chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect()
    }

    #[test]
    fn a_span_has_its_packets_in_the_order_of_their_times() {
        let (header, bytes) = ask(&json!({ "do": "packets", "text": SCENARIO, "from": 0.5, "to": 0.75 }));
        let [entered, left, arrived, dropped] = ["entered", "left", "arrived", "dropped"].map(|name| doubles(&header, &bytes, name));
        assert_eq!(header["missing_from"], Json::Null);
        assert_eq!(header["scenario"]["flows"], json!(["flow0", "flow1"]));
        assert!(entered.len() > 500 && entered.is_sorted());
        for row in 0..entered.len() {
            let gone = if dropped[row].is_nan() { arrived[row] } else { dropped[row] };
            assert!(entered[row] < 0.75 && gone >= 0.5, "{row}");
            assert!(left[row].is_nan() || left[row] >= entered[row]);
            assert_eq!(arrived[row].is_nan(), !dropped[row].is_nan());
        }
        assert!(dropped.iter().any(|at| !at.is_nan()));
    }

    #[test]
    fn an_answer_that_is_cut_says_from_which_time() {
        let (header, bytes) = ask(&json!({ "do": "packets", "text": SCENARIO, "from": 0.5, "to": 1.5, "most": 50 }));
        assert_eq!(doubles(&header, &bytes, "entered").len(), 50);
        assert!(header["missing_from"].as_f64().expect("cut") > 0.0);
    }

    #[test]
    fn settings_change_the_run() {
        let losses = |seed: &str| {
            let (header, bytes) = ask(&json!({ "do": "packets", "text": SCENARIO, "settings": [["seed", seed]], "from": 0.0, "to": 2.0 }));
            doubles(&header, &bytes, "dropped").into_iter().filter(|at| !at.is_nan()).collect::<Vec<_>>()
        };
        assert_eq!(losses("1"), losses("1"));
        assert_ne!(losses("1"), losses("2"));
    }

    #[test]
    fn bad_times_are_refused() {
        for (from, to, key) in [(-1.0, 1.0, "from"), (1.0, 1.0, "to"), (1.0, 0.5, "to")] {
            let (header, _) = ask(&json!({ "do": "packets", "text": SCENARIO, "from": from, "to": to }));
            assert_eq!(header["error"]["problems"][0]["key"], key);
        }
        let (header, _) = ask(&json!({ "do": "packets", "text": SCENARIO, "from": 0.0, "to": 1.0, "events": 10 }));
        assert!(header["error"]["text"].as_str().expect("a message").contains("10 events"), "{header}");
    }
}
