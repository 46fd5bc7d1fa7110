//! replay
use ackclock_core::cc::{Composed, CongestionControl, avoidance, initial_window, slow_start};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Sent, Totals};
use ackclock_core::params::{Params, Value};
use ackclock_core::units::{Bytes, Duration, Instant};

fn build<P: ?Sized>(entry: &Entry<P>, set: &[(&str, Value)]) -> Box<P> {
    let mut params = Params::defaults(entry.params);
    for (name, value) in set { params.set(name, value.clone()); }
    (entry.build)(&params).unwrap()
}

#[test]
fn replay() {
    let Ok(files) = std::env::var("TRACES") else { return };
    let show: usize = std::env::var("SHOW").map_or(5, |s| s.parse().unwrap());
    for file in files.split(',') {
        let text = std::fs::read_to_string(file).unwrap();
        let rows: Vec<Vec<u64>> = text.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
        let iw = rows[0][7] as f64;
        let mut control = Composed::new(build(&initial_window::fixed::ENTRY, &[("segments", Value::Number(iw))]), build(&slow_start::hystart::ENTRY, &[]),
            build(&avoidance::cubic_linux::ENTRY, &[]), None, f64::INFINITY);
        let at = |us: u64| Instant::from_nanos(1_000_000_000 + us * 1000);
        control.on_established(&Established { whole_segments: true, ..Established::new(at(rows[0][0].saturating_sub(rows[0][1])), Bytes(1460)) });
        let mut last = iw; let mut drained = None;
        let (mut ca, mut wrong, mut shown, mut compared, mut before) = (0, 0, 0, 0, 0);
        for (n, r) in rows.iter().enumerate() {
            let [t, rtt, acked, sacked, una, nxt, una0, cwnd0, cwnd, ssthresh, ca1] = r[..] else { panic!() };
            let now = at(t); let delivered = una + sacked - before; before = una + sacked;
            let mut event = None;
            if ca1 != ca && ca1 == 4 { event = Some(Cause::Timeout) } else if ca1 == 3 && ca < 3 { event = Some(Cause::DupAck) }
            let grow = event != Some(Cause::DupAck) && (ca1 < 2 || ca1 == 4) && acked > 0;
            if ca == 4 && ca1 == 4 && cwnd0 == 1 && control.window().cwnd > 1.0 { event = Some(Cause::Timeout); }
            if let Some(cause) = event {
                control.on_congestion(&CongestionEvent::new(now, cause, if ca < 3 { last } else { cwnd0 as f64 }));
            }
            if let Some((prev_t, prev_rtt)) = drained.take() {
                let sent = |us, inflight| Sent { now: at(us), size: 1460, flight_size: 1, inflight, snd_nxt: 0, total: Totals::default(), retransmission: false, app_limited: false };
                control.on_sent(&sent(prev_t - prev_rtt, 9000)); control.on_sent(&sent(t - rtt, 1460));
            }
            if una == nxt { drained = Some((t, rtt)); }
            if event.is_none() && (ssthresh as f64) > control.window().ssthresh { control.on_spurious(now); }
            let rtt = Some(Duration::from_nanos(rtt * 1000));
            control.on_ack(&Ack { now, rtt, srtt: rtt, counted: delivered as f64, may_grow: grow, cwnd_limited: una0 > 0, snd_una: una, snd_nxt: nxt, ..Ack::new(now, acked as u32, Bytes(1460)) });
            let ours = control.window();
            let thresh = if ours.ssthresh.is_infinite() { 2_147_483_647.0 } else { ours.ssthresh };
            if ca1 < 2 || ca1 == 4 {
                compared += 1;
                if std::env::var("LINE").is_ok_and(|l| { let l: usize = l.parse().unwrap(); (l..l + 24).contains(&(n + 2)) }) { let mut s = String::new(); control.internals(&mut |k, v| s += &format!(" {k}={v}")); println!("  {} t={t} c={delivered} {cwnd0}>{cwnd} ours {}{s}", n + 2, ours.cwnd); }
                if ours.cwnd != cwnd as f64 || thresh != ssthresh as f64 {
                    wrong += 1;
                    if shown < show { shown += 1; 
                        let mut s = String::new(); control.internals(&mut |k, v| s += &format!(" {k}={v}"));
                        println!("{file}:{} t={t} acked={acked} una={una} ca={ca}>{ca1} kernel {cwnd0}>{cwnd}/{ssthresh} ours {}/{thresh}{s}", n + 2, ours.cwnd); }
                }
            }
            ca = ca1; last = cwnd as f64;
        }
        println!("{file}: {wrong} of {compared} differ");
    }
}
