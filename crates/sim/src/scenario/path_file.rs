//! Parameters of the models of links that a file can hold: a trace of Mahimahi, or a table of times and values.
//!
//! In a scenario, the key `file` stands for the parameter. What is read is a value like any other, so that a frozen scenario has the
//! numbers, and its hash depends on them.
//!
//! One table can hold rate, delay and loss of a link. The first line names the columns, in any order, and others may stand beside them. A
//! column names the unit of its numbers, as `rate (Mbit/s)`, or each value has its own, as `8 Mbit/s`.

use std::path::Path;

use ackclock_core::limits;
use ackclock_core::params::{Axis, Description};
use ackclock_core::path::rate::mahimahi;

use crate::scenario::error::Origin;
use crate::scenario::file::{self, REFUSED};
use crate::scenario::value::{Data, Node};

/// The key that names the file.
pub(crate) const FILE: &str = "file";

/// A parameter that a file can hold.
#[derive(Debug)]
pub(crate) struct InFile {
    /// Axis, part and parameter.
    axis: &'static str,
    part: &'static str,
    pub(crate) param: &'static str,
    /// The form of the file.
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// A number of milliseconds in each line.
    Mahimahi,
    /// CSV, of which the column `time` and this one count.
    Columns(&'static str),
}

/// All of them.
static IN_FILES: [InFile; 4] = [
    InFile { axis: "rate", part: "mahimahi", param: mahimahi::OPPORTUNITIES, form: Form::Mahimahi },
    InFile { axis: "rate", part: "schedule", param: "steps", form: Form::Columns("rate") },
    InFile { axis: "delay", part: "steps", param: "steps", form: Form::Columns("delay") },
    InFile { axis: "loss", part: "schedule", param: "steps", form: Form::Columns("loss") },
];

/// What a file can hold of `part`.
pub(crate) fn in_file(axis: &Axis, part: &Description) -> Option<&'static InFile> {
    IN_FILES.iter().find(|one| (one.axis, one.part) == (axis.name, part.name))
}

impl InFile {
    /// What the file is, for the schema.
    pub(crate) fn doc(&self) -> String {
        match self.form {
            Form::Mahimahi => format!("File with the {}: a trace of Mahimahi, one number in each line.", self.param),
            Form::Columns(column) => {
                format!(
                    "CSV file with the {}, in the columns time and {column}; each value has a unit, or its column, as \"time (s)\".",
                    self.param
                )
            }
        }
    }

    /// Reads the value of the parameter from the file that `name` names in `folder`, and hands it to `set`. Every message has the file's name.
    pub(crate) fn read(&self, folder: Option<&Path>, name: &Data, set: impl FnOnce(&Data) -> Result<(), String>) -> Result<(), String> {
        let Data::Text(name) = name else { return Err(format!("must be the name of a file, but is {}", name.noun())) };
        let folder = folder.ok_or_else(|| format!("{REFUSED}; give {} instead", self.param))?;
        let path = folder.join(name);
        let text = file::text(&path, limits::PATH.most, "")?;
        let items = match self.form {
            Form::Mahimahi => mahimahi::read(&text).map(|times| times.iter().map(|time| Node::new(Data::Integer(*time as i128))).collect()),
            Form::Columns(column) => columns(&text, ["time", column]),
        };
        items.map(Data::List).and_then(|data| set(&data)).map_err(|message| format!("{}: {message}", path.display()))
    }
}

/// The rows of a CSV text, of which two columns count, as pairs of texts that know their lines.
fn columns(text: &str, names: [&str; 2]) -> Result<Vec<Node>, String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header: Vec<(&str, &str)> = lines.next().unwrap_or_default().split(',').map(named).collect();
    let place =
        |name| header.iter().position(|(known, _)| *known == name).ok_or_else(|| format!("has no column {name:?} in its first line"));
    let places = [place(names[0])?, place(names[1])?];
    let row = |(number, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != header.len() {
            return Err(format!("line {number} has {} cells; the first line has {}", cells.len(), header.len()));
        }
        let value = |place: usize| match header[place].1 {
            unit if !unit.is_empty() && cells[place].parse::<f64>().is_ok() => Node::text(&format!("{} {unit}", cells[place])),
            _ => Node::text(cells[place]),
        };
        Ok(Node { origin: Origin::Row(number), data: Data::List(places.map(value).into()) })
    };
    (2..).zip(lines).filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

/// The name of a column and the unit of its numbers, which is empty if each value has its own: `rate (Mbit/s)` or `rate`.
fn named(title: &str) -> (&str, &str) {
    let title = title.trim();
    match title.strip_suffix(')').and_then(|title| title.split_once('(')) {
        Some((name, unit)) => (name.trim(), unit.trim()),
        None => (title, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns_of_a_table_count() {
        let text = "\u{feff}time, loss ,rate\r\n0 s,1 %,8 Mbit/s\r\n\r\n1.5 s,2 %,0 bit/s\n";
        let pair = |time, value| Node::new(Data::List(vec![Node::text(time), Node::text(value)]));
        assert_eq!(columns(text, ["time", "rate"]).unwrap(), [pair("0 s", "8 Mbit/s"), pair("1.5 s", "0 bit/s")]);
        let units = "rate (Mbit/s),time(s)\n8,0\n250 kbit/s,1.5e0\n";
        assert_eq!(columns(units, ["time", "rate"]).unwrap(), [pair("0 s", "8 Mbit/s"), pair("1.5e0 s", "250 kbit/s")]);
        assert_eq!(columns(text, ["time", "delay"]).unwrap_err(), "has no column \"delay\" in its first line");
        assert_eq!(columns("time,rate\n0 s\n", ["time", "rate"]).unwrap_err(), "line 2 has 1 cells; the first line has 2");
        assert_eq!(columns("", ["time", "rate"]).unwrap_err(), "has no column \"time\" in its first line");
    }

    #[test]
    fn every_parameter_in_a_file_exists() {
        for one in &IN_FILES {
            let axis = crate::scenario::part::axis(one.axis).unwrap();
            assert!(axis.part(one.part).unwrap().params.iter().any(|param| param.name == one.param), "{one:?}");
        }
    }
}
