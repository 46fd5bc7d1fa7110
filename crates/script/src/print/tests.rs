//! Random scripts: reading what is printed gives the same script, and no text makes the reader panic.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::code;
use crate::parse;
use crate::script::*;
use crate::settings::Settings;

fn at() -> Position {
    Position::default()
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-z0-9_]{0,8}"
}

fn nanos() -> impl Strategy<Value = Nanos> {
    prop_oneof![Just(0), 0..10_u64.pow(12), (0..10_000_u64).prop_map(|millis| millis * 1_000_000)]
}

fn time() -> impl Strategy<Value = Time> {
    (0..5_u8, nanos(), nanos()).prop_map(|(kind, one, other)| {
        let (from, to) = (one.min(other), one.max(other));
        match kind {
            0 => Time::Absolute(one),
            1 => Time::Relative(one),
            2 => Time::AbsoluteRange(from, to),
            3 => Time::RelativeRange(from, to),
            _ => Time::Any,
        }
    })
}

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        Just(Kind::Any),
        (0..=i64::MAX).prop_map(Kind::Integer),
        "[A-Z][A-Z0-9_]{0,8}".prop_map(Kind::Name),
        "[ -~\n\téλ]{0,8}".prop_map(Kind::Text),
    ]
    .prop_map(|kind| Expression { at: at(), kind });
    leaf.prop_recursive(3, 20, 4, |inner| {
        let operator = (0..Operator::ALL.len()).prop_map(|index| Operator::ALL[index].1);
        let field = (option::of((name(), option::of(inner.clone()))), inner.clone()).prop_map(|(named, value)| match named {
            Some((name, size)) => Field { at: at(), name: Some(name), size, value },
            None => Field { at: at(), name: None, size: None, value },
        });
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Kind::List),
            vec(field, 0..3).prop_map(Kind::Struct),
            (name(), vec(inner.clone(), 0..3)).prop_map(|(name, arguments)| Kind::Function(name, arguments)),
            inner.clone().prop_map(|value| Kind::Negative(Box::new(value))),
            inner.clone().prop_map(|value| Kind::Complement(Box::new(value))),
            (operator, inner.clone(), inner).prop_map(|(operator, left, right)| Kind::Binary(operator, Box::new(left), Box::new(right))),
        ]
        .prop_map(|kind| Expression { at: at(), kind })
    })
}

fn call() -> impl Strategy<Value = (Time, Action)> {
    let times = prop_oneof![
        time().prop_map(|time| (time, None)),
        (any::<bool>(), nanos(), nanos()).prop_map(|(relative, one, other)| {
            let start = one.min(other);
            (if relative { Time::Relative(start) } else { Time::Absolute(start) }, Some(one.max(other)))
        }),
    ];
    let note = "[a-zA-Z ,|]{0,8}(\\([a-z]{0,3}\\))?";
    (times, name(), vec(expression(), 0..4), expression(), option::of("E[A-Z]{2,8}"), option::of(note)).prop_map(
        |((time, end), name, arguments, result, errno, note)| {
            (time, Action::Call(Call { at: at(), end, name, arguments, result, errno, note }))
        },
    )
}

fn tcp_option() -> impl Strategy<Value = TcpOption> {
    let bytes = || vec(any::<u8>(), 0..9);
    let counter = prop_oneof![Just(EcnCounter::Ect0), Just(EcnCounter::Ect1), Just(EcnCounter::Ce)];
    prop_oneof![
        Just(TcpOption::Nop),
        Just(TcpOption::End),
        Just(TcpOption::SackPermitted),
        any::<u16>().prop_map(TcpOption::Mss),
        any::<u8>().prop_map(TcpOption::WindowScale),
        vec(any::<(u32, u32)>(), 1..4).prop_map(TcpOption::Sack),
        any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
        (bytes(), any::<bool>()).prop_map(|(cookie, experimental)| TcpOption::FastOpen { cookie, experimental }),
        bytes().prop_map(TcpOption::Md5),
        vec((counter, 0..1_u32 << 24), 0..4).prop_map(TcpOption::AccurateEcn),
    ]
}

fn range() -> impl Strategy<Value = (u32, u32, u32)> {
    any::<(u32, u32)>().prop_map(|(start, length)| (start, start.wrapping_add(length), length))
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let flags = prop_oneof![
        any::<u16>().prop_map(|bits| Flags { bits: bits & 0x1df, ace: None }),
        (any::<u16>(), 0..8_u8).prop_map(|(bits, ace)| Flags { bits: bits & 0x1f, ace: Some(ace) }),
    ];
    let options = prop_oneof![Just(Options::Any), vec(tcp_option(), 0..4).prop_map(Options::Listed)];
    let fields = (any::<Option<u32>>(), any::<Option<u16>>(), any::<Option<u16>>());
    (any::<Option<(u16, u16)>>(), flags, range(), fields, options).prop_map(
        |(ports, flags, (start, end, length), (ack, window, urgent), options)| Tcp {
            ports,
            flags,
            start,
            end,
            length,
            ack,
            window,
            urgent,
            options,
        },
    )
}

