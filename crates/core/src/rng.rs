//! Random number generators: one per component of a run, derived from the run's seed and the component's path. Adding a component therefore
//! changes no other component's numbers.
//!
//! ## References
//! Blackman & Vigna, *Scrambled linear pseudorandom number generators*, 2021 (xoshiro256++, `SplitMix64` seeding); L'Ecuyer, Simard, Chen &
//! Kelton, *An object-oriented random-number package*, 2002 (`MRG32k3a`, with streams 2¹²⁷ numbers apart).

/// A generator of uniform numbers.
#[derive(Clone, Debug)]
pub enum Generator {
    /// The default: xoshiro256++.
    Xoshiro(Xoshiro256),
    /// ns-2's generator, for the same losses as in ns-2.
    Mrg(Mrg32k3a),
}

impl Generator {
    /// The default generator of the component at `path` in a run with `seed`.
    pub fn derived(seed: u64, path: &str) -> Self {
        Self::Xoshiro(Xoshiro256::new(seed ^ fnv1a(path.as_bytes())))
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        match self {
            Self::Xoshiro(generator) => generator.uniform(),
            Self::Mrg(generator) => generator.uniform(),
        }
    }
}

/// FNV-1a over bytes, 64 bits: a stable hash of a component's path.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// xoshiro256++.
#[derive(Clone, Debug)]
pub struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// A generator with a state filled by `SplitMix64` from `seed`.
    pub fn new(mut seed: u64) -> Self {
        let state = std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = seed;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        });
        Self { state }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
type Matrix = [[u64; 3]; 3];
/// One step of the first component of `MRG32k3a`, as a matrix modulo `M1`.
const STEP1: Matrix = [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]];
/// One step of the second component, modulo `M2`.
const STEP2: Matrix = [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]];
/// Streams are 2¹²⁷ numbers apart.
const STREAM_BITS: u32 = 127;

/// `MRG32k3a`.
#[derive(Clone, Debug)]
pub struct Mrg32k3a {
    first: [u64; 3],
    second: [u64; 3],
}

impl Mrg32k3a {
    /// The generator as seeded by ns-2: all six words are `seed`, followed by `stream` jumps of 2¹²⁷ numbers (`new RNG` takes the next
    /// stream).
    ///
    /// The generator is linear, so its first number is about 0.00034 · `seed` for a small seed. For independent runs use streams, not
    /// seeds.
    pub fn new(seed: u32, stream: u32) -> Self {
        let word = u64::from(seed.max(1));
        let (mut first, mut second) = ([word % M1; 3], [word % M2; 3]);
        let (jump1, jump2) = (power_of_two(STEP1, STREAM_BITS, M1), power_of_two(STEP2, STREAM_BITS, M2));
        first = apply(&power(jump1, stream, M1), first, M1);
        second = apply(&power(jump2, stream, M2), second, M2);
        Self { first, second }
    }

    /// A number in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        let [x0, x1, x2] = self.first;
        let x3 = (1_403_580 * x1 + 810_728 * (M1 - x0)) % M1;
        self.first = [x1, x2, x3];
        let [y0, y1, y2] = self.second;
        let y3 = (527_612 * y2 + 1_370_589 * (M2 - y0)) % M2;
        self.second = [y1, y2, y3];
        let difference = if x3 > y3 { x3 - y3 } else { x3 + M1 - y3 };
        difference as f64 * 2.328_306_549_295_728e-10
    }
}

fn multiply(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let cell = |i: usize, j: usize| (0..3).fold(0, |sum, k| (sum + a[i][k] * b[k][j] % modulus) % modulus);
    std::array::from_fn(|i| std::array::from_fn(|j| cell(i, j)))
}

fn power_of_two(mut matrix: Matrix, exponent: u32, modulus: u64) -> Matrix {
    for _ in 0..exponent {
        matrix = multiply(&matrix, &matrix, modulus);
    }
    matrix
}

fn power(mut base: Matrix, mut exponent: u32, modulus: u64) -> Matrix {
    let mut result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(&result, &base, modulus);
        }
        base = multiply(&base, &base, modulus);
        exponent >>= 1;
    }
    result
}

fn apply(matrix: &Matrix, vector: [u64; 3], modulus: u64) -> [u64; 3] {
    std::array::from_fn(|i| (0..3).fold(0, |sum, k| (sum + matrix[i][k] * vector[k] % modulus) % modulus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mrg32k3a_draws_ns2s_first_numbers() {
        let mut generator = Mrg32k3a::new(1, 0);
        for expected in [0.000_339_577_2, 0.555_880_716_0, 0.014_204_660_7, 0.088_122_671_3] {
            assert!((generator.uniform() - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn mrg32k3a_draws_the_authors_first_number() {
        // L'Ecuyer et al. 2002: with 12345 in all six words the first number is 0.1270111…
        assert!((Mrg32k3a::new(12_345, 0).uniform() - 0.127_011_122_046_577_14).abs() < 1e-15);
    }

    #[test]
    fn mrg32k3a_draws_ns2s_later_numbers() {
        // `$rng seed 7`, then `$rng uniform 0 1`: numbers 10 000, 30 000 and 60 000.
        let mut generator = Mrg32k3a::new(7, 0);
        let drawn: Vec<f64> = (0..60_000).map(|_| generator.uniform()).collect();
        for (index, expected) in [(9_999, 0.846_291_483_308), (29_999, 0.713_512_330_182), (59_999, 0.632_113_941_773)] {
            assert!((drawn[index] - expected).abs() < 1e-6, "number {index}");
        }
    }

    #[test]
    fn a_jump_equals_its_steps() {
        // The matrices raised to a small power must agree with single steps.
        let jump = power_of_two(STEP1, 4, M1);
        let mut generator = Mrg32k3a::new(7, 0);
        let jumped = apply(&jump, generator.first, M1);
        for _ in 0..16 {
            generator.uniform();
        }
        assert_eq!(generator.first, jumped);
    }

    #[test]
    fn xoshiro_draws_the_authors_numbers() {
        // Reference implementation with the state 1, 2, 3, 4.
        let mut generator = Xoshiro256 { state: [1, 2, 3, 4] };
        let drawn: Vec<u64> = (0..4).map(|_| generator.next_u64()).collect();
        assert_eq!(drawn, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn each_component_has_its_own_generator() {
        let draw = |seed, path| Generator::derived(seed, path).uniform().to_bits();
        assert_ne!(draw(1, "link/0/loss"), draw(1, "link/1/loss"));
        assert_ne!(draw(1, "link/0/loss"), draw(2, "link/0/loss"));
        assert_eq!(draw(1, "link/0/loss"), draw(1, "link/0/loss"));
    }
}
