//! Controls as recipes and as keys of a scenario.

/// The keys of a flow for a recipe of one setting. What it does not choose is as in a recipe, where a scenario would choose otherwise.
pub(crate) fn keys(recipe: &str) -> String {
    let (axis, name) = recipe.split_once(" = ").expect("one setting");
    let usual = [("initial_window", "rfc6928"), ("slow_start", "standard"), ("avoidance", "cubic")];
    let usual = usual.into_iter().filter(|(other, _)| *other != axis && axis != "congestion_control");
    let chosen = [(axis, name)].into_iter().chain((axis != "congestion_control").then_some(("initial_ssthresh", "unlimited")));
    usual.chain(chosen).map(|(axis, name)| [axis, " = '", name, "'\n"].concat()).collect()
}
