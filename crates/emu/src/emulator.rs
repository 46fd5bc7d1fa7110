//! Stand-in.
#![allow(missing_docs, clippy::all, clippy::pedantic)]
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd as _;
use std::sync::{Arc, Mutex};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_linux::{libc, scheduling};
use ackclock_sim::engine::Live;
use ackclock_tcp::Side;
use crate::space::owner;

#[derive(Clone, Debug)]
pub struct Port { tun: Arc<File>, inbox: Arc<Mutex<VecDeque<Vec<u8>>>>, zero: u64, late: Arc<Mutex<Vec<u64>>> }
impl Port {
    pub fn new(tun: Arc<File>, zero: u64, late: Arc<Mutex<Vec<u64>>>) -> Self { Self { tun, inbox: Arc::default(), zero, late } }
    pub fn receive(&self) -> Option<Vec<u8>> { self.inbox.lock().unwrap().pop_front() }
    pub fn deliver(&self, due: Instant, frame: &[u8], _ecn: Ecn) -> io::Result<()> {
        (&*self.tun).write_all(frame)?;
        self.late.lock().unwrap().push(scheduling::clock().saturating_sub(self.zero + due.as_nanos()));
        Ok(())
    }
}
pub fn run(mut live: Live, tuns: &[Arc<File>], ports: &[[Port; 2]], zero: u64) -> Live {
    scheduling::priority(30).ok();
    scheduling::exact_timers().ok();
    let mut buf = vec![0; 1 << 16];
    loop {
        let clock = scheduling::clock();
        let now = Instant::from_nanos(clock.saturating_sub(zero));
        if now >= live.end() { live.advance(Instant::MAX).unwrap(); break; }
        live.advance(now).unwrap();
        for tun in tuns {
            while let Ok(n) = (&**tun).read(&mut buf) {
                let a: [u8; 4] = buf[12..16].try_into().unwrap();
                let Some((flow, side)) = owner(Ipv4Addr::from(a)) else { continue };
                ports[flow][side.index()].inbox.lock().unwrap().push_back(buf[..n].to_vec());
                let now = Instant::from_nanos(scheduling::clock().saturating_sub(zero));
                live.transmit(now, flow, side).unwrap();
            }
        }
        let next = live.next().min(live.end());
        let now = scheduling::clock().saturating_sub(zero);
        let wait = next.as_nanos().saturating_sub(now).min(50_000_000);
        let mut fds: Vec<libc::pollfd> = tuns.iter().map(|t| libc::pollfd { fd: t.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
        scheduling::poll(&mut fds, Some(wait)).unwrap();
    }
    scheduling::priority(0).ok();
    let _ = Side::Sender;
    live
}
