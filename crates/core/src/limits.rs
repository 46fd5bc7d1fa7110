//! Every limit of what is read, shown and run, in one table. Limits keep a wrong file from taking the memory and the time of the machine.

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What is limited.
    pub name: &'static str,
    /// The largest number.
    pub most: u64,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// What it applies to, and what to do beyond it.
    pub doc: &'static str,
}

const fn bytes(name: &'static str, most: u64, doc: &'static str) -> Limit {
    Limit { name, most, unit: "B", doc }
}

const fn count(name: &'static str, most: u64, doc: &'static str) -> Limit {
    Limit { name, most, unit: "", doc }
}

/// A scenario file.
pub const SCENARIO: Limit = bytes("scenario", 32_000_000, "A scenario file. Write equal flows as one, with `count`.");
/// A table of a sweep.
pub const TABLE: Limit = bytes("table", 256_000_000, "A CSV or Parquet file of `[sweep.paths]`. Split the population into several sweeps.");
/// Columns of a table of a sweep.
pub const COLUMNS: Limit = count("columns", 1_000, "Columns of the file of `[sweep.paths]`.");
/// Cells of a table of a sweep.
pub const CELLS: Limit = count("cells", 20_000_000, "Cells of a Parquet file of `[sweep.paths]`: it can be small with many equal cells.");
/// An HTTP Archive.
pub const HAR: Limit = bytes("har", 100_000_000, "An HTTP Archive (HAR). Save it without the bodies of responses.");
/// A file of the rate or the delay of a link.
pub const PATH: Limit = bytes("path", 20_000_000, "A trace of Mahimahi, or a CSV file of rates, delays or losses.");
/// A script of packets.
pub const SCRIPT: Limit = bytes("script", 1_000_000, "A script of packets, also with the values of its definitions.");
/// A block of code of a script.
pub const SCRIPT_CODE: Limit = bytes("script_code", 100_000, "A block `%{ … }%` of a script.");
/// A file of a paper.
pub const PAPER: Limit = bytes("paper", 4_000_000, "`paper.toml` and `tables.toml` of a paper.");
/// Claims of a paper.
pub const CLAIMS: Limit = bytes("claims", 4_000_000, "`claims.toml` of a paper.");
/// A file of a search for parameters.
pub const TUNING: Limit = bytes("tuning", 4_000_000, "The file of a tuning.");
/// Flows of a scenario.
pub const FLOWS: Limit = count("flows", 2_000_000, "Flows of a scenario, with those of `count` and `arrivals`.");
/// Links of a scenario.
pub const LINKS: Limit = count("links", 10_000_000, "Links of a scenario; each direction counts.");
/// Tables of flows in a scenario.
pub const FLOW_TABLES: Limit = count("flow_tables", 100_000, "Tables `[[flow]]` of a scenario. Write equal flows as one, with `count`.");
/// Memory to read a text, whatever its size.
pub const MEMORY: Limit = bytes(
    "memory",
    64_000_000,
    "Memory to read a file of text that is small. It is estimated before; shorten lists and tables of short values.",
);
/// Memory to read a text, relative to its size.
pub const MEMORY_TIMES: Limit = count("memory_times", 20, "Memory to read a larger file of text, as a multiple of its size.");
/// Depth of a scenario's values.
pub const DEPTH: Limit = count("depth", 32, "Levels of tables and lists within each other in a scenario.");
/// Problems that a message lists.
pub const PROBLEMS: Limit = count("problems", 20, "Problems of a scenario that a message lists; it ends with the number of the others.");
/// Characters of the user's text in a message.
pub const SHOWN: Limit = count("shown", 60, "Characters of a key or text of the user that a message repeats.");
/// Time of a script.
pub const SCRIPT_TIME: Limit =
    Limit { name: "script_time", most: 3600, unit: "s", doc: "Time at which a script must end; `--max-duration` changes it." };
/// Packets of a script.
pub const SCRIPT_PACKETS: Limit = count("script_packets", 100_000, "Packets of a script, in both directions; `--max-packets` changes it.");

/// All limits.
pub const ALL: [Limit; 21] = [
    SCENARIO,
    TABLE,
    COLUMNS,
    CELLS,
    HAR,
    PATH,
    SCRIPT,
    SCRIPT_CODE,
    PAPER,
    CLAIMS,
    TUNING,
    FLOWS,
    LINKS,
    FLOW_TABLES,
    MEMORY,
    MEMORY_TIMES,
    DEPTH,
    PROBLEMS,
    SHOWN,
    SCRIPT_TIME,
    SCRIPT_PACKETS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_name_of_its_own() {
        for (index, limit) in ALL.iter().enumerate() {
            assert!(limit.most > 0 && ["", "B", "s"].contains(&limit.unit) && limit.doc.ends_with('.'), "{limit:?}");
            assert!(ALL[..index].iter().all(|other| other.name != limit.name), "{limit:?}");
        }
    }
}
