//! The thread that writes the applications' data into sockets. Copying data into a large send buffer takes milliseconds, in which the
//! emulator would be late.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use ackclock_kernel::Order;
use ackclock_linux::{libc, scheduling, socket};

use super::error::Failure;

/// Real-time priority of the thread, below that of the emulator.
const PRIORITY: i32 = 20;
/// Bytes of one write.
const CHUNK: usize = 128 << 10;

/// What a stream is told. Streams are numbered: two for each flow, in the order of [`ackclock_host::Side::ALL`].
#[derive(Debug)]
pub(super) enum Message {
    /// Its socket, which connects or is connected.
    Socket(Arc<OwnedFd>),
    /// What it shall do.
    Order(Order),
}

/// Messages for the thread, and its pipe, which wakes it.
#[derive(Debug)]
struct Desk {
    messages: Mutex<Vec<(usize, Message)>>,
    bell: PipeWriter,
}

/// Passes messages to the thread.
#[derive(Clone, Debug)]
pub(super) struct Writer(Arc<Desk>);

impl Writer {
    /// Passes a message to the stream with this number.
    pub(super) fn send(&self, stream: usize, message: Message) {
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push((stream, message));
        let first = messages.len() == 1;
        drop(messages);
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
        let writer = Writer(Arc::new(Desk { messages: Mutex::default(), bell }));
        let desk = Arc::downgrade(&writer.0);
        let thread = thread::Builder::new().name("writer".to_owned()).spawn(move || {
            // Without the right to real-time priority the thread still works, only later.
            scheduling::priority(PRIORITY).ok();
            scheduling::exact_timers().ok();
            let mut work = Work { streams: (0..streams).map(|_| Stream::default()).collect(), zeros: vec![0; CHUNK], failure };
            let take = || desk.upgrade().map(|desk| std::mem::take(&mut *desk.messages.lock().unwrap_or_else(PoisonError::into_inner)));
            work.run(&wake, &ended, &take);
        })?;
        Ok(Self { writer, thread: Some(thread), end: Some(end) })
    }

    /// Passes messages to the thread.
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
    fn obey(&mut self, message: Message) {
        match message {
            Message::Socket(socket) => self.socket = Some(socket),
            Message::Order(Order::Write(bytes)) => self.left = self.left.saturating_add(bytes),
            Message::Order(Order::Endless) => self.endless = true,
            Message::Order(Order::Stop) => (self.left, self.endless) = (0, false),
            Message::Order(Order::Close) => self.closes = true,
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
    fn run(&mut self, mut wake: &PipeReader, ended: &PipeReader, take: &dyn Fn() -> Option<Vec<(usize, Message)>>) {
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
                // Before the messages are taken, so that no later one goes unnoticed.
                let mut rung = [0; 64];
                if wake.read(&mut rung).is_err() {
                    return;
                }
                let Some(messages) = take() else { return };
                for (stream, message) in messages {
                    self.streams[stream].obey(message);
                }
            }
        }
    }
}
