//! What the flows of a scenario are on this machine's kernel.

use ackclock_kernel::{Chosen, KernelControl, Plan, refused};
use ackclock_sim::scenario::Scenario;

use crate::controls::OFFER;

const NO_CHANGE: &str = "standard slow start with `cubic_linux` needs HyStart switched off, for all connections of the machine; permit it for the \
                         run with --change-hystart (Python: change_hystart=True), or use slow_start = \"hystart\"";

/// Plans the flows of `scenario`. `change_hystart`: whether HyStart may be switched off for the whole machine.
///
/// # Errors
/// The first flow that cannot be a connection of the kernel, and why.
pub(super) fn plan(scenario: &Scenario, change_hystart: bool) -> Result<Plan, String> {
    let plan = Plan::new(scenario, Chosen::All, &OFFER)?;
    let version = scenario.kernel_version().map(|given| (given, "has a version of its own"));
    let module = || Some((plan.modules(scenario).first()?.1, "shares its modules with all programs"));
    if let Some((given, what)) = version.or_else(module) {
        return Err(format!("{}: this machine's kernel {what}; leave it out, or run on a kernel in virtual time: --on linux", given.place));
    }
    match plan.first(&KernelControl::CubicWithoutHystart) {
        Some(flow) if !change_hystart => Err(refused(scenario, flow, NO_CHANGE)),
        _ => Ok(plan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_sim::scenario::Document;

    #[test]
    fn hystart_is_switched_off_by_permission_only() {
        let text = "duration = '1 s'\ntopology = { kind = 'chain' }\n[flow]\nhost = 'linux'\nslow_start = 'standard'\n";
        let scenario = Document::from_toml(text, "test.toml").unwrap().scenario().unwrap();
        let refused = plan(&scenario, false).unwrap_err();
        assert!(refused.contains("permit it for the run with --change-hystart"), "{refused}");
        assert_eq!(plan(&scenario, true).unwrap().hystart(), Some(false));
    }

    #[test]
    fn a_machine_has_its_own_version_and_modules() {
        let with = |keys: &str| {
            let text = format!("duration = '1 s'\ntopology = {{ kind = 'chain' }}\n[flow]\nprofile = 'kernel'\nkernel = {{ {keys} }}\n");
            plan(&Document::from_toml(&text, "test.toml").unwrap().scenario().unwrap(), false)
        };
        assert_eq!(with("control = 'reno', sysctl = { 'net.ipv4.tcp_sack' = 0 }").unwrap().controls(), [Some("reno".to_owned())]);
        let what = "leave it out, or run on a kernel in virtual time: --on linux";
        let version = with("version = '6.12'").unwrap_err();
        assert_eq!(version, format!("test.toml:5: flow.0.kernel.version: this machine's kernel has a version of its own; {what}"));
        let module = with("module.tcp_cubic.beta = 5").unwrap_err();
        assert!(module.starts_with("test.toml:5: flow.0.kernel.module.tcp_cubic.beta: this machine's kernel shares"), "{module}");
    }
}
