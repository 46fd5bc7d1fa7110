//! Commands and what they set.

use super::{Parameter, Qdisc, Settings};
use crate::script::{Command, Position};

fn apply(text: &str) -> Result<Settings, String> {
    let mut settings = Settings::default();
    let command = Command { at: Position { line: 3, column: 2 }, text: text.to_owned() };
    settings.apply(&command).map_err(|unsupported| unsupported.to_string())?;
    Ok(settings)
}

#[test]
fn commands_set_parameters() {
    let cases = [
        ("../common/defaults.sh", "tcp_early_retrans", "4"),
        ("../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=0", "tcp_sack", "0"),
        ("sysctl -q -w net.ipv4.tcp_ecn=1 net.ipv4.tcp_frto=0", "tcp_frto", "0"),
        ("sysctl -q net.ipv4.tcp_rmem=\"4096  87380 6291456\"", "tcp_rmem", "4096 87380 6291456"),
        ("sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024*1024))\"", "tcp_rmem", "4096 540000 15728640"),
        ("../common/defaults.sh", "tcp_fastopen", "0x70403"),
        ("./defaults.sh", "tcp_fastopen", "0x3"),
        ("sysctl -q net/ipv4/tcp_recovery=0x1", "tcp_recovery", "0x1"),
        ("../common/set_sysctls.py /proc/sys/net/ipv4/tcp_congestion_control=reno \\\n /proc/sys/net/ipv4/tcp_ecn=2", "tcp_ecn", "2"),
        ("echo 0 > /sys/module/tcp_cubic/parameters/hystart_detect", "tcp_cubic.hystart_detect", "0"),
        ("echo -n 5 >/proc/sys/net/ipv4/tcp_reordering 2>/dev/null; true", "tcp_reordering", "5"),
        ("sysctl -q net.core.wmem_max=1000 && rm -f /tmp/x # done", "core.wmem_max", "1000"),
        ("ip link set dev tun0 mtu 9000", "link.mtu", "9000"),
        ("ip route change 192.0.2.0/24 dev tun0 initcwnd 20", "route.initcwnd", "20"),
    ];
    for (text, name, value) in cases {
        let settings = apply(text).unwrap_or_else(|message| panic!("{text}: {message}"));
        assert_eq!(settings.text(name), Some(value), "{text}");
    }
    let recovery = apply("sysctl net.ipv4.tcp_recovery=0x1").expect("a setting");
    assert_eq!(recovery.number("tcp_recovery"), Some(1));
    let rmem = Parameter { at: Position::default(), value: "1 2 3".to_owned() };
    assert_eq!((rmem.numbers(), rmem.number()), (vec![1, 2, 3], None));
}

#[test]
fn commands_set_the_queue() {
    for (text, qdisc) in [
        ("../common/defaults.sh", Some(Qdisc::Fifo)),
        ("../common/defaults.sh\ntc qdisc replace dev tun0 root fq", Some(Qdisc::Fq)),
        ("tc qdisc add dev tun0 root handle 1: pfifo limit 100", Some(Qdisc::Fifo)),
        ("tc qdisc replace dev tun0 root fq; tc qdisc del dev tun0 root", Some(Qdisc::Fifo)),
        ("sysctl -q net.core.default_qdisc=fq", Some(Qdisc::Fq)),
        ("sysctl -q net.ipv4.tcp_sack", None),
    ] {
        assert_eq!(apply(text).map(|settings| settings.qdisc), Ok(qdisc), "{text}");
    }
}

#[test]
fn cleaning_up_sets_nothing() {
    for text in [
        "/tmp/sysctl_restore_${PPID}.sh",
        "cat /proc/net/snmp",
        "rm -f a b",
        "ip tcp_metrics flush_all > /dev/null 2>&1",
        "nstat -n",
        "modprobe tcp_dctcp",
        "",
        "# nothing",
    ] {
        assert_eq!(apply(text), Ok(Settings::default()), "{text}");
    }
}

#[test]
fn unknown_commands_are_unsupported() {
    for (text, message) in [
        ("sysctl -q net.ipv4.tcp_sakc=1", "line 3: the setting `tcp_sakc` is unknown; did you mean `tcp_sack`?"),
        ("true\nsysctl -q kernel.pid_max=1", "line 4: the setting `kernel/pid_max` is unknown"),
        ("./run.py a b", "line 3: the command `./run.py a b` is unknown"),
        (
            "tc qdisc replace dev tun0 root netem delay 10ms",
            "line 3: the command `tc qdisc replace dev tun0 root netem delay 10ms` is unknown",
        ),
        ("true\n true \\\n ; cat x | grep y", "line 5: the shell's `|` is not supported in commands"),
        ("tc qdisc add dev tun0 root pfifo limit 0", "line 3: the command `tc qdisc add dev tun0 root pfifo limit 0` is unknown"),
        ("ip ro change 1.2.3.4 advmss 600 initcwnd 11", "line 3: the command `ip ro change 1.2.3.4 advmss 600 initcwnd 11` is unknown"),
        ("echo 1 > /etc/passwd", "line 3: the setting `/etc/passwd` is unknown"),
    ] {
        assert_eq!(apply(text), Err(message.to_owned()), "{text}");
    }
}
