//! `[sweep.paths]`: a population of paths, from a table or drawn from distributions. The columns are paths of keys, and the rows their values.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::scenario::error::{Origin, Problems};
use crate::scenario::setting::{self, Setting};
use crate::scenario::spec::ROOT;
use crate::scenario::sweep::series::{MAX_VARIANTS, check_keys, whole};
use crate::scenario::sweep::span::plural;
use crate::scenario::text::{quoted, unknown};
use crate::scenario::unit::{Decimal, find_unit};
use crate::scenario::value::{Data, Node};

/// The column with the rows' names.
const LABEL: &str = "label";

/// A column of the file of `[sweep.paths]`. Its cells are one text, because a text for each would take ten times the memory of a short cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    header: String,
    text: String,
    /// Length of the text up to the end of each cell, in bytes.
    ends: Vec<u32>,
}

impl TableColumn {
    /// A column. `header` is the path of a key, with a unit if the cells have none: `topology.bottleneck.rate (Mbit/s)`; `text` has the cells
    /// one after the other, and `lengths` the bytes of each. `None` if the lengths are not those of texts, or the text is 4 GiB or longer.
    #[must_use]
    pub fn new(header: String, text: String, lengths: impl IntoIterator<Item = u32>) -> Option<Self> {
        let mut end = 0_u32;
        let mut ends = Vec::new();
        for length in lengths {
            end = end.checked_add(length).filter(|end| text.is_char_boundary(*end as usize))?;
            ends.push(end);
        }
        (end as usize == text.len()).then_some(Self { header, text, ends })
    }

    /// Its header.
    #[must_use]
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Its cells as one text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of each cell; 0 if it is empty.
    pub fn lengths(&self) -> impl Iterator<Item = u32> {
        self.ends.iter().scan(0, |before, end| Some(end - std::mem::replace(before, *end)))
    }

    fn rows(&self) -> usize {
        self.ends.len()
    }

    /// The cell in row `row`, counted from 0.
    fn cell(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start as usize..self.ends[row] as usize]
    }

    fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.rows()).map(|row| self.cell(row))
    }
}

/// Where the rows of a population come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableRequest {
    /// A CSV or Parquet file.
    File(PathBuf),
    /// Rows drawn from distributions.
    Population {
        /// A name, or a TOML file with its path.
        name: String,
        /// Number of rows.
        count: usize,
        /// Seed of the drawing.
        seed: u64,
    },
}

impl fmt::Display for TableRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(f),
            Self::Population { name, .. } => write!(f, "population {name}"),
        }
    }
}

