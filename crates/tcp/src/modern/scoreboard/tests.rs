//! Tests of the scoreboard alone.

use super::*;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(1_000_000 * millis)
}

fn sent(millis: u64) -> Snapshot {
    Snapshot::default().with(|packet| packet.sent_at = at(millis))
}

/// Ten 100-byte segments, sent one millisecond apart.
fn board() -> Scoreboard {
    let mut board = Scoreboard::new(true, false);
    for index in 0..10 {
        board.send((100 * index, 100 * index + 100), sent(index), (false, 0));
    }
    board
}

fn sack(board: &mut Scoreboard, block: Range) {
    board.sack(block, &mut Vec::new());
    assert!(board.is_consistent());
}

#[test]
fn rfc_6675_section_4() {
    let mut board = board();
    sack(&mut board, (200, 300));
    // IsLost: neither three ranges nor more than two segments are SACKed above.
    assert_eq!(board.loss_edge(3, 100), None);
    sack(&mut board, (400, 500));
    assert_eq!(board.loss_edge(3, 100), None);
    sack(&mut board, (600, 650));
    assert_eq!(board.loss_edge(3, 100), Some(200), "three separate ranges");
    sack(&mut board, (700, 800));
    sack(&mut board, (650, 700));
    assert_eq!(board.loss_edge(3, 100), Some(400), "300 bytes in the two highest");
    // SetPipe: 1000 sent, 400 SACKed; then 300 of the other 600 lost.
    assert_eq!(board.pipe(), 600);
    assert!(board.mark_lost_below(400));
    assert_eq!((board.pipe(), board.next_lost()), (300, Some((0, 100))));
    // A retransmission is in the pipe.
    board.resend((0, 100), sent(20), true);
    assert_eq!((board.pipe(), board.next_lost()), (400, Some((100, 200))));
    // NextSeg rule 3 and rule 4.
    assert_eq!((board.next_unsacked(400), board.last_unsacked()), (Some((500, 600)), Some((900, 1000))));
    assert!(board.is_consistent());
    assert_eq!(board.acknowledge(350, &mut Vec::new()), 4, "three segments and a part");
    assert!(board.is_consistent());
    assert_eq!((board.flight_size(), board.pipe()), (650, 300));
}

#[test]
fn the_last_segment_that_was_sent_once() {
    let mut board = board();
    assert_eq!((board.last_sent_once(1000), board.last_sent_once(950)), (Some((900, 1000)), Some((800, 900))));
    board.resend((900, 1000), sent(20), true);
    sack(&mut board, (700, 900));
    assert_eq!(board.last_sent_once(1000), Some((600, 700)), "neither retransmitted nor SACKed");
    assert!(board.mark_lost_below(600));
    assert_eq!((board.last_sent_once(1000), board.last_sent_once(600)), (Some((600, 700)), None), "nor lost");
    assert!(board.is_consistent());
}

#[test]
fn the_retransmission_of_a_segment_that_counts_as_lost_only_later_stays_outstanding() {
    let mut board = board();
    sack(&mut board, (500, 600));
    // NextSeg rule 3 sends a segment again that does not count as lost yet: both transmissions are in the pipe.
    board.resend((0, 100), sent(20), true);
    assert_eq!(board.pipe(), 1000);
    // Then the first one counts as lost, once; the second is still awaited.
    sack(&mut board, (600, 800));
    assert!(board.mark_lost_below(board.loss_edge(3, 100).unwrap()));
    assert_eq!((board.pipe(), board.next_lost()), (300, Some((100, 200))));
    let reported =
        |board: &mut Scoreboard| std::iter::from_fn(|| board.next_unreported()).map(|it| (it.start, it.sent_at())).collect::<Vec<_>>();
    assert_eq!(reported(&mut board), [0, 1, 2, 3, 4].map(|index| (100 * index, at(index))));
    board.mark_all_lost();
    assert!(reported(&mut board).contains(&(0, at(20))), "now the second one");
    assert!(board.is_consistent());
}

#[test]
fn a_late_segment_sent_before_the_newest_is_lost() {
    let mut board = board();
    sack(&mut board, (500, 600));
    let newest = (at(5), 600);
    // Segments 0 to 4 were sent earlier; 0 to 2 are late.
    assert_eq!(board.expire(newest, false, |sent_at| sent_at <= at(2)), (true, Some(at(4))));
    assert_eq!(board.pipe(), 600);
    assert_eq!(board.expire(newest, false, |sent_at| sent_at <= at(2)), (false, Some(at(4))), "each segment is marked once");
    board.resend((0, 100), sent(20), true);
    // The retransmission was sent after the newest delivered segment.
    assert_eq!(board.expire(newest, false, |_| true), (true, None));
    assert_eq!((board.next_lost(), board.pipe()), (Some((100, 200)), 500));
}

