use ackclock_sim::scenario::Document;
use ackclock_uml::run::{Kernel, run};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[2]).unwrap();
    let scenario = Document::from_toml(&text, &args[2]).unwrap().scenario().unwrap();
    let start = std::time::Instant::now();
    let before = cpu();
    match run(Kernel { folder: std::path::Path::new(&args[1]), hz: 250 }, &scenario, &[], &mut || false) {
        Ok(run) => {
            let wall = start.elapsed().as_secs_f64();
            for flow in &run.result.flows { println!("{flow:?}"); }
            let packets: u64 = run.result.links.iter().map(|l| l.delivered as u64).sum();
            let total = cpu() - before + run.cpu.as_secs_f64();
            println!("controls {:?} warnings {:?} phase {:?} confined {}", run.controls, run.warnings, run.phase, run.confined);
            println!("guest cpu {:.3} own {:.3} wall {wall:.3} packets {packets} per cpu s {:.0} hash {:?}", run.cpu.as_secs_f64(), cpu() - before, packets as f64 / total, 0);
        }
        Err(error) => { println!("{error}"); std::process::exit(2); }
    }
}
fn cpu() -> f64 { std::fs::read_to_string("/proc/self/schedstat").unwrap().split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9 }
