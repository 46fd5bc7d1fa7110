//! `FQ-COBALT`: a COBALT queue for each flow, served in turn.
//! ## What it does
//! `fq_codel` with COBALT (`cobalt`) instead of `CoDel` in each queue: a flow that does not respond to signals meets random drops, too, and
//! each packet that an overflow drops raises their probability in its queue.
//! ## References
//! RFC 8290; Høiland-Jørgensen, Täht & Morton, *Piece of CAKE: a comprehensive queue management solution for home gateways*, LANMAN 2018;
//! Palmei et al., *Design and evaluation of COBALT queue discipline*, LANMAN 2019.
//! ## Differs from the document
//! As `fq_codel` and `cobalt`. ns-3 has a queue of this name, with the same numbers of queues and packets; its set-associative hash is in
//! `cake` here.
//! ## Parameters
//! `limit`: capacity of all queues together (RFC 8290 §5.2); 10 240 packets.
//! `flows`: number of queues (RFC 8290 §5.2); 1024.
//! `quantum`: bytes that a queue may send per turn (RFC 8290 §5.2); 1514 B.
//! `drop_batch`: largest number of packets dropped at once when `limit` is exceeded, at most half of the queue; 64.
//! `classify`: the input of the hash: the `flow`, its `source`, its `destination`, or both `ends`; flow.
//! `target`: acceptable standing delay of a queue; 5 ms.
//! `interval`: time within which the delay must fall below `target`; 100 ms.
//! `increment`: growth of BLUE's probability; 1/256.
//! `decrement`: its fall; 1/4096.
//! `blue_threshold`: waiting time that counts as an overflow; none.
//! `ecn`: marks packets that support ECN instead of dropping them in the `CoDel` half; true.
//! `ce_threshold`: waiting time above which every packet that supports ECN is marked; none.
//! `ce_threshold_ecn`: which of them: `any`, or those with ECT(1), `ect1`, which expect a shallow queue (RFC 9331 §5); any.

use super::cobalt::{BLUE_THRESHOLD, CobaltQueue, DECREMENT, INCREMENT, Settings};
use super::codel::{INTERVAL, TARGET};
use super::flow_queues::{CLASSIFY, DROP_BATCH, FLOWS, FairQueue, NEW_FLOWS, OLD_FLOWS, QUANTUM};
use crate::entry::Entry;
use crate::qdisc::contract::Discipline;
use crate::qdisc::params::{CE_THRESHOLD, CE_THRESHOLD_ECN, ECN, limit};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq_cobalt",
    summary: "a COBALT queue per flow, served in turn by bytes, sparse flows first",
    reference: "Høiland-Jørgensen et al. 2018",
    params: &[
        limit("limit", 10_240, "capacity of all queues together"),
        FLOWS,
        QUANTUM,
        DROP_BATCH,
        CLASSIFY,
        TARGET,
        INTERVAL,
        INCREMENT,
        DECREMENT,
        BLUE_THRESHOLD,
        ECN,
        CE_THRESHOLD,
        CE_THRESHOLD_ECN,
    ],
    quantities: &[NEW_FLOWS, OLD_FLOWS],
    build: |params| Ok(Discipline::scheduled(FairQueue::<CobaltQueue>::new(params, Settings::new(params), false))),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, internal, packet};
    use crate::units::Limit;

    #[test]
    fn flows_take_turns_and_an_overflow_hits_the_longest() {
        let mut bench = Bench::new(&ENTRY, &[("limit", Value::Limit(Limit::Packets(30)))]);
        bench.arrive_all(0, (0..20).map(|handle| packet(handle, 1, 1514)));
        bench.arrive_all(0, (20..31).map(|handle| packet(handle, 2, 1514)));
        assert_eq!(bench.queue.backlog().packets, 21, "half of the longer queue");
        assert_eq!(internal(|out| bench.queue.internals(out), "new_flows") as u32, 2);
    }
}