fn icmp() -> impl Strategy<Value = Icmp> {
    let echo = prop_oneof![
        range().prop_map(|(start, end, length)| Echo::Tcp { start, end, length }),
        any::<u32>().prop_map(|length| Echo::Udp { length }),
    ];
    let code = option::of(name()).prop_filter("a keyword", |code| code.as_deref() != Some("mtu"));
    (any::<bool>(), name(), code, any::<Option<u32>>(), option::of(echo)).prop_map(|(v6, kind, code, mtu, echo)| Icmp {
        v6,
        kind,
        code,
        mtu,
        echo,
    })
}

fn packet() -> impl Strategy<Value = Packet> {
    let ecn =
        prop_oneof![Just(EcnField::NotCapable), Just(EcnField::Ect0), Just(EcnField::Ect1), Just(EcnField::Ce), Just(EcnField::Ect01)];
    let ip = (option::of(ecn), any::<Option<u8>>(), any::<Option<u8>>(), option::of(0..1_u32 << 20))
        .prop_map(|(ecn, tos, ttl, flow_label)| IpInfo { ecn, tos, ttl, flow_label });
    let outer = prop_oneof![
        Just(("ipv4", "1.1.1.1 > 2.2.2.2")),
        Just(("ipv6", "::1 > fe80::2")),
        Just(("gre", "")),
        Just(("mpls", "(label 0, tc 0, ttl 255)"))
    ]
    .prop_map(|(name, text)| Encapsulation { at: at(), name: name.to_owned(), text: text.to_owned() });
    let payload = prop_oneof![
        4 => tcp().prop_map(Payload::Tcp),
        1 => any::<(Option<(u16, u16)>, u32)>().prop_map(|(ports, length)| Payload::Udp { ports, length }),
        1 => icmp().prop_map(Payload::Icmp),
    ];
    (any::<bool>(), vec(outer, 0..2), ip, payload).prop_map(|(inbound, encapsulations, ip, payload)| Packet {
        at: at(),
        direction: if inbound { Direction::In } else { Direction::Out },
        encapsulations,
        ip,
        payload,
    })
}

fn script() -> impl Strategy<Value = Script> {
    let command = || "[a-z ./\n=]{0,12}".prop_map(|text| Command { at: at(), text });
    let code = "[a-z =0-9\n#]{0,12}".prop_map(|text| Code { at: at(), text });
    let option = ("[a-z][a-z_-]{0,8}", option::of("[!-~]{0,8}"))
        .prop_filter("no definition", |(name, _)| name != "define")
        .prop_map(|(name, value)| Setting { at: at(), name, value });
    let event = prop_oneof![
        4 => (time(), packet().prop_map(Action::Packet)),
        4 => call(),
        1 => (time(), command().prop_map(Action::Command)),
        1 => (time(), code.prop_map(Action::Code)),
    ]
    .prop_map(|(time, action)| Event { at: at(), time, action });
    (vec(option, 0..3), option::of(command()), vec(event, 1..8), option::of(command()))
        .prop_map(|(options, before, events, after)| Script { options, before, events, after })
}

/// Uses everything that reads text.
fn exercise(text: &str) {
    let Ok(script) = parse(text, "random", &[]) else { return };
    let mut settings = Settings::default();
    for command in script.before.iter().chain(&script.after) {
        let _ = settings.apply(command);
    }
    for event in &script.events {
        if let Action::Code(text) = &event.action
            && let Ok(block) = code::read(text)
        {
            let _ = block.run(&mut code::Variables::new(), &mut Vec::new());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_what_is_printed_gives_the_same_script(script in script()) {
        let text = script.to_string();
        let read = parse(&text, "printed", &[]);
        prop_assert_eq!(read.as_ref(), Ok(&script), "{}", text);
        prop_assert_eq!(read.map(|read| read.to_string()), Ok(text));
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        script in script(),
        cuts in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[ -~\n]{0,3}|\\PC{0,2}"), 1..4),
    ) {
        let mut letters: Vec<char> = script.to_string().chars().collect();
        for (from, length, inserted) in cuts {
            let from = from.index(letters.len() + 1);
            let to = (from + length.index(8)).min(letters.len());
            letters.splice(from..to, inserted.chars());
        }
        exercise(&letters.iter().collect::<String>());
    }

    #[test]
    fn no_block_makes_the_reader_panic(text in "(assert |print |x = |[-+*/%<>=!&|^~().,:;'\"#\\\\ \n]|f'|\\{|\\}|in |not |and |or |if | else |[0-9x.e]{1,4}|min|True|%d){0,20}") {
        let mut variables = code::Variables::from([("x".to_owned(), code::Value::Integer(3))]);
        if let Ok(block) = code::read(&Code { at: at(), text }) {
            let _ = block.run(&mut variables, &mut Vec::new());
        }
    }

    #[test]
    fn no_command_makes_the_reader_panic(text in "(sysctl |net.ipv4.tcp_sack|=|echo |>|[ \n;&|'\"#\\\\0-9/-]|tc qdisc |/proc/sys/net/){0,20}") {
        let _ = Settings::default().apply(&Command { at: at(), text });
    }
}
