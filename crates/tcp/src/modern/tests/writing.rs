//! Applications that wait for room in a send buffer, close, and pause. Numbers are those of Linux 7.2 in virtual time.

use ackclock_core::units::{Duration, Instant};
use ackclock_host::{Bulk, Connection as _, Side};

use super::super::config::{Offload, SendBufferSize};
use super::super::connection::Connection;
use super::super::segment::Flags;
use super::super::settings::Config;
use super::channel::reno;
use super::script::{Script, plain};

fn linux() -> Config {
    Config {
        send_buffer: Some(SendBufferSize { initial: 16_384, max: 4 << 20, headers: SendBufferSize::HEADERS }),
        fin_alone: true,
        offload: Some(Offload { min_segments: 2, window_divisor: 3 }),
        whole_segments: true,
        nagle: true,
        ..plain()
    }
}

/// The data and the flags of all segments that the sender of a transfer of `packets` sends. Each way takes 50 ms.
fn transfer(config: &Config, packets: u64) -> Vec<(u32, Flags)> {
    let bulk = Bulk { start: Instant::ZERO, stop: None, packets: Some(packets), grows: false };
    let mut connection = Connection::bulk(config, reno(), bulk, 1);
    connection.handle_timeout(Instant::ZERO, Side::Sender);
    let (mut sent, mut flying) = (Vec::new(), Vec::new());
    for now in (0..100).map(|step| Instant::ZERO + Duration::from_millis(50 * step)) {
        for (side, datagram) in std::mem::take(&mut flying) {
            connection.handle(now, side, &datagram);
        }
        for side in [Side::Sender, Side::Receiver] {
            if connection.poll_timeout(side).is_some_and(|due| due <= now) {
                connection.handle_timeout(now, side);
            }
            while let Some((datagram, _)) = connection.poll_transmit(now, side) {
                let segment = datagram.payload.unwrap();
                if side == Side::Sender && (segment.payload > 0 || segment.flags.has(Flags::FIN)) {
                    sent.push((segment.payload, segment.flags));
                }
                flying.push((side.peer(), datagram));
            }
        }
    }
    sent
}

#[test]
fn the_fin_follows_alone_unless_data_is_left() {
    let last = |config: &Config, packets| {
        let sent = transfer(config, packets);
        let data: u32 = sent.iter().map(|(payload, _)| payload).sum();
        assert_eq!(data, 1000 * packets as u32, "each byte once");
        assert_eq!(sent.iter().filter(|(_, flags)| flags.has(Flags::FIN)).count(), 1);
        sent.last().map(|(payload, _)| *payload)
    };
    // Ten segments fit the first window, eleven do not.
    assert_eq!([1, 9, 10, 11, 30].map(|packets| last(&linux(), packets)), [Some(0), Some(0), Some(0), Some(1000), Some(1000)]);
    let closes = Config { fin_alone: false, ..linux() };
    assert_eq!([1, 10, 11].map(|packets| last(&closes, packets)), [Some(1000); 3]);
}

#[test]
fn an_idle_time_halves_the_window_for_each_timeout() {
    let config = Config { gradual_restart: true, whole_segments: true, timer_tick: Duration::from_millis(4), abc_limit: 1e6, ..plain() };
    // The timeout is 300 ms or a little more, and begins with the last transmission, 100 ms before its ACK.
    for (pause, window) in [(150, 40), (400, 20), (700, 10), (5000, 10)] {
        let mut script = Script::established(&config);
        script.window = u16::MAX;
        let again = 200 + pause;
        script.play(&format!(
            "0 write 30000
             0 > data 1:10001
             100 < ack 10001
             100 > data 10001:30001
             200 < ack 30001
             200 cwnd 40
             {again} write 1000
             {again} > data 30001:31001
             {again} cwnd {window}"
        ));
    }
}
