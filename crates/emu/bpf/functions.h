// Functions of fixed-point numbers: quotient of large numbers, exponential and logarithm.
// ## What it does
// The bounds of the errors hold for all arguments.

// A function of its own in the program, as it has many callers.
#define FUNCTION static __attribute__((noinline, unused))

#define NANOSECONDS 1000000000ULL	// in a second
#define MICROSECONDS 1000000ULL

// The quotient of two quantities in the same unit, if it is below 2^32, rounded down. From `below` = 2^32 on the low bits of both do not
// count: the error is then 17 x 2^-32 and 2^-28 of the quotient.
FUNCTION fixed quotient(u64 above, u64 below)
{
	if (below >> 48) {
		above >>= 16;
		below >>= 16;
	}
	if (below >> 40) {
		above >>= 8;
		below >>= 8;
	}
	if (below >> 36) {
		above >>= 4;
		below >>= 4;
	}
	if (below >> 32) {
		above >>= 4;
		below >>= 4;
	}
	return below ? WHOLE(above / below) + WHOLE(above % below) / below : 0;
}


// The product of two numbers like `times`, rounded to the nearest: sums of products then have no bias.
INLINE fixed times_nearest(fixed one, fixed other)
{
	return times(one, other) + ((u32)one * (u32)other >> 31);
}

#define LOG2E 6196328019ULL	// log2(e)
#define LN2 2977044472ULL	// ln 2

// e^x for a signed number: 0 for x <= -23, where e^x is less than half of 2^-32, and at most 2^30. The error is 3 x 2^-32 below x = 0, and
// 3e-9 of the result above.
FUNCTION fixed exponential(s64 x)
{
	fixed rest, sum = ONE;
	s64 power;
	int term;

	if (x <= -23 * (s64)ONE)
		return 0;
	if (x >= 89311334315LL)	// 30 ln 2
		return WHOLE(1 << 30);
	power = x < 0 ? -(s64)times(-x, LOG2E) : (s64)times(x, LOG2E);
	// e^x = 2^n e^rest with 0 <= rest < ln 2. Taylor's series for e^rest up to the 11th power misses less than 2^-34.
	rest = (u64)(u32)power * LN2 >> FRACTION;
	for (term = 11; term > 0; term--)
		sum = ONE + (rest * sum >> FRACTION) / term;
	power >>= FRACTION;
	return power < 0 ? sum >> -power : sum << power;
}

// ln x for x > 0. The error is 2e-9, beside that of x itself.
FUNCTION s64 logarithm(fixed x)
{
	fixed share, square, sum = 0;
	s64 power = 0;
	int step, term;

	// x = 2^power times a number from 1 to 2.
	for (step = 16; step > 0; step /= 2)
		if (x >> (FRACTION + step)) {
			x >>= step;
			power += step;
		}
	for (step = 32; step > 0; step /= 2)
		if (!(x >> (FRACTION + 1 - step))) {
			x <<= step;
			power -= step;
		}
	// ln x = 2 artanh share with share = (x - 1)/(x + 1), at most 1/3. The series up to the 19th power misses less than 2^-36.
	share = WHOLE(x - ONE) / (x + ONE);
	square = share * share >> FRACTION;
	for (term = 19; term > 0; term -= 2)
		sum = ONE / term + (square * sum >> FRACTION);
	return power * (s64)LN2 + (s64)times(2 * share, sum);
}

// A quantity of a trace in seconds.
INLINE s64 seconds(u64 time, u64 per_second)
{
	return quotient(time, per_second) >> (FRACTION - QUANTITY_BITS);
}
