//! Every part there is: its name, its parameters with defaults and bounds, and how to build it.
//!
//! From here come the names a scenario may use, its JSON Schema, `ackclock list`, the reference pages and the tests that every part
//! gets for free. To add a part, write its file in the axis' folder and add its name to the axis below: one file, one line. Analytic
//! models are registered the same way; they are no parts of a scenario, but have parameters, pages and tests like them.

use crate::analytic::Model;
use crate::qdisc::Limit;

/// What values a parameter takes, and in which unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A real number of segments.
    Segments,
    /// A plain real number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Bool,
    /// A time; built with seconds.
    Duration,
    /// An amount of data; built with bytes.
    Size,
    /// A data rate; built with bits per second.
    Rate,
    /// A probability; built with 0 to 1, written in percent.
    Probability,
    /// Real numbers, in rising or falling order or none, as the parameter says.
    Numbers,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The capacity of a queue: "50 packets", "64 kB", "1 BDP", the last turned into packets.
    Limit,
    /// The same where the last is turned into bytes, for a part that may count bytes.
    ByteLimit,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`].
    Numbers(Vec<f64>),
    /// For [`Kind::Word`].
    Word(String),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// The part computes it; only for parameters whose default this is.
    Auto,
}

/// The default of a parameter, as a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`].
    Numbers(&'static [f64]),
    /// For [`Kind::Word`].
    Word(&'static str),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// For any kind: the part computes it. A scenario writes "auto".
    Auto,
}

impl Default {
    /// The default as a value.
    pub fn value(&self) -> Value {
        match *self {
            Self::Number(number) => Value::Number(number),
            Self::Numbers(numbers) => Value::Numbers(numbers.to_vec()),
            Self::Word(word) => Value::Word(word.to_owned()),
            Self::Limit(limit) => Value::Limit(limit),
            Self::Bool(value) => Value::Bool(value),
            Self::Auto => Value::Auto,
        }
    }
}

/// One parameter of a part.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key in a scenario.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is when a scenario is silent.
    pub default: Default,
    /// Smallest and largest number allowed, both included.
    pub bounds: (f64, f64),
    /// What it means and where the default comes from: one line.
    pub doc: &'static str,
}

/// Values for all parameters of a part, in the order of its declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(pub Vec<(&'static str, Value)>);

impl Params {
    /// The defaults of `declared`.
    pub fn defaults(declared: &[Param]) -> Self {
        Self(declared.iter().map(|param| (param.name, param.default.value())).collect())
    }

    /// Sets a declared parameter.
    ///
    /// # Panics
    /// If `name` is not declared: a broken invariant of the caller, which checks names against the registry.
    pub fn set(&mut self, name: &str, value: Value) {
        let slot = self.0.iter_mut().find(|(key, _)| *key == name);
        slot.unwrap_or_else(|| panic!("parameter {name} is not declared")).1 = value;
    }

    fn get(&self, name: &str) -> &Value {
        let found = self.0.iter().find(|(key, _)| *key == name);
        &found.unwrap_or_else(|| panic!("parameter {name} is not declared")).1
    }

    /// The number `name`.
    ///
    /// # Panics
    /// If `name` is not declared or not a number: a mistake in a part, found by the tests every part gets.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(number) => *number,
            other => panic!("parameter {name} is no number but {other:?}"),
        }
    }

    /// The number `name`, unless the part shall compute it.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn number_or_auto(&self, name: &str) -> Option<f64> {
        if *self.get(name) == Value::Auto { None } else { Some(self.number(name)) }
    }

    /// Whether `name` is true.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(value) => *value,
            other => panic!("parameter {name} is neither true nor false but {other:?}"),
        }
    }

    /// The numbers `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Value::Numbers(numbers) => numbers,
            other => panic!("parameter {name} is no list but {other:?}"),
        }
    }

    /// The queue capacity `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn limit(&self, name: &str) -> Limit {
        match self.get(name) {
            Value::Limit(limit) => *limit,
            other => panic!("parameter {name} is no queue limit but {other:?}"),
        }
    }

    /// The queue capacity `name`, unless the part shall compute it.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn limit_or_auto(&self, name: &str) -> Option<Limit> {
        if *self.get(name) == Value::Auto { None } else { Some(self.limit(name)) }
    }

    /// The word `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Word(word) => word,
            other => panic!("parameter {name} is no word but {other:?}"),
        }
    }
}

/// One part on one axis; `P` is the axis' trait object.
#[derive(Debug)]
pub struct Entry<P: ?Sized + 'static> {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is described: paper or RFC.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Checks what bounds of single parameters cannot say, and builds the part.
    pub build: fn(&Params) -> Result<Box<P>, String>,
}

