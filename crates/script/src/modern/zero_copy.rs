//! Messages about data that was sent without a copy.
//!
//! Every write has a number. A message tells the numbers of writes whose data is acknowledged. A message that nobody has read yet takes
//! in the next numbers. The network of the scripts copies every packet, which the message says.
//!
//! ## References
//! Linux, `Documentation/networking/msg_zerocopy`.

use std::collections::VecDeque;

use crate::network::Network;
use crate::play::constants;
use crate::stack::Control;

/// The writes of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct ZeroCopy {
    /// Number of the next write.
    next: u32,
    /// Writes with their ends in the stream, in order.
    waiting: VecDeque<(u32, u64)>,
    /// First and last numbers of messages.
    messages: VecDeque<(u32, u32)>,
}

impl ZeroCopy {
    /// A write ends at the position `end`.
    pub(super) fn write(&mut self, end: u64) {
        self.waiting.push_back((self.next, end));
        self.next = self.next.wrapping_add(1);
    }

    /// Data below `una` is acknowledged; returns whether there is a new message.
    pub(super) fn acknowledge(&mut self, una: u64) -> bool {
        let mut told = false;
        while let Some(&(number, _)) = self.waiting.front().filter(|(_, end)| *end <= una) {
            self.waiting.pop_front();
            match self.messages.back_mut() {
                Some((_, last)) if last.wrapping_add(1) == number => *last = number,
                _ => self.messages.push_back((number, number)),
            }
            told = true;
        }
        told
    }

    /// Whether there is a message.
    pub(super) fn has_message(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Takes the oldest message.
    pub(super) fn take(&mut self, network: &Network) -> Option<Control> {
        let (first, last) = self.messages.pop_front()?;
        let (level, kind) =
            if network.local.is_ipv4() && !network.mapped { ("SOL_IP", "IP_RECVERR") } else { ("SOL_IPV6", "IPV6_RECVERR") };
        let number = |name: &str| constants::find(name).unwrap_or(0);
        let fields = [
            ("ee_errno", 0),
            ("ee_origin", number("SO_EE_ORIGIN_ZEROCOPY")),
            ("ee_type", 0),
            ("ee_code", number("SO_EE_CODE_ZEROCOPY_COPIED")),
            ("ee_info", i64::from(first)),
            ("ee_data", i64::from(last)),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
        Some(Control { level: number(level), kind: number(kind), fields })
    }
}
