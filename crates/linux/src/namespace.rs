//! Network namespaces.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::thread;

use crate::result::check;

/// A network namespace. The kernel removes it, with all that is in it, after this descriptor, its devices and its threads are gone.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

/// The calling thread is in a namespace until this is dropped.
#[derive(Debug)]
pub struct Inside {
    home: File,
    /// A thread's namespace is its own: the guard stays there.
    thread: PhantomData<*const ()>,
}

/// The network namespace of the calling thread.
fn current() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

impl Namespace {
    /// Makes an empty namespace. The calling thread stays where it is.
    ///
    /// # Errors
    /// Those of the kernel, such as missing rights.
    pub fn new() -> io::Result<Self> {
        // A thread of its own, because in a user namespace no thread may return to the namespace of the machine.
        let made = thread::Builder::new().spawn(|| {
            // SAFETY: without pointers; changes only the namespace of this thread.
            check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            current()
        })?;
        let file = made.join().map_err(|_| io::Error::other("the thread that makes a namespace failed"))??;
        Ok(Self { file })
    }

    /// Runs `work` in the namespace, in a thread of its own. Sockets and devices that it makes stay in the namespace.
    ///
    /// # Errors
    /// Those of the kernel.
    ///
    /// # Panics
    /// If `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let inside = || {
                move_to(self.as_fd())?;
                Ok(work())
            };
            let joined = thread::Builder::new().spawn_scoped(scope, inside)?.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Moves the calling thread into the namespace until the result is dropped. In a user namespace the thread stays there.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn enter(&self) -> io::Result<Inside> {
        let home = current()?;
        move_to(self.as_fd())?;
        Ok(Inside { home, thread: PhantomData })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // An error leaves the thread in the namespace, where later calls report what they miss.
        move_to(self.home.as_fd()).ok();
    }
}

/// Moves the calling thread into the network namespace that `fd` denotes.
fn move_to(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: without pointers; the descriptor is open.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}
