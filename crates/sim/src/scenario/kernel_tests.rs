use crate::engine::{Prepared, RunError};
use crate::scenario::{Document, Scenario};

/// A file with these keys of a flow on a kernel, from line 4 on.
fn file(keys: &str) -> String {
    format!("duration = '1 s'\n[[flow]]\nprofile = 'kernel'\n{keys}\n")
}

fn document(text: &str) -> Document {
    Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn scenario(text: &str) -> Scenario {
    document(text).scenario().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn error(text: &str) -> String {
    document(text).scenario().map_or_else(|error| error.to_string(), |_| panic!("this is a sound scenario:\n{text}"))
}

/// The kernel of the first flow, as one text.
fn shown(scenario: &Scenario) -> String {
    let kernel = scenario.flows[0].kernel.as_ref().unwrap();
    let text = |given: &Option<super::Given>| given.as_ref().map(|given| given.value.clone());
    let named = |named: &[(String, super::Given)]| named.iter().map(|(name, given)| format!("{name}={}", given.value)).collect::<Vec<_>>();
    format!("{:?} {:?} {:?} {:?}", text(&kernel.version), text(&kernel.control), named(&kernel.sysctl), named(&kernel.module))
}

#[test]
fn a_kernel_is_frozen_and_read_again() {
    let all = "kernel = { version = '6.12', control = 'bbr', sysctl = { 'net.ipv4.tcp_sack' = false, net.ipv4.tcp_rmem = '4096 8192 16384' }, \
               module.tcp_cubic.hystart_detect = 2 }\nmodern = { pacing = 'window', tlp = false }";
    for keys in ["", all, "host = { kind = 'linux', version = '4.10' }\necn = 'accurate'", "host = 'freebsd'", "avoidance = 'reno'"] {
        let text = file(keys);
        let frozen = document(&text).frozen().unwrap();
        let [first, second] = [&text, &frozen].map(|text| scenario(text));
        assert_eq!(shown(&first), shown(&second), "{frozen}");
        assert_eq!(first.flows[0].host, second.flows[0].host, "{frozen}");
        assert_eq!(document(&frozen).frozen().unwrap(), frozen);
    }
    let expected =
        r#"Some("6.12") Some("bbr") ["net.ipv4.tcp_sack=0", "net.ipv4.tcp_rmem=4096 8192 16384"] ["tcp_cubic.hystart_detect=2"]"#;
    assert_eq!(shown(&scenario(&file(all))), expected);
}

#[test]
fn its_hosts_are_those_of_linux_unless_others_are_named() {
    let host = |text: &str| scenario(text).flows.remove(0).host;
    assert_eq!(host(&file("")), host("duration = '1 s'\n[[flow]]\nhost = 'linux'\n"));
    assert_eq!(host(&file("host = 'freebsd'")), host("duration = '1 s'\n[[flow]]\nhost = 'freebsd'\n"));
}

#[test]
fn a_setting_finds_a_parameter_with_and_without_quotes() {
    for written in ["kernel.sysctl = { 'net.ipv4.tcp_sack' = 1 }", "kernel.sysctl.net.ipv4.tcp_sack = 1", ""] {
        let mut document = document(&file(written));
        document.set_all([("flow.kernel.sysctl.net.ipv4.tcp_sack", "0")]).unwrap();
        assert_eq!(shown(&document.scenario().unwrap()), r#"None None ["net.ipv4.tcp_sack=0"] []"#, "{written}");
    }
}

#[test]
fn a_version_is_set_without_quotes() {
    let mut document = document(&file(""));
    document.set_all([("flow.kernel.version", "6.10")]).unwrap();
    assert_eq!(document.scenario().unwrap().kernel_version().unwrap().value, "6.10");
}

#[test]
fn a_wrong_key_is_named_with_its_place_and_the_right_one() {
    for (keys, expected) in [
        ("kernel.version = 6.12", "version: must be a text, but is the number 6.12"),
        ("kernel.version = 'linux-6.12'", "version: must be the numbers of a version, but is \"linux-6.12\"; did you mean \"6.12\"?"),
        ("kernel.sysctl.vm.swappiness = 1", "sysctl.vm.swappiness: must be the name of a parameter below net., such as net.ipv4.tcp_sack"),
        ("kernel.sysctl.tcp_sack = 1", "sysctl.tcp_sack: must be a name such as net.ipv4.tcp_sack; did you mean \"net.ipv4.tcp_sack\"?"),
        (
            "kernel.sysctl.'/proc/sys/net/ipv4/tcp_sack' = 1",
            "sysctl./proc/sys/net/ipv4/tcp_sack: must be a name such as net.ipv4.tcp_sack; did you mean \"net.ipv4.tcp_sack\"?",
        ),
        (
            "kernel.sysctl.net.ipv4.tcp_sack = 0.5",
            "sysctl.net.ipv4.tcp_sack: must be a whole number, true, false or a text such as \"4096 131072 6291456\", but is the number 0.5",
        ),
        (
            "kernel.sysctl.net.ipv4.tcp_sack = '1;node 2'",
            "sysctl.net.ipv4.tcp_sack: must be a text of 1 to 120 bytes on one line, without `;`, but is \"1;node 2\"",
        ),
        (
            "kernel.sysctl = { 'net.ipv4.tcp_sack' = 0, net.ipv4.tcp_sack = 1 }",
            "sysctl.net.ipv4.tcp_sack: is set twice, with and without quotes",
        ),
        ("kernel.module.hystart = 1", "module.hystart: must be MODULE.PARAMETER, such as tcp_cubic.hystart_detect"),
        (
            "kernel.contol = 'bbr'",
            "contol: there is no key \"contol\"; did you mean \"control\"? (known: version, control, sysctl, module)",
        ),
    ] {
        assert_eq!(error(&file(keys)), format!("t.toml:4: flow.0.kernel.{expected}"));
    }
    let both = "kernel.control = 'bbr'\ncongestion_control = 'bbr'";
    let expected = "cannot be combined with kernel.control, which names a control of the kernel";
    assert_eq!(error(&file(both)), format!("t.toml:5: flow.0.congestion_control: {expected}"));
    let simulated = "duration = '1 s'\n[[flow]]\nhost = 'linux'\nkernel.control = 'bbr'\n";
    assert_eq!(error(simulated), "t.toml:4: flow.0.kernel: requires profile = \"kernel\"");
    let table = "duration = '1 s'\n[[flow]]\nprofile = { kind = 'kernel' }\n";
    assert_eq!(error(table), "t.toml:3: flow.0.profile.kind: is no table: write profile = \"kernel\"");
    let datagrams = error(&file("application = { kind = 'cbr', rate = '1 Mbit/s' }"));
    assert_eq!(datagrams.lines().next(), Some("t.toml:3: flow.0.profile: applies to TCP only, but the application sends datagrams"));
}

#[test]
fn flows_share_one_kernel() {
    let two = |first: &str, second: &str| format!("{}[[flow]]\nprofile = 'kernel'\n{second}\n", file(first));
    let why = "all flows on a kernel share";
    assert_eq!(
        error(&two("kernel.version = '6.12'", "kernel.version = '7.2'")),
        format!("t.toml:7: flow.1.kernel.version: is \"7.2\", but flow.0.kernel.version is \"6.12\": {why} one")
    );
    assert_eq!(
        error(&two("kernel.module.tcp_cubic.hystart = 1", "kernel.module.tcp_cubic.hystart = 0")),
        format!(
            "t.toml:7: flow.1.kernel.module.tcp_cubic.hystart: is \"0\", but flow.0.kernel.module.tcp_cubic.hystart is \"1\": {why} it"
        )
    );
    let agreed = scenario(&two("", "kernel.version = '7.2'"));
    let version = agreed.kernel_version().unwrap();
    assert_eq!([&version.value, &version.place], ["7.2", "t.toml:7: flow.1.kernel.version"]);
}

#[test]
fn the_simulation_refuses_a_flow_on_a_kernel() {
    let needs = scenario(&file("name = 'a'"));
    assert_eq!(needs.needs_kernel().as_deref(), Some("flow a has profile = \"kernel\""));
    let Err(RunError::Kernel(what)) = Prepared::new(&needs) else { panic!("it needs a kernel") };
    assert_eq!(Some(what), needs.needs_kernel());
    assert!(Prepared::untraced(&needs).is_err());
    assert_eq!(scenario("duration = '1 s'\n[[flow]]\nhost = 'linux'\n").needs_kernel(), None);
}
