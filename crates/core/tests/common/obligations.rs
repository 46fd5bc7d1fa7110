//! What the tests ask of every description: of parts here, and of analytic models in their crate.
//!
//! `parts` are descriptions with the folder of their file below `src`; the folder is empty for `src` itself.

use std::collections::BTreeSet;
use std::path::Path;

use ackclock_core::params::{Default, Description, Kind};

use super::amount;

/// Whether `name` consists of words in lower case, joined by underscores.
pub(crate) fn is_snake_case(name: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.split('_').all(word) && name.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Names of parts and parameters are unique within their list, and in snake case.
pub(crate) fn assert_names(axis: &str, parts: &[Description]) {
    let names: BTreeSet<&str> = parts.iter().map(|part| part.name).collect();
    assert_eq!(names.len(), parts.len(), "{axis} has two parts with the same name");
    for part in parts {
        assert!(is_snake_case(part.name), "{axis}: {}", part.name);
        let params: BTreeSet<&str> = part.params.iter().map(|param| param.name).collect();
        assert_eq!(params.len(), part.params.len(), "{axis}: {} has two parameters with the same name", part.name);
        assert!(params.into_iter().all(is_snake_case), "{axis}: {}", part.name);
    }
}

/// Every part has the name of its file, and every file below `source` that declares a part is registered.
pub(crate) fn assert_files(source: &Path, parts: &[(String, &Description)]) {
    let registered: BTreeSet<String> = parts.iter().map(|(folder, part)| format!("{folder}/{}.rs", part.name)).collect();
    let folders: BTreeSet<&String> = parts.iter().map(|(folder, _)| folder).collect();
    let mut on_disk = BTreeSet::new();
    for folder in folders {
        for file in std::fs::read_dir(source.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let declares = |text: &str| ["pub static ENTRY", "pub const DESCRIPTION: Description"].iter().any(|part| text.contains(part));
            if path.is_file() && declares(&std::fs::read_to_string(&path).unwrap()) {
                on_disk.insert(format!("{folder}/{}", path.file_name().unwrap().display()));
            }
        }
    }
    assert_eq!(registered, on_disk);
}

/// The header follows the template, and no section of it is empty.
pub(crate) fn assert_header(folder: &str, part: &Description) {
    let lines: Vec<&str> = part.header.lines().map(|line| line.trim_start_matches("//!").trim()).collect();
    let sections: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("## ")).collect();
    let template = ["What it does", "References", "Differs from the document", "Parameters"];
    assert_eq!(sections, template, "{folder}/{}", part.name);
    assert!(lines[0].ends_with('.') && !lines[0].starts_with('#'), "{folder}/{}: {:?} is no title", part.name, lines[0]);
    for section in part.header.split("## ").skip(1) {
        assert!(section.lines().skip(1).any(|line| line.len() > "//! ".len()), "{folder}/{}: {section:?} is empty", part.name);
    }
    assert!(!part.summary.is_empty() && !part.reference.is_empty(), "{folder}/{}", part.name);
}

/// Every parameter is documented: in the header, and by one line.
pub(crate) fn assert_parameters(folder: &str, part: &Description) {
    let (_, section) = part.header.split_once("## Parameters").unwrap();
    assert_eq!(
        part.params.is_empty(),
        section.contains("None."),
        "{folder}/{}: \"None.\" if and only if there are no parameters",
        part.name
    );
    for param in part.params {
        let what = format!("{folder}/{}: {}", part.name, param.name);
        assert!(section.contains(&format!("`{}`", param.name)), "{what} is missing from the header's Parameters");
        assert!(!param.doc.is_empty() && !param.doc.contains('\n'), "{what}: the doc must be one line");
    }
}

/// Every default is of its kind and within bounds.
pub(crate) fn assert_defaults(folder: &str, part: &Description) {
    for param in part.params {
        let within = |number: f64| param.kind.bounds().is_some_and(|(low, high)| (low..=high).contains(&number));
        let sound = match (param.kind, param.default) {
            (Kind::Word(words), Default::Word(word)) => words.contains(&word),
            (Kind::Text, Default::Word(text)) => !text.is_empty(),
            (Kind::Numbers { .. }, Default::Numbers(numbers)) => numbers.iter().copied().all(within),
            (Kind::Limit { .. } | Kind::ByteLimit { .. }, Default::Limit(limit)) => within(amount(limit)),
            (Kind::Bool, Default::Bool(_)) => true,
            (Kind::Series(_), Default::Series(steps)) => {
                let ordered = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
                ordered && steps.first().is_some_and(|(time, _)| *time == 0.0) && steps.iter().all(|(_, value)| within(*value))
            }
            (Kind::Part(axis), Default::Part(name)) => axis.part(name).is_some(),
            (Kind::Parts(axis), Default::Parts(names)) => names.iter().all(|name| axis.part(name).is_some()),
            (kind, Default::Auto) => {
                !matches!(kind, Kind::Word(_) | Kind::Text | Kind::Numbers { .. } | Kind::Bool | Kind::Series(_) | Kind::Parts(_))
            }
            (Kind::Integer { .. }, Default::Number(number)) => within(number) && number.fract() == 0.0,
            (Kind::Probability { min, max }, Default::Number(number)) => within(number) && min >= 0.0 && max <= 1.0,
            (
                Kind::Segments { .. }
                | Kind::Number { .. }
                | Kind::Duration { .. }
                | Kind::Size { .. }
                | Kind::WireSize { .. }
                | Kind::Rate { .. },
                Default::Number(number),
            ) => within(number),
            _ => false,
        };
        // So that a path such as queue.queue.limit finds the axis.
        let named = if let Kind::Part(axis) | Kind::Parts(axis) = param.kind { param.name == axis.name } else { true };
        assert!(named, "{folder}/{}: {} has a part of another axis", part.name, param.name);
        assert!(sound, "{folder}/{}: {} = {:?} is not a {:?} within bounds", part.name, param.name, param.default, param.kind);
    }
}

/// Every quantity is documented, by one line, and has a name of its own.
pub(crate) fn assert_quantities(folder: &str, part: &Description) {
    let names: BTreeSet<&str> = part.quantities.iter().map(|quantity| quantity.name).collect();
    assert_eq!(names.len(), part.quantities.len(), "{folder}/{} has two quantities with the same name", part.name);
    for quantity in part.quantities {
        assert!(!quantity.doc.is_empty() && !quantity.doc.contains('\n'), "{folder}/{}: {}", part.name, quantity.name);
    }
}
