//! Asks a laboratory, and reads its frames.
#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test file uses a part")]

use ackclock_web::Laboratory;
use serde_json::{Value as Json, json};

/// A frame.
pub struct Frame {
    pub header: Json,
    pub columns: Vec<u8>,
}

/// Asks, and reads the frame.
pub fn ask(laboratory: &mut Laboratory, request: &Json) -> Frame {
    read(&laboratory.handle(&request.to_string()))
}

/// Reads a frame and checks its layout.
pub fn read(frame: &[u8]) -> Frame {
    let length = u32::from_le_bytes(frame[..4].try_into().unwrap()) as usize;
    let start = (4 + length).next_multiple_of(8);
    assert!(frame[4 + length..start].iter().all(|byte| *byte == 0), "zeros after the header");
    assert_eq!(frame.len() % 8, 0);
    Frame { header: serde_json::from_slice(&frame[4..4 + length]).unwrap(), columns: frame[start..].to_vec() }
}

impl Frame {
    /// The answer, which is no error.
    #[track_caller]
    pub fn good(self) -> Self {
        assert!(self.header.get("error").is_none(), "{}", self.header);
        self
    }

    /// The text of the error.
    #[track_caller]
    pub fn error(&self) -> &str {
        self.header["error"]["text"].as_str().unwrap_or_else(|| panic!("no error: {}", self.header))
    }

    /// The bytes of a column of a trace.
    pub fn column(&self, trace: &str, column: &str) -> &[u8] {
        let table = &self.header["tables"][trace];
        let described = table["columns"].as_array().unwrap().iter().find(|it| it["name"] == column).unwrap();
        let width = match described["type"].as_str().unwrap() {
            "f64" => 8,
            "u32" => 4,
            "u8" => 1,
            other => panic!("{other}"),
        };
        let offset = described["offset"].as_u64().unwrap() as usize;
        assert_eq!(offset % 8, 0);
        &self.columns[offset..offset + width * table["rows"].as_u64().unwrap() as usize]
    }

    /// The numbers of a column of doubles.
    pub fn doubles(&self, trace: &str, column: &str) -> Vec<f64> {
        self.column(trace, column).chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    /// Names and bytes of all columns of all traces.
    pub fn all(&self) -> Vec<(String, Vec<u8>)> {
        let tables = self.header["tables"].as_object().unwrap();
        let names = tables.iter().flat_map(|(trace, table)| {
            let columns = table["columns"].as_array().unwrap();
            columns.iter().map(move |column| (trace.as_str(), column["name"].as_str().unwrap()))
        });
        names.map(|(trace, column)| (format!("{trace}.{column}"), self.column(trace, column).to_vec())).collect()
    }
}

/// Opens a run; returns its number.
pub fn open(laboratory: &mut Laboratory, text: &str) -> u64 {
    ask(laboratory, &json!({ "do": "open", "text": text })).good().header["run"].as_u64().unwrap()
}

/// Runs of two flows over a short bottleneck, with every trace.
pub const SCENARIO: &str = r#"
duration = "2 s"
record = ["cwnd", "delivered", "queue", "drops", "marks", "sojourn", "discipline", "sequence", "lost", "flight", "rtt", "recovery", "internals"]
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { kind = "codel" } }
[[flow]]
name = "a"
host = "linux"
[[flow]]
name = "b"
start = "300 ms"
avoidance = "veno"
"#;
