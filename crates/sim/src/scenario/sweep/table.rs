//! `[sweep.paths]`: a population from a table, whose columns are paths of keys and whose rows are the values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scenario::error::{Origin, Problems};
use crate::scenario::setting::Setting;
use crate::scenario::spec::ROOT;
use crate::scenario::sweep::series::{MAX_VARIANTS, check_keys};
use crate::scenario::sweep::span::plural;
use crate::scenario::text::{quoted, unknown};
use crate::scenario::unit::{Decimal, find_unit};
use crate::scenario::value::{Data, Node, read_setting};

/// The column with the rows' names.
const LABEL: &str = "label";

/// A column of the file of `[sweep.paths]`.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// Its header: the path of a key, with a unit if the cells have none: `topology.bottleneck.rate (Mbit/s)`.
    pub header: String,
    /// Its cells as texts; `None` if empty.
    pub cells: Vec<Option<Box<str>>>,
}

/// The population.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Its file.
    pub(crate) file: PathBuf,
    labels: Option<Arc<TableColumn>>,
    columns: Vec<Column>,
    rows: usize,
}

#[derive(Clone, Debug)]
struct Column {
    path: String,
    unit: Option<&'static str>,
    cells: Arc<TableColumn>,
}

impl Table {
    /// Reads `[sweep.paths]` of a document in `folder`; the table itself is taken later.
    pub(crate) fn read(node: &Node, folder: &Path, problems: &mut Problems) -> Option<Self> {
        let mut refuse = |origin: &Origin, key: &str, message: String| problems.add(origin, key, message);
        if let Err(message) = check_keys(node, &["file"]) {
            refuse(&node.origin, "sweep.paths", message);
        }
        let example = "file = \"paths.csv\"";
        let Some(file) = node.get("file") else {
            refuse(&node.origin, "sweep.paths", format!("must be a table with the name of a CSV or Parquet file: {example}"));
            return None;
        };
        let extension = |name: &str| Path::new(name).extension().is_some_and(|end| end == "csv" || end == "parquet");
        match &file.data {
            Data::Text(name) if extension(name) => Some(Self { file: folder.join(name), labels: None, columns: Vec::new(), rows: 0 }),
            other => {
                let message = format!("must be the name of a .csv or .parquet file, but is {}", other.noun());
                refuse(&file.origin, "sweep.paths.file", message);
                None
            }
        }
    }

    /// Takes the columns of the file.
    pub(crate) fn take(&mut self, node: &Node, columns: Option<&[Arc<TableColumn>]>, problems: &mut Problems) {
        let Some(columns) = columns else {
            let message = "needs a table, which the Python package reads: read the scenario with ackclock.load";
            return problems.add(&node.origin, "sweep.paths", message);
        };
        self.rows = columns.first().map_or(0, |column| column.cells.len());
        if self.rows == 0 || columns.iter().all(|column| column.header.trim() == LABEL) {
            let what = if self.rows == 0 { "has no rows" } else { "has no column with the path of a key" };
            return problems.add(&self.origin(), "", what);
        }
        if columns.iter().any(|column| column.cells.len() != self.rows) {
            return problems.add(&self.origin(), "", "has columns of different lengths");
        }
        if self.rows > MAX_VARIANTS {
            return problems.add(&self.origin(), "", format!("has more than {MAX_VARIANTS} rows"));
        }
        for column in columns {
            if let Some(row) = column.cells.iter().position(Option::is_none) {
                problems.add(&self.place(row, column), "", "is empty; every row needs a value");
            } else if column.header.trim() == LABEL {
                self.take_labels(column, problems);
            } else {
                self.take_column(column, problems);
            }
        }
    }

    /// Takes the names of the rows, which tell their runs apart.
    fn take_labels(&mut self, column: &Arc<TableColumn>, problems: &mut Problems) {
        let mut rows = BTreeMap::new();
        for (row, label) in column.cells.iter().enumerate() {
            let Some(label) = label.as_deref() else { continue };
            if let Some(first) = rows.insert(label, row) {
                let message = format!("the label {} is that of row {} already; every row needs its own", quoted(label), first + 1);
                return problems.add(&self.place(row, column), "", message);
            }
        }
        self.labels = Some(Arc::clone(column));
    }

    fn take_column(&mut self, column: &Arc<TableColumn>, problems: &mut Problems) {
        let header = column.header.trim();
        let at = Origin::Elsewhere(format!("{}: column {}", self.file.display(), quoted(header)).into());
        let (path, unit) = match header.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
            Some((path, unit)) => match find_unit(unit.trim()) {
                Ok((unit, ..)) => (path.trim(), Some(plural(unit))),
                Err(message) => return problems.add(&at, "", message),
            },
            None => (header, None),
        };
        let first = path.split('.').next().unwrap_or(path);
        let known: Vec<&str> = ROOT.iter().map(|key| key.name).filter(|name| *name != "sweep").chain([LABEL]).collect();
        if !known.contains(&first) {
            return problems.add(&at, "", unknown("key", first, &known));
        }
        if self.columns.iter().any(|column| column.path == path) {
            return problems.add(&at, "", "stands twice in the table");
        }
        if let Some(unit) = unit {
            let number = |cell: &str| Decimal::read(cell.trim()).is_some_and(|(_, rest)| rest.is_empty());
            let wrong = |cell: &Option<Box<str>>| cell.as_deref().is_some_and(|cell| !number(cell));
            if let Some((row, Some(cell))) = column.cells.iter().enumerate().find(|(_, cell)| wrong(cell)) {
                let message = format!("must be a number, because the header has the unit {unit}, but is {}", quoted(cell));
                return problems.add(&self.place(row, column), "", message);
            }
        }
        self.columns.push(Column { path: path.to_owned(), unit, cells: Arc::clone(column) });
    }

    /// Number of rows; zero until the table is taken.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Paths of the columns.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.path.as_str())
    }

    /// The name of row `row`, if the table has names.
    pub(crate) fn label(&self, row: usize) -> Option<&str> {
        self.labels.as_ref().and_then(|labels| labels.cells[row].as_deref())
    }

    /// The settings of row `row`.
    pub(crate) fn get(&self, row: usize) -> impl Iterator<Item = Arc<Setting>> {
        self.columns.iter().map(move |column| {
            let cell = column.cells.cells[row].as_deref().unwrap_or_default().trim();
            let origin = self.place(row, &column.cells);
            let value = match column.unit {
                Some(unit) => Node { origin, data: Data::Text(format!("{cell} {unit}")) },
                None => read_setting(cell, &origin, &mut Problems::default()),
            };
            Arc::new(Setting { path: column.path.clone(), value })
        })
    }

    fn origin(&self) -> Origin {
        Origin::Elsewhere(self.file.display().to_string().into())
    }

    /// The cell of a column in row `row`, counted from 0; messages count from 1.
    fn place(&self, row: usize, column: &TableColumn) -> Origin {
        Origin::Elsewhere(format!("{}: row {}, column {}", self.file.display(), row + 1, quoted(&column.header)).into())
    }
}
