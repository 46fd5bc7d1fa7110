// Halving: multiplicative decrease by two.
// ## What it does
// Congestion halves the window in force; the threshold is the half rounded down, at least two segments.
// ## References
// RFC 5681 §3.1, equation 4; the Rust part `loss_response/halve.rs`.
// ## Differs from the Rust part
// Nothing.

PARAMETER u8 loss_response_halve;

INLINE struct window loss_response_halve_respond(const struct congestion *event)
{
	return halved(event->window);
}
