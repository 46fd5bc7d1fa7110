// Standard slow start: one segment per acknowledged segment, which doubles the window in a round trip.
// ## What it does
// Adds one segment for each acknowledged segment.
// ## References
// RFC 5681 §3.1, equation 2; the Rust part `slow_start/standard.rs`.
// ## Differs from the Rust part
// Nothing.

PARAMETER u8 slow_start_standard;

INLINE struct step slow_start_standard_on_ack(const struct ack *ack)
{
	return grow(ack->counted);
}