/// What is the same for the entries of all axes, for listings, documentation and validation.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its name in a scenario.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is described.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The opening comment of its file, from which its page is made.
    pub header: &'static str,
}

/// Finds an entry by name.
pub fn find<P: ?Sized>(entries: &'static [&'static Entry<P>], name: &str) -> Option<&'static Entry<P>> {
    entries.iter().copied().find(|entry| entry.name == name)
}

/// Declares the files of a folder, and the tables of their entries.
macro_rules! files {
    ($folder:literal, $entry:ty: $($file:ident),+ $(,)?) => {
        $(pub mod $file;)+
        /// Every entry of this folder, in the order in which listings show them.
        pub static ENTRIES: &[&$entry] = &[$(&$file::ENTRY),+];

        /// Describes every entry of this folder.
        pub fn describe() -> Vec<crate::registry::Description> {
            let sources = [$(include_str!(concat!($folder, "/", stringify!($file), ".rs"))),+];
            ENTRIES.iter().zip(sources).map(|(entry, source)| entry.describe(source)).collect()
        }
    };
}

/// Declares the files of an axis, and the tables of their entries.
macro_rules! axis {
    ($folder:literal, $part:ty: $($file:ident),+ $(,)?) => {
        files! { $folder, crate::registry::Entry<$part>: $($file),+ }
    };
}

impl<P: ?Sized> Entry<P> {
    fn describe(&'static self, source: &'static str) -> Description {
        Description { name: self.name, summary: self.summary, reference: self.reference, params: self.params, header: header(source) }
    }
}

impl Model {
    fn describe(&'static self, source: &'static str) -> Description {
        Description { name: self.name, summary: self.summary, reference: self.reference, params: self.params, header: header(source) }
    }
}

/// The opening comment of a file.
fn header(source: &'static str) -> &'static str {
    let end = source.lines().take_while(|line| line.starts_with("//!")).map(|line| line.len() + 1).sum();
    &source[..end]
}

/// Windows with which a connection starts.
#[path = "cc/initial_window"]
pub mod initial_window {
    axis! { "cc/initial_window", dyn crate::cc::InitialWindow:
        fixed,
        rfc2001,
        rfc3390,
        rfc6928,
        ns2_table,
        yearly,
        negotiated,
        adaptive,
        unlimited,
    }
}

/// Growth below `ssthresh`.
#[path = "cc/slow_start"]
pub mod slow_start {
    axis! { "cc/slow_start", dyn crate::cc::SlowStart:
        standard,
        limited,
        limited_ns2,
        staged,
        queue_aware,
        hystart_pp,
        vegas,
    }
}

/// Growth from `ssthresh` on.
#[path = "cc/avoidance"]
pub mod avoidance {
    axis! { "cc/avoidance", dyn crate::cc::Avoidance:
        reno,
        binomial,
        polynomial,
        exponential,
        bandwidth_ratio,
        cubic,
        veno,
        vegas,
    }
}

/// Reduction at congestion.
#[path = "cc/loss_response"]
pub mod loss_response {
    axis! { "cc/loss_response", dyn crate::cc::LossResponse:
        halve,
        staged,
        westwood,
        return_to_threshold,
    }
}

/// Queue disciplines.
#[path = "qdisc"]
pub mod qdisc {
    axis! { "qdisc", crate::qdisc::Discipline:
        droptail,
        red,
        red_notify,
        fq,
        sfq,
        pi,
        vq,
        rem,
        gk,
        drr,
        srr,
        codel,
        fq_codel,
        pie,
    }
}

/// Loss models.
#[path = "loss"]
pub mod loss {
    axis! { "loss", dyn crate::loss::LossModel:
        bernoulli,
    }
}

/// Analytic models.
#[path = "analytic"]
pub mod analytic {
    files! { "analytic", crate::analytic::Model:
        mathis,
        pftk,
        response,
        bdp,
        rbt,
        rounds,
        initial_window,
        population,
        sliding_window,
        arq,
        growth,
    }
}

/// An axis by its name in a scenario, with the description of its parts.
pub fn axes() -> [(&'static str, Vec<Description>); 6] {
    [
        ("initial_window", initial_window::describe()),
        ("slow_start", slow_start::describe()),
        ("avoidance", avoidance::describe()),
        ("loss_response", loss_response::describe()),
        ("queue", qdisc::describe()),
        ("loss", loss::describe()),
    ]
}
