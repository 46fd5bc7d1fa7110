//! Documents as text, which another process can restore, and the files that a document names.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use crate::scenario::Document;
use crate::scenario::error::{Problems, ScenarioError};
use crate::scenario::path_file::FILE;
use crate::scenario::toml_reader::read_toml;
use crate::scenario::value::{Data, Node};

/// The keys that name files: of an application, and of models of links and `[sweep.paths]`.
const FILE_KEYS: [&str; 2] = ["har", FILE];

impl Document {
    /// The document with all its settings as TOML, for [`Document::restore`]. Unlike [`Document::frozen`], it preserves `[sweep]`,
    /// shorthands, and file names.
    #[must_use]
    pub fn state(&self) -> String {
        let mut text = String::new();
        if let Data::Table(entries) = &self.tree(&mut Problems::default()).data {
            for (key, node) in entries {
                let _ = writeln!(text, "{} = {}", quote(key), write(node));
            }
        }
        text
    }

    /// Reads the text of [`Document::state`], for a document with this file name and origin.
    ///
    /// # Errors
    /// If `text` is not TOML.
    pub fn restore(text: &str, file: &str, python: bool) -> Result<Self, ScenarioError> {
        let mut problems = Problems::default();
        let mut tree = read_toml(text, &mut problems);
        tree.clear_origins();
        problems.unless_any(file, Self { file: file.into(), python, files: true, tree: Arc::new(tree), settings: Vec::new() })
    }

    /// The document's file name, and whether it comes from the Python API.
    #[must_use]
    pub fn origin(&self) -> (&str, bool) {
        (&self.file, self.python)
    }

    /// `[sweep]` as TOML; empty if there is none.
    #[must_use]
    pub fn sweep(&self) -> String {
        self.tree(&mut Problems::default()).get("sweep").map(write).unwrap_or_default()
    }

    /// The files that the document names, also in `[sweep]`.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut names = Vec::new();
        let tree = self.tree(&mut Problems::default());
        collect(&tree, false, &mut names);
        let population = tree.get("sweep").and_then(|sweep| sweep.get("paths")?.get("population"));
        // The name of a population is no file.
        if let Some(Data::Text(name)) = population.map(|file| &file.data)
            && name.contains('.')
        {
            names.push(name.clone());
        }
        names.into_iter().map(|name| self.folder().join(name)).collect()
    }
}

/// Collects the texts at and below the keys [`FILE_KEYS`]. In `[sweep]`, a key can also be a path that ends in this name.
fn collect(node: &Node, named: bool, names: &mut Vec<String>) {
    match &node.data {
        Data::Text(text) if named => names.push(text.clone()),
        Data::List(items) => items.iter().for_each(|item| collect(item, named, names)),
        Data::Table(entries) => {
            for (key, value) in entries {
                collect(value, named || key.rsplit('.').next().is_some_and(|last| FILE_KEYS.contains(&last)), names);
            }
        }
        _ => {}
    }
}

/// A text as TOML. Only DEL differs from JSON: TOML requires an escape.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn write(node: &Node) -> String {
    match &node.data {
        Data::Bool(value) => value.to_string(),
        Data::Integer(number) => number.to_string(),
        // Debug writes the shortest text that reads as the same number, always with a point or an exponent. Infinities differ in TOML.
        Data::Float(number) if number.is_nan() => "nan".to_owned(),
        Data::Float(number) if number.is_infinite() => if *number > 0.0 { "inf" } else { "-inf" }.to_owned(),
        Data::Float(number) => format!("{number:?}"),
        Data::Text(text) => quote(text),
        Data::List(items) => format!("[{}]", items.iter().map(write).collect::<Vec<_>>().join(", ")),
        Data::Table(entries) => {
            let entries: Vec<String> = entries.iter().map(|(key, node)| format!("{} = {}", quote(key), write(node))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::SweepData;

    #[test]
    fn a_restored_document_is_the_same() {
        let text = "duration = \"2 s\"\nseed = 3\n[[flow]]\nname = \"a \\\"quoted\\\" \\u007f\"\nrwnd = \"9 packets\"\n\
                    slow_start = { kind = \"limited\", max_ssthresh = \"60 segments\" }\n[sweep]\n\"flow.0.start\" = [\"1 ms\", \"2 ms\"]\n\
                    [sweep.algorithm]\nodd = { \"flow.avoidance\" = { kind = \"cubic\", c = 0.1 } }\n";
        let mut document = Document::from_toml(text, "dir/t.toml").unwrap();
        document.set("seed", "4").unwrap();
        let (file, python) = document.origin();
        let again = Document::restore(&document.state(), file, python).unwrap();
        let tree = |document: &Document| document.tree(&mut Problems::default());
        assert_eq!(tree(&again), tree(&document));
        assert_eq!(again.frozen().unwrap(), document.frozen().unwrap());
        assert_eq!((again.sweep(), again.origin()), (document.sweep(), ("dir/t.toml", false)));
        let variants = |document: &Document| -> Vec<String> {
            document.points(&SweepData::default()).unwrap().iter().map(|variant| variant.document.frozen().unwrap()).collect()
        };
        assert_eq!(variants(&again), variants(&document));
        let variant = &document.points(&SweepData::default()).unwrap().get(1).unwrap().document;
        assert_eq!(Document::restore(&variant.state(), file, python).unwrap().frozen().unwrap(), variants(&document)[1]);
    }

    #[test]
    fn floats_read_as_the_same_numbers() {
        for number in [0.1, 1.0, 1e300, 5e-324, -0.0, 1.0 / 3.0, f64::INFINITY] {
            let text = write(&Node::new(Data::Float(number)));
            let mut problems = Problems::default();
            let tree = read_toml(&format!("x = {text}"), &mut problems);
            assert_eq!(tree.get("x").map(|node| &node.data), Some(&Data::Float(number)), "{text}");
        }
    }

    #[test]
    fn files_are_found_wherever_they_are_named() {
        let text = "topology.bottleneck = { rate = { kind = \"mahimahi\", file = \"x.down\" } }\n\
                    [[flow]]\nname = \"har\"\napplication = { kind = \"web\", har = \"a.har\" }\n[sweep]\n\
                    \"flow.application.har\" = [\"b.har\", \"/c.har\"]\n\"topology.bottleneck.rate.file\" = [\"y.down\"]\n\
                    [sweep.paths]\nfile = \"p.csv\"\n";
        let document = Document::from_toml(text, "dir/t.toml").unwrap();
        let files = ["dir/x.down", "dir/a.har", "dir/b.har", "/c.har", "dir/y.down", "dir/p.csv"];
        assert_eq!(document.files(), files.map(PathBuf::from));
    }
}
