//! Temporary driver.
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let scenario = ackclock_sim::scenario::Document::from_toml(&text, &path).unwrap().scenario().unwrap();
    let (result, late) = ackclock_emu::kernel::run(&scenario).unwrap();
    for f in &result.flows { println!("{f:#?}"); }
    println!("{:?} late {late:?}", result.links.iter().map(|l| (l.drops, l.delivered)).collect::<Vec<_>>());
}
