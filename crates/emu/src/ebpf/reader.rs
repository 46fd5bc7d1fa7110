//! Reads a ring buffer while its program runs.

use std::mem;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use libbpf_rs::{MapCore, RingBuffer, RingBufferBuilder};

use super::record::Record;

/// Interval of reading. The ring buffer has room for more than 6000 records.
const INTERVAL: Duration = Duration::from_millis(50);

/// A ring buffer, and a thread that empties it before it is full.
#[derive(Debug)]
pub(crate) struct Reader {
    ring: Arc<Mutex<RingBuffer<'static>>>,
    received: Arc<Mutex<Received>>,
    /// The thread ends when this is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Records that were read.
#[derive(Debug, Default)]
struct Received {
    records: Vec<Record>,
    malformed: u64,
    /// Why reading failed.
    failure: Option<String>,
}

impl Reader {
    /// Reads `map`.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn new(map: &dyn MapCore) -> Result<Self, String> {
        let received = Arc::new(Mutex::new(Received::default()));
        let mut builder = RingBufferBuilder::new();
        let target = Arc::clone(&received);
        let read = move |bytes: &[u8]| {
            let mut received = lock(&target);
            match Record::parse(bytes) {
                Some(record) => received.records.push(record),
                None => received.malformed += 1,
            }
            0
        };
        let opened = builder.add(map, read).map(drop).and_then(|()| builder.build());
        let ring = Arc::new(Mutex::new(opened.map_err(|error| format!("cannot open the ring buffer: {error}"))?));
        let (stop, stopped) = mpsc::channel::<()>();
        let (other_ring, other_received) = (Arc::clone(&ring), Arc::clone(&received));
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                empty(&other_ring, &other_received);
            }
        });
        Ok(Self { ring, received, stop: Some(stop), thread: Some(thread) })
    }

    /// Records since the last call.
    ///
    /// # Errors
    /// If the ring buffer cannot be read, or has something else.
    pub(crate) fn records(&self) -> Result<Vec<Record>, String> {
        empty(&self.ring, &self.received);
        let mut received = lock(&self.received);
        match (&received.failure, received.malformed) {
            (Some(failure), _) => Err(format!("cannot read the ring buffer: {failure}")),
            (None, 0) => Ok(mem::take(&mut received.records)),
            (None, count) => Err(format!("the ring buffer has {count} malformed records")),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop = None;
        // A thread that panicked has nothing left to stop.
        self.thread.take().map(JoinHandle::join);
    }
}

fn empty(ring: &Mutex<RingBuffer<'static>>, received: &Mutex<Received>) {
    let emptied = lock(ring).consume();
    if let Err(error) = emptied {
        lock(received).failure = Some(error.to_string());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
