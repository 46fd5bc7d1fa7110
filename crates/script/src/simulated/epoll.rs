//! Sets of descriptors that an application waits for (epoll).
//!
//! ## References
//! `epoll(7)`, `epoll_ctl(2)`: `EPOLLET`, `EPOLLONESHOT`.

use crate::errno::Errno;
use crate::stack::Socket;
use crate::world::Fd;

/// Operations of `epoll_ctl`.
mod operation {
    pub(super) const ADD: i64 = 1;
    pub(super) const DELETE: i64 = 2;
    pub(super) const MODIFY: i64 = 3;
}

/// Flags beside the events.
const EDGE: u32 = 1 << 31;
const ONE_SHOT: u32 = 1 << 30;
/// Events that are always reported: `EPOLLERR`, `EPOLLHUP`.
const ALWAYS: u32 = 0x18;
/// The bits of events.
const EVENTS: u32 = 0xFFFF;

/// A descriptor of a set.
#[derive(Clone, Copy, Debug)]
struct Member {
    fd: Fd,
    socket: Socket,
    events: u32,
    /// Whether it waits for the application to renew it.
    spent: bool,
    /// The events when it was last looked at, and how often its socket had woken those who wait for it.
    seen: (i16, Option<u64>),
}

/// A set.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoll {
    members: Vec<Member>,
}

impl Epoll {
    /// Adds, changes or removes a descriptor.
    pub(super) fn control(&mut self, operation: i64, (fd, socket): (Fd, Socket), events: u32) -> Result<(), Errno> {
        let known = self.members.iter().position(|member| member.fd == fd);
        let member = Member { fd, socket, events, spent: false, seen: (0, None) };
        match (operation, known) {
            (operation::ADD, None) => self.members.push(member),
            (operation::MODIFY, Some(index)) => self.members[index] = member,
            (operation::DELETE, Some(index)) => drop(self.members.remove(index)),
            (operation::ADD, Some(_)) => return Err(Errno::EEXIST),
            (operation::MODIFY | operation::DELETE, None) => return Err(Errno::ENOENT),
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// Forgets a descriptor that is closed.
    pub(super) fn forget(&mut self, fd: Fd) {
        self.members.retain(|member| member.fd != fd);
    }

    /// Up to `most` descriptors with their events. `look`: the events of a socket among those wanted, and how often it has woken others.
    pub(super) fn ready(&mut self, most: usize, mut look: impl FnMut(Fd, Socket, i16) -> (i16, u64)) -> Vec<(Fd, u32)> {
        let mut ready = Vec::new();
        for member in self.members.iter_mut().filter(|member| !member.spent) {
            if ready.len() == most {
                break;
            }
            let (events, wakes) = look(member.fd, member.socket, ((member.events | ALWAYS) & EVENTS) as i16);
            let news = member.seen.1 != Some(wakes) || events & !member.seen.0 != 0;
            member.seen = (events, Some(wakes));
            if events != 0 && (news || member.events & EDGE == 0) {
                ready.push((member.fd, u32::from(events as u16)));
                member.spent = member.events & ONE_SHOT != 0;
            }
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: u32 = 4;

    /// What a socket with these events reports, which has woken others so often.
    fn wait(set: &mut Epoll, events: i16, wakes: u64) -> Vec<(Fd, u32)> {
        set.ready(1, |_, _, wanted| (events & wanted, wakes))
    }

    #[test]
    fn an_edge_is_reported_once_and_a_level_always() {
        let mut edge = Epoll::default();
        edge.control(operation::ADD, (4, 0), OUT | EDGE).unwrap();
        assert_eq!((wait(&mut edge, 4, 1), wait(&mut edge, 4, 1)), (vec![(4, 4)], vec![]));
        assert_eq!(wait(&mut edge, 5, 2), vec![(4, 4)], "only what is wanted");
        let mut level = Epoll::default();
        level.control(operation::ADD, (4, 0), OUT).unwrap();
        assert_eq!((wait(&mut level, 4, 1), wait(&mut level, 4, 1)), (vec![(4, 4)], vec![(4, 4)]));
    }

    #[test]
    fn one_report_until_it_is_renewed() {
        let mut set = Epoll::default();
        set.control(operation::ADD, (4, 0), OUT | ONE_SHOT).unwrap();
        assert_eq!((wait(&mut set, 12, 1), wait(&mut set, 12, 2)), (vec![(4, 12)], vec![]));
        set.control(operation::MODIFY, (4, 0), OUT | ONE_SHOT).unwrap();
        assert_eq!(wait(&mut set, 12, 2), vec![(4, 12)]);
        assert_eq!(set.control(operation::ADD, (4, 0), OUT), Err(Errno::EEXIST));
        set.forget(4);
        assert_eq!(set.control(operation::DELETE, (4, 0), OUT), Err(Errno::ENOENT));
    }
}
