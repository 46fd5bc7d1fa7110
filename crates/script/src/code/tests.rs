//! Blocks: what they assert, and how they fail.

use super::{Stop, Value, Variables, read};
use crate::script::{Code, Position};

fn run(text: &str) -> Result<Vec<String>, String> {
    let code = Code { at: Position { line: 10, column: 4 }, text: text.to_owned() };
    let mut variables = Variables::from([
        ("tcpi_snd_cwnd".to_owned(), Value::Integer(10)),
        ("tcpi_ca_state".to_owned(), Value::Integer(3)),
        ("tcpi_rtt".to_owned(), Value::Integer(100_500)),
    ]);
    let mut printed = Vec::new();
    let block = read(&code).map_err(|unsupported| unsupported.to_string())?;
    block.run(&mut variables, &mut printed).map_err(|stop: Stop| stop.to_string())?;
    Ok(printed)
}

#[test]
fn expressions_have_pythons_values() {
    let true_ones = [
        "7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2 and 7 / 2 == 3.5",
        "2 + 3 * 4 == 14 and (2 + 3) * 4 == 20 and 2 ** 3 ** 2 == 512 and -2 ** 2 == -4",
        "1 < 2 < 3 and not 1 < 3 < 2",
        "5 | 2 == 7 and 6 & 3 == 2 and 1 << 4 == 16 and 0x10 >> 2 == 4 and ~0 == -1",
        "tcpi_ca_state == TCP_CA_Recovery and tcpi_ca_state in (TCP_CA_Recovery, TCP_CA_Loss)",
        "tcpi_snd_cwnd not in [1, 2] and 'ab' in \"cabd\"",
        "min(3, 1.5, 2) == 1.5 and max([1, 2]) == 2 and abs(-3) == 3 and len('abc') == 3 and int(2.9) == 2 and round(2.5) == 2",
        "abs(tcpi_rtt - 100000) <= 1e3",
        "(1 if tcpi_snd_cwnd > 5 else 2) == 1",
        "TCP_INFINITE_SSTHRESH == 0x7fffffff == 2147483647",
        "True and not None and 1 == 1.0 and True == 1",
        "(\n tcpi_snd_cwnd ==\n 10)",
        "\\\n tcpi_snd_cwnd == 10",
        "'%d of %s, %.1f %x %%' % (3, 'a', 0.25, 255) == '3 of a, 0.2 ff %'",
        "f'{tcpi_snd_cwnd + 1} {{}}' == '11 {}' and f'{tcpi_rtt=}' == 'tcpi_rtt=100500'",
    ];
    for text in true_ones {
        assert_eq!(run(&format!("assert {text}")), Ok(vec![]), "{text}");
        assert!(run(&format!("assert not ({text})")).is_err(), "{text}");
    }
}

#[test]
fn statements_follow_each_other() {
    let text = "\n  # A comment.\n  wanted = 5; wanted += 5\n  assert tcpi_snd_cwnd == wanted, tcpi_snd_cwnd\n  print(\"cwnd\", wanted)\n  print wanted\n  pass\n";
    assert_eq!(run(text), Ok(vec!["cwnd 10".to_owned(), "10".to_owned()]));
}

#[test]
fn failures_show_the_values() {
    let cases = [
        ("assert tcpi_snd_cwnd  == 13, tcpi_snd_cwnd", "line 10: assert tcpi_snd_cwnd == 13: tcpi_snd_cwnd is 10 (10)"),
        (
            "\nassert tcpi_snd_cwnd < tcpi_ca_state, f'cwnd {tcpi_snd_cwnd}'",
            "line 11: assert tcpi_snd_cwnd < tcpi_ca_state: tcpi_snd_cwnd is 10, tcpi_ca_state is 3 (cwnd 10)",
        ),
        ("assert False", "line 10: assert False"),
        ("\n\nassert 1 / (tcpi_ca_state - 3)", "line 12: division by zero"),
        ("assert tcpi_rtt < 'a'", "line 10: 'a' is not a number"),
        ("assert tcpi_snd_cwmd == 10", "line 10: the variable `tcpi_snd_cwmd` is unknown; did you mean `tcpi_snd_cwnd`?"),
        ("x = absolute(3)", "line 10: the assertion reader has no function `absolute`"),
        ("x = 1 << 100", "line 10: the result has more than 64 bits"),
        ("\nimport os", "line 11: the assertion reader does not know `import` here"),
        ("if tcpi_rtt:\n  pass", "line 10: the assertion reader does not know `if` here"),
        ("x = [1][0]", "line 10: the assertion reader does not know `[` here"),
        ("assert", "line 10: the assertion reader expected a value before the end of the line"),
        ("x = $", "line 10: the assertion reader does not know `$`"),
        ("x = f'{1:>3}'", "line 10: the assertion reader does not know the format `{1:>3}`"),
    ];
    for (text, message) in cases {
        assert_eq!(run(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn deep_and_long_expressions_are_unsupported() {
    for (open, count) in
        [("(", 1000), ("-", 1000), ("not ", 1000), ("1 + ", 1000), ("1 ** ", 1000), ("1 if 1 else ", 1000), ("1 or ", 1000)]
    {
        assert!(run(&format!("x = {}1", open.repeat(count))).is_err(), "{open}");
    }
}
