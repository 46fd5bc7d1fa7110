//! Proportional Rate Reduction: limits the sending in fast recovery so that the pipe reaches `ssthresh` at the end of recovery.
//!
//! ## References
//! RFC 9937 §6 (which obsoletes RFC 6937). Above `ssthresh` PRR applies; below it the conservative reduction bound (CRB), or the slow start
//! reduction bound (SSRB) while recovery makes progress. The target falls if the control ends slow start during recovery (HyStart).

/// The facts of an ACK in recovery, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// `DeliveredData`: newly acknowledged or SACKed.
    pub(super) delivered: u64,
    /// `inflight`: the pipe after the ACK.
    pub(super) pipe: u64,
    /// `SafeACK`: `SND.UNA` has advanced and no further loss was found.
    pub(super) safe: bool,
}

/// The state of one recovery, in bytes.
#[derive(Debug)]
pub(super) struct Prr {
    ssthresh: u64,
    /// `RecoverFS`: bytes in flight at the start of recovery.
    recover_fs: u64,
    /// `prr_delivered`: bytes delivered since.
    delivered: u64,
    /// `prr_out`: bytes sent since.
    out: u64,
    smss: u64,
    /// The window after the last ACK.
    cwnd: u64,
}

impl Prr {
    /// Recovery begins with `recover_fs` bytes in flight and the target `ssthresh`.
    pub(super) fn new(ssthresh: u64, recover_fs: u64, smss: u64) -> Self {
        Self { ssthresh, recover_fs: recover_fs.max(1), delivered: 0, out: 0, smss, cwnd: 0 }
    }

    /// RFC 9937 §6: updates the window at each ACK in recovery, including the first.
    pub(super) fn deliver(&mut self, progress: Progress) {
        let Progress { delivered, pipe, safe } = progress;
        if delivered == 0 && self.cwnd > 0 {
            return;
        }
        self.delivered += delivered;
        let mut count = if pipe > self.ssthresh {
            // Proportional rate reduction, rounded up.
            (self.delivered * self.ssthresh).div_ceil(self.recover_fs).saturating_sub(self.out)
        } else {
            // PRR-CRB, and PRR-SSRB when recovery makes good progress.
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + if safe { self.smss } else { 0 };
            limit.min(self.ssthresh - pipe)
        };
        if self.out == 0 && count < self.smss {
            // The fast retransmit at the start of recovery leaves even if PRR allows less than a segment.
            count = self.smss;
        }
        self.cwnd = pipe + count;
    }

    /// The window is `cwnd` until data is delivered.
    pub(super) fn keep(&mut self, cwnd: u64) {
        self.cwnd = cwnd;
    }

    /// `ssthresh` falls to `target` during recovery, if it is higher.
    pub(super) fn lower_target(&mut self, target: u64) {
        self.ssthresh = self.ssthresh.min(target);
    }

    /// Data was sent.
    pub(super) fn send(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// The current window.
    pub(super) fn cwnd(&self) -> u64 {
        self.cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 20 one-byte segments, the first `lost` of which are lost; recovery starts at the third ACK. Returns, for each ACK, the
    /// bytes sent after it and the pipe before that transmission.
    fn recover(lost: u64, safe: bool) -> Vec<(u64, u64)> {
        let (mut sent, mut delivered, mut pipe, mut steps) = (20, 0, 20, Vec::new());
        let mut prr = None;
        for ack in 1..=20 - lost {
            delivered += 1;
            pipe -= 1;
            if ack < 3 {
                // Limited transmit.
                steps.push((1, pipe));
                (sent, pipe) = (sent + 1, pipe + 1);
                continue;
            }
            if ack == 3 {
                pipe -= lost;
                // RFC 9937 §6: SND.NXT − SND.UNA, minus the data SACKed before.
                prr = Some(Prr::new(10, sent - (delivered - 1), 1));
            }
            let prr = prr.as_mut().unwrap();
            prr.deliver(Progress { delivered: 1, pipe, safe });
            let count = prr.cwnd() - pipe;
            prr.send(count);
            steps.push((count, pipe));
            pipe += count;
        }
        steps
    }

    #[test]
    fn rfc_6937_section_4_one_loss() {
        let steps = recover(1, false);
        // As in the figure: N N R, then every second ACK releases a segment.
        let sent: Vec<u64> = steps.iter().map(|step| step.0).collect();
        assert_eq!(sent[..16], [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        // Recovery ends with the pipe at ssthresh.
        assert_eq!(steps.last().map(|step| step.0 + step.1), Some(10));
        assert!(steps.iter().skip(2).all(|&(_, pipe)| pipe >= 10));
    }

    #[test]
    fn rfc_6937_section_4_fifteen_losses() {
        // As in the figures of PRR-CRB and PRR-SSRB: segments sent and the pipe, on ACKs 15 to 19.
        assert_eq!(recover(15, false), [(1, 19), (1, 19), (1, 4), (1, 4), (1, 4)]);
        assert_eq!(recover(15, true), [(1, 19), (1, 19), (2, 4), (2, 5), (2, 6)]);
    }

    #[test]
    fn the_first_ack_always_releases_a_retransmission() {
        let mut prr = Prr::new(10, 1000, 1);
        prr.deliver(Progress { delivered: 0, pipe: 500, safe: false });
        assert_eq!(prr.cwnd(), 501);
    }

    #[test]
    fn a_target_that_falls_bounds_the_window() {
        let cwnd = |target| {
            let mut prr = Prr::new(10, 20, 1);
            prr.lower_target(target);
            prr.deliver(Progress { delivered: 8, pipe: 6, safe: true });
            prr.cwnd()
        };
        assert_eq!([6, 7, 10, 12].map(cwnd), [7, 7, 10, 10]);
    }
}
