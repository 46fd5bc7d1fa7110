//! The thread that writes the applications' data into sockets. Copying data into a large send buffer takes milliseconds, in which the
//! emulator would be late.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use ackclock_linux::{libc, scheduling, socket};

use super::error::Failure;

/// Real-time priority of the thread, below that of the emulator.
const PRIORITY: i32 = 20;
/// Bytes of one write.
const CHUNK: usize = 128 << 10;

/// What a stream shall do. Streams are numbered: two for each flow, in the order of [`ackclock_host::Side::ALL`].
#[derive(Debug)]
pub(super) enum Order {
    /// Its socket, which connects or is connected.
    Socket(Arc<OwnedFd>),
    /// Write so many bytes more.
    Write(u64),
    /// Write without end.
    Endless,
    /// Write nothing more, also of what was ordered.
    Stop,
    /// Close after the last byte.
    Close,
}

/// Orders for the thread, and its pipe, which wakes it.
#[derive(Debug)]
struct Desk {
    orders: Mutex<Vec<(usize, Order)>>,
    bell: PipeWriter,
}

/// Passes orders to the thread.
#[derive(Clone, Debug)]
pub(super) struct Writer(Arc<Desk>);

impl Writer {
    /// Gives an order to the stream with this number.
    pub(super) fn order(&self, stream: usize, order: Order) {
        let mut orders = self.0.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push((stream, order));
        let first = orders.len() == 1;
        drop(orders);
        if first {
            // An error means that the thread has ended, which it does only at the end of the run.
            (&self.0.bell).write_all(&[1]).ok();
        }
    }
}

/// The thread. Dropping it ends it.
#[derive(Debug)]
pub(super) struct WriterThread {
    writer: Writer,
    thread: Option<JoinHandle<()>>,
    end: Option<PipeWriter>,
}

impl WriterThread {
    /// Starts the thread for `streams` streams.
    pub(super) fn start(streams: usize, failure: Failure) -> io::Result<Self> {
        let (wake, bell) = io::pipe()?;
        let (ended, end) = io::pipe()?;
        let writer = Writer(Arc::new(Desk { orders: Mutex::default(), bell }));
        let desk = Arc::downgrade(&writer.0);
        let thread = thread::Builder::new().name("writer".to_owned()).spawn(move || {
            // Without the right to real-time priority the thread still works, only later.
            scheduling::priority(PRIORITY).ok();
            scheduling::exact_timers().ok();
            let mut work = Work { streams: (0..streams).map(|_| Stream::default()).collect(), zeros: vec![0; CHUNK], failure };
            let take = || desk.upgrade().map(|desk| std::mem::take(&mut *desk.orders.lock().unwrap_or_else(PoisonError::into_inner)));
            work.run(&wake, &ended, &take);
        })?;
        Ok(Self { writer, thread: Some(thread), end: Some(end) })
    }

    /// Passes orders to the thread.
    pub(super) fn writer(&self) -> &Writer {
        &self.writer
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        // The closed pipe ends the thread.
        self.end = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// The data that one end still has to write.
#[derive(Debug, Default)]
struct Stream {
    socket: Option<Arc<OwnedFd>>,
    left: u64,
    endless: bool,
    closes: bool,
    /// Nothing more to do: closed, or failed.
    done: bool,
}

impl Stream {
    fn obey(&mut self, order: Order) {
        match order {
            Order::Socket(socket) => self.socket = Some(socket),
            Order::Write(bytes) => self.left = self.left.saturating_add(bytes),
            Order::Endless => self.endless = true,
            Order::Stop => (self.left, self.endless) = (0, false),
            Order::Close => self.closes = true,
        }
    }

    /// The socket, if the stream waits for room in it.
    fn waiting(&self) -> Option<&OwnedFd> {
        let busy = self.left > 0 || self.endless || self.closes;
        self.socket.as_deref().filter(|_| busy && !self.done)
    }

    /// Writes until the socket is full.
    fn write(&mut self, zeros: &[u8]) -> io::Result<()> {
        let Some(socket) = self.socket.clone() else { return Ok(()) };
        while self.endless || self.left > 0 {
            let length = if self.endless { zeros.len() } else { zeros.len().min(self.left as usize) };
            match socket::send(socket.as_fd(), &zeros[..length], 0) {
                Ok(sent) if !self.endless => self.left -= sent as u64,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        if self.closes {
            self.done = true;
            socket::shutdown(socket.as_fd(), libc::SHUT_WR)?;
        }
        Ok(())
    }
}

struct Work {
    streams: Vec<Stream>,
    zeros: Vec<u8>,
    failure: Failure,
}

impl Work {
    fn run(&mut self, mut wake: &PipeReader, ended: &PipeReader, take: &dyn Fn() -> Option<Vec<(usize, Order)>>) {
        let mut polled: Vec<libc::pollfd> = Vec::new();
        let mut waiting: Vec<usize> = Vec::new();
        let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
        loop {
            polled.clear();
            waiting.clear();
            polled.extend([entry(ended.as_raw_fd(), libc::POLLIN), entry(wake.as_raw_fd(), libc::POLLIN)]);
            for (index, socket) in self.streams.iter().enumerate().filter_map(|(index, stream)| Some((index, stream.waiting()?))) {
                waiting.push(index);
                polled.push(entry(socket.as_raw_fd(), libc::POLLOUT));
            }
            if scheduling::poll(&mut polled, None).is_err() || polled[0].revents != 0 {
                return;
            }
            for (polled, &stream) in polled[2..].iter().zip(&waiting) {
                if polled.revents != 0
                    && let Err(error) = self.streams[stream].write(&self.zeros)
                {
                    self.streams[stream].done = true;
                    self.failure.note(stream, "cannot send", &error);
                }
            }
            if polled[1].revents != 0 {
                // Before the orders are taken, so that no later one goes unnoticed.
                let mut rung = [0; 64];
                if wake.read(&mut rung).is_err() {
                    return;
                }
                let Some(orders) = take() else { return };
                for (stream, order) in orders {
                    self.streams[stream].obey(order);
                }
            }
        }
    }
}
