//! `[sweep.sample]`: keys whose values are drawn together, as points of the unit cube that each key maps to its own distribution.

use std::sync::Arc;

use crate::scenario::error::{Origin, Problems};
use crate::scenario::setting::Setting;
use crate::scenario::sweep::series::{MAX_VARIANTS, check_keys, is_range, settings, whole};
use crate::scenario::sweep::span::Span;
use crate::scenario::text::unknown;
use crate::scenario::value::{Data, Node};

/// Methods of drawing.
pub(crate) const METHODS: [&str; 3] = ["random", "latin-hypercube", "sobol"];

/// Most dimensions of the Sobol sequence in `scipy.stats.qmc`.
const MAX_SOBOL: usize = 21201;

/// The points of the unit cube that a sweep needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleRequest {
    /// `random`, `latin-hypercube` or `sobol`.
    pub method: &'static str,
    /// Number of points.
    pub count: usize,
    /// Seed of the drawing.
    pub seed: u64,
    /// Coordinates of a point: one for each key.
    pub dimensions: usize,
}

/// Keys that are drawn together.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The points that it needs.
    pub(crate) request: SampleRequest,
    keys: Vec<Drawn>,
    /// The points, one after the other; empty until drawn.
    points: Arc<[f64]>,
}

/// One key and its distribution.
#[derive(Clone, Debug)]
struct Drawn {
    path: String,
    origin: Origin,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    /// One of these, with equal probability.
    List(Vec<Arc<Setting>>),
    /// Uniform, or log-uniform.
    Span(Span),
}

impl Sample {
    /// Reads `[sweep.sample]`.
    pub(crate) fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        const KEYS: [&str; 4] = ["method", "count", "seed", "keys"];
        let mut refuse = |origin: &Origin, key: &str, message: String| {
            let key = if key.is_empty() { "sweep.sample".to_owned() } else { format!("sweep.sample.{key}") };
            problems.add(origin, key, message);
        };
        let Data::Table(entries) = &node.data else {
            refuse(&node.origin, "", format!("must be a table with method, count, seed and keys, but is {}", node.data.noun()));
            return None;
        };
        for (key, value) in entries.iter().filter(|(key, _)| !KEYS.contains(&key.as_str())) {
            let hint = "; keys to draw are in [sweep.sample.keys]";
            refuse(&value.origin, key, unknown("key", key, &KEYS) + hint);
        }
        let method = match node.get("method").map(|method| (method, &method.data)) {
            None => {
                refuse(&node.origin, "method", format!("is missing; write one of {}", METHODS.join(", ")));
                None
            }
            Some((method, Data::Text(word))) => {
                let found = METHODS.into_iter().find(|known| known == word);
                if found.is_none() {
                    refuse(&method.origin, "method", unknown("method", word, &METHODS));
                }
                found
            }
            Some((method, other)) => {
                refuse(&method.origin, "method", format!("must be a text, but is {}", other.noun()));
                None
            }
        };
        let count = whole(node, "sweep.sample", ("count", 1, MAX_VARIANTS as u64, None), problems);
        let seed = whole(node, "sweep.sample", ("seed", 0, u64::from(u32::MAX), Some(1)), problems);
        if let (Some("sobol"), Some(count), Some(at)) = (method, count, node.get("count"))
            && !count.is_power_of_two()
        {
            let near = count.next_power_of_two();
            let near = if near as usize > MAX_VARIANTS { near / 2 } else { near };
            let message = format!("must be a power of two for sobol, but is {count}; did you mean {near}?");
            problems.add(&at.origin, "sweep.sample.count", message);
        }
        let mut keys = Vec::new();
        match node.get("keys").map(|keys| (keys, &keys.data)) {
            Some((_, Data::Table(entries))) if !entries.is_empty() => {
                for (path, node) in entries {
                    read_key(path, node, &mut keys, problems);
                }
            }
            other => {
                let origin = other.map_or(&node.origin, |(keys, _)| &keys.origin);
                let example = "\"topology.bottleneck.rate\" = { from = \"1 Mbit/s\", to = \"1 Gbit/s\", scale = \"log\" }";
                problems.add(origin, "sweep.sample.keys", format!("must be a table with the keys to draw, such as {example}"));
            }
        }
        if method == Some("sobol") && keys.len() > MAX_SOBOL {
            problems.add(&node.origin, "sweep.sample.keys", format!("sobol has at most {MAX_SOBOL} keys, but these are {}", keys.len()));
        }
        let request = SampleRequest { method: method?, count: count? as usize, seed: seed?, dimensions: keys.len() };
        Some(Self { request, keys, points: Arc::new([]) })
    }

    /// Takes the drawn points.
    pub(crate) fn take(&mut self, points: Option<&Arc<[f64]>>) -> Result<(), String> {
        let SampleRequest { count, dimensions, .. } = self.request;
        let Some(points) = points else {
            return Err("needs random points, which the Python package draws: read the scenario with ackclock.load".to_owned());
        };
        if points.len() != count * dimensions || !points.iter().all(|share| (0.0..=1.0).contains(share)) {
            return Err(format!("needs {count} points of the unit cube with {dimensions} coordinates each"));
        }
        self.points = Arc::clone(points);
        Ok(())
    }

    /// Paths of the keys.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| key.path.as_str())
    }

    /// The settings of point `index`.
    pub(crate) fn get(&self, index: usize) -> impl Iterator<Item = Arc<Setting>> {
        let shares = &self.points[index * self.keys.len()..];
        self.keys.iter().zip(shares).map(|(key, share)| key.quantile(*share))
    }

    /// A setting of each key.
    pub(crate) fn examples(&self) -> impl Iterator<Item = Arc<Setting>> {
        self.keys.iter().map(|key| key.quantile(0.0))
    }
}

impl Drawn {
    fn quantile(&self, share: f64) -> Arc<Setting> {
        let data = match &self.source {
            Source::List(values) => {
                let index = (share * values.len() as f64) as usize;
                return Arc::clone(&values[index.min(values.len() - 1)]);
            }
            Source::Span(span) => span.quantile(share),
        };
        Arc::new(Setting { path: self.path.clone(), value: Node { origin: self.origin.clone(), data } })
    }
}

/// Reads the key `path`, which nested tables can spell.
fn read_key(path: &str, node: &Node, keys: &mut Vec<Drawn>, problems: &mut Problems) {
    let source = match &node.data {
        Data::List(items) if items.is_empty() => Err("has no values".to_owned()),
        Data::List(items) => Ok(Source::List(settings(path, items))),
        Data::Table(_) if is_range(node) => check_keys(node, &["from", "to", "scale"]).and_then(|()| Span::read(node, 1)).map(Source::Span),
        Data::Table(entries) if !entries.is_empty() => {
            return entries.iter().for_each(|(step, below)| read_key(&format!("{path}.{step}"), below, keys, problems));
        }
        other => {
            let forms = "must be a list to choose from or a range { from = \"1 ms\", to = \"1 s\", scale = \"log\" }";
            Err(format!("{forms}, but is {}", other.noun()))
        }
    };
    match source {
        Ok(source) => keys.push(Drawn { path: path.to_owned(), origin: node.origin.clone(), source }),
        Err(message) => problems.add(&node.origin, format!("sweep.sample.keys.{path}"), message),
    }
}
