//! Temporary driver.
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let scenario = ackclock_sim::scenario::Document::from_toml(&text, &path).unwrap().scenario().unwrap();
    let run = ackclock_emu::kernel::run(&scenario, ackclock_emu::kernel::Options { captured: &[], attempts: 2 }, &mut || false).unwrap();
    let result = run.result;
    for f in &result.flows { println!("{f:#?}"); }
    println!("{:?} late {:?}", result.links.iter().map(|l| (l.drops, l.delivered)).collect::<Vec<_>>(), run.facts);
}
