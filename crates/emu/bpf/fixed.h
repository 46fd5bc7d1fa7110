// Fixed point: 32 bits before and 32 bits after the binary point.
// ## What it does
// A BPF program has no floating point. Windows and the parameters of the parts are unsigned numbers with 32 fractional bits. An operation
// rounds down; its error is less than 2.4e-10.
// ## Differs from the Rust parts
// They compute with 64-bit floating point. Numbers from 2^32 on do not fit; the unlimited threshold of Linux, 2^31 - 1 segments, does.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef signed int s32;
typedef unsigned long long u64;
typedef signed long long s64;
typedef u64 fixed;

typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s64 __s64;

#define INLINE static inline __attribute__((always_inline, unused))
#define FRACTION 32
#define ONE (1ULL << FRACTION)
#define ROUNDING 4096	// about 1e-6: a sum of three times 1/3, or 33 / 3.3, may miss the whole number by so much
#define WHOLE(number) ((fixed)(number) << FRACTION)

// The whole part as a number.
INLINE u64 whole(fixed number)
{
	return number >> FRACTION;
}

// The number without its fraction.
INLINE fixed floored(fixed number)
{
	return number & ~(ONE - 1);
}

INLINE fixed least_of(fixed one, fixed other)
{
	return one < other ? one : other;
}

INLINE fixed most_of(fixed one, fixed other)
{
	return one > other ? one : other;
}

// `one` - `other`, or zero if that would be negative.
INLINE fixed less(fixed one, fixed other)
{
	return one > other ? one - other : 0;
}

// The quotient of two whole numbers; `above` is below 2^32. Zero divisors give zero, as in the kernel's BPF.
INLINE fixed ratio(u64 above, u64 below)
{
	return below ? (above << FRACTION) / below : 0;
}

// The product of two numbers, if it is below 2^32. Exact but for rounding down.
INLINE fixed times(fixed one, fixed other)
{
	u64 low = (u32)one, high = one >> 32, other_low = (u32)other, other_high = other >> 32;

	return ((high * other_high) << 32) + high * other_low + low * other_high + ((low * other_low) >> 32);
}

// The quotient of two numbers, if it is below 2^32: long division, 16 bits of the fraction at a time. `below` is below 2^16 or whole.
INLINE fixed divided(fixed above, fixed below)
{
	u64 quotient, rest;
	int step;

	if (!below)
		return 0;
	if (!(u32)below) {
		below >>= 32;
		return above / below;
	}
	quotient = above / below;
	rest = above % below;
	for (step = 0; step < 2; step++) {
		rest <<= 16;
		quotient = (quotient << 16) | (rest / below);
		rest %= below;
	}
	return quotient;
}
