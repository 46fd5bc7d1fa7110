//! Runs scripts: `corpus [--kernel] [--quiet] FILE…`
use ackclock_script::{Host, Modern, Options, Simulated, Tolerance, Verdict, run};
use ackclock_sim::engine::EndHost;
use std::{env, fs, sync::Arc};
fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let (kernel, quiet) = (args.iter().any(|a| a == "--kernel"), args.iter().any(|a| a == "--quiet"));
    let end = EndHost::find("linux").unwrap();
    let host = Host { config: end.config().clone(), controls: Arc::new(move |parameters| end.control(parameters)) };
    let mut counts = std::collections::BTreeMap::<String, (u32, u32)>::new();
    for file in args.iter().filter(|a| !a.starts_with("--")) {
        let text = fs::read_to_string(file).unwrap();
        let options = Options { file: file.clone(), tolerance: Some(Tolerance::PACKETDRILL), ..Options::default() };
        let outcome = if kernel {
            #[cfg(feature = "kernel")]
            {
                run(&text, &options, ackclock_script::Kernel::new)
            }
            #[cfg(not(feature = "kernel"))]
            panic!("feature")
        } else {
            run(&text, &options, |network| Ok(Simulated::new(Modern::new(&host, network), network)))
        };
        let name = file.rsplit('/').next().unwrap();
        let area = name.split('-').next().unwrap().to_owned();
        let count = counts.entry(area).or_default();
        count.1 += 1;
        if outcome.verdict == Verdict::Passed {
            count.0 += 1;
        } else if quiet {
            println!(
                "{name}:{}: {} {}",
                outcome.verdict.line(),
                outcome.verdict.word(),
                outcome.verdict.reason().lines().next().unwrap_or("")
            );
        } else {
            println!("{}", outcome.describe(name, &text));
        }
    }
    let (mut p, mut n) = (0, 0);
    for (area, (passed, of)) in counts {
        println!("{area:12} {passed}/{of}");
        p += passed;
        n += of;
    }
    println!("{:12} {p}/{n}", "all");
}