/// The population.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Where its rows come from.
    pub(crate) request: TableRequest,
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
        if node.get("population").is_some() {
            return Self::drawn(node, folder, problems);
        }
        if let Err(message) = check_keys(node, &["file"]) {
            refuse(&node.origin, "sweep.paths", message);
        }
        let example = "file = \"paths.csv\", or population = \"us\" with a count";
        let Some(file) = node.get("file") else {
            refuse(&node.origin, "sweep.paths", format!("must be a table with the name of a CSV or Parquet file: {example}"));
            return None;
        };
        let extension = |name: &str| Path::new(name).extension().is_some_and(|end| end == "csv" || end == "parquet");
        match &file.data {
            Data::Text(name) if extension(name) => Some(Self::of(TableRequest::File(folder.join(name)))),
            other => {
                let message = format!("must be the name of a .csv or .parquet file, but is {}", other.noun());
                refuse(&file.origin, "sweep.paths.file", message);
                None
            }
        }
    }

    /// Reads `[sweep.paths]` with a population; whether it exists is known when its rows are drawn.
    fn drawn(node: &Node, folder: &Path, problems: &mut Problems) -> Option<Self> {
        if let Err(message) = check_keys(node, &["population", "count", "seed"]) {
            problems.add(&node.origin, "sweep.paths", message);
        }
        let name = match node.get("population").map(|name| (name, &name.data)) {
            Some((_, Data::Text(name))) if Path::new(name).extension().is_some_and(|end| end == "toml") => {
                Some(folder.join(name).display().to_string())
            }
            Some((_, Data::Text(name))) => Some(name.clone()),
            Some((given, other)) => {
                let message = format!("must be the name of a population or of its .toml file, but is {}", other.noun());
                problems.add(&given.origin, "sweep.paths.population", message);
                None
            }
            None => None,
        };
        let count = whole(node, "sweep.paths", ("count", 1, MAX_VARIANTS as u64, None), problems);
        let seed = whole(node, "sweep.paths", ("seed", 0, u64::from(u32::MAX), Some(1)), problems);
        Some(Self::of(TableRequest::Population { name: name?, count: count? as usize, seed: seed? }))
    }

    /// A population whose rows are taken later.
    fn of(request: TableRequest) -> Self {
        Self { request, labels: None, columns: Vec::new(), rows: 0 }
    }

    /// Takes the columns of the file.
    pub(crate) fn take(&mut self, node: &Node, columns: Option<&[Arc<TableColumn>]>, problems: &mut Problems) {
        let Some(columns) = columns else {
            let message = "needs a table, which the Python package reads: read the scenario with ackclock.load";
            return problems.add(&node.origin, "sweep.paths", message);
        };
        self.rows = columns.first().map_or(0, |column| column.rows());
        if self.rows == 0 || columns.iter().all(|column| column.header.trim() == LABEL) {
            let what = if self.rows == 0 { "has no rows" } else { "has no column with the path of a key" };
            return problems.add(&self.origin(), "", what);
        }
        if columns.iter().any(|column| column.rows() != self.rows) {
            return problems.add(&self.origin(), "", "has columns of different lengths");
        }
        if self.rows > MAX_VARIANTS {
            return problems.add(&self.origin(), "", format!("has more than {MAX_VARIANTS} rows"));
        }
        for column in columns {
            if let Some(row) = column.cells().position(str::is_empty) {
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
        let mut rows: Vec<usize> = (0..column.rows()).collect();
        rows.sort_by_key(|row| column.cell(*row));
        let equal = rows.windows(2).filter(|pair| column.cell(pair[0]) == column.cell(pair[1]));
        if let Some(&[first, row]) = equal.min_by_key(|pair| pair[1]) {
            let message = format!("the label {} is that of row {} already; every row needs its own", quoted(column.cell(row)), first + 1);
            return problems.add(&self.place(row, column), "", message);
        }
        self.labels = Some(Arc::clone(column));
    }

    fn take_column(&mut self, column: &Arc<TableColumn>, problems: &mut Problems) {
        let header = column.header.trim();
        let at = Origin::Elsewhere(format!("{}: column {}", self.request, quoted(header)).into());
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
            if let Some((row, cell)) = column.cells().enumerate().find(|(_, cell)| !number(cell)) {
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
        self.labels.as_ref().map(|labels| labels.cell(row))
    }

    /// The settings of row `row`.
    pub(crate) fn get(&self, row: usize) -> impl Iterator<Item = Arc<Setting>> {
        self.columns.iter().map(move |column| {
            let cell = column.cells.cell(row).trim();
            let origin = self.place(row, &column.cells);
            let value = match column.unit {
                Some(unit) => Node { origin, data: Data::Text(format!("{cell} {unit}")) },
                None => setting::value(&column.path, cell, &origin, &mut Problems::default()),
            };
            Arc::new(Setting { path: column.path.clone(), value })
        })
    }

    fn origin(&self) -> Origin {
        Origin::Elsewhere(self.request.to_string().into())
    }

    /// The cell of a column in row `row`, counted from 0; messages count from 1.
    fn place(&self, row: usize, column: &TableColumn) -> Origin {
        Origin::Elsewhere(format!("{}: row {}, column {}", self.request, row + 1, quoted(&column.header)).into())
    }
}