#[test]
fn an_unmarked_segment_can_be_lost_again() {
    let mut board = board();
    sack(&mut board, (900, 1000));
    let newest = (at(9), 1000);
    board.expire(newest, false, |_| true);
    assert_eq!(board.pipe(), 0);
    board.unmark_lost(true);
    assert_eq!((board.pipe(), board.next_lost()), (900, None));
    assert_eq!(board.expire(newest, false, |sent_at| sent_at < at(4)), (true, Some(at(8))));
    assert_eq!((board.pipe(), board.next_lost()), (500, Some((0, 100))));
    assert!(board.is_consistent());
}

#[test]
fn each_lost_transmission_is_reported_once() {
    let mut board = board();
    board.mark_first_lost();
    board.mark_first_lost();
    board.resend((0, 100), sent(20), true);
    board.mark_all_lost();
    let reported = std::iter::from_fn(|| board.next_unreported()).map(|segment| (segment.start, segment.sent_at()));
    let expected = [(0, at(0)), (0, at(20))].into_iter().chain((1..10).map(|index| (100 * index, at(index))));
    assert!(reported.eq(expected));
}

#[test]
fn a_lost_piece_of_a_segment() {
    let mut board = board();
    sack(&mut board, (130, 160));
    sack(&mut board, (900, 1000));
    assert_eq!(board.expire((at(9), 1000), false, |sent_at| sent_at <= at(1)), (true, Some(at(8))));
    assert_eq!(board.next_lost(), Some((0, 100)));
    let mut waiting = Vec::new();
    while let Some((start, end)) = board.next_lost() {
        waiting.push((start, end));
        board.resend((start, end), sent(30), true);
    }
    assert_eq!(waiting, [(0, 100), (100, 130), (160, 200)]);
    assert!(board.is_consistent());
}

#[test]
fn losses_are_found_in_the_order_of_sending() {
    let lost_again = |in_order: bool| {
        let mut board = Scoreboard::new(false, false);
        for index in 0..4 {
            board.send((100 * index, 100 * index + 100), sent(0), (false, 0));
        }
        board.mark_first_lost();
        board.resend((0, 100), sent(0), true);
        sack(&mut board, (100, 200));
        // The retransmission left after 200 and 300, which were not sent before what was delivered.
        board.expire((at(0), 200), in_order, |_| true).0
    };
    assert_eq!([false, true].map(lost_again), [true, false]);

    let mut board = board();
    sack(&mut board, (900, 1000));
    assert!(board.expire((at(9), 1000), true, |sent_at| sent_at <= at(2)).0);
    board.unmark_lost(false);
    assert_eq!(board.expire((at(9), 1000), true, |sent_at| sent_at <= at(3)), (true, Some(at(8))), "and not those marked before");
    assert_eq!(board.next_lost(), Some((300, 400)));
    board.mark_expired(|sent_at| sent_at <= at(1));
    assert_eq!(board.lost_segments(), 3, "a timeout looks at all");
    assert!(board.is_consistent());
}

#[test]
fn what_a_timeout_has_marked_is_found_again_after_an_undo() {
    let mut board = board();
    sack(&mut board, (900, 1000));
    board.mark_expired(|sent_at| sent_at <= at(2));
    board.resend((100, 200), sent(20), true);
    for _ in 0..2 {
        assert_eq!(board.expire((at(9), 1000), true, |_| false), (false, Some(at(8))));
    }
    board.unmark_lost(false);
    assert!(board.expire((at(9), 1000), true, |sent_at| sent_at <= at(2)).0);
    assert_eq!((board.next_lost(), board.lost_segments()), (Some((0, 100)), 2), "but not what was sent again");
    assert!(board.is_consistent());
}

#[test]
fn a_retransmission_of_what_no_longer_counts_as_lost_stays_in_the_pipe() {
    let mut board = Scoreboard::new(false, true);
    for index in 0..4 {
        board.send((100 * index, 100 * index + 100), sent(index), (false, 0));
    }
    sack(&mut board, (300, 400));
    assert!(board.expire((at(3), 400), true, |_| true).0);
    board.resend((0, 100), sent(20), true);
    board.resend((100, 200), sent(20), true);
    board.unmark_lost(false);
    assert_eq!((board.pipe(), board.copied_segments()), (500, 2), "three originals and two copies");
    sack(&mut board, (100, 200));
    assert_eq!(board.pipe(), 400, "the SACK may be that of the original");
    // A loss of the original leaves the copy, and no other leaves before as many count as lost.
    assert!(board.mark_first_lost());
    assert_eq!((board.pipe(), board.next_lost()), (300, None));
    board.mark_lost_at(200);
    assert_eq!((board.next_lost(), board.first_waiting()), (None, Some((200, 300))), "two copies, two losses");
    assert_eq!((board.retransmitted((0, 200)), board.late((0, 200))), (2, Some(100)));
    board.forget_copies((100, 200));
    assert_eq!(board.next_lost(), Some((200, 300)), "a D-SACK has reported one");
    assert!(board.is_consistent());
}
