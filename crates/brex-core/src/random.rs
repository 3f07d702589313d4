//! Random streams keyed by (seed, purpose, index).
//!
//! A stream never depends on which thread uses it or on what was drawn elsewhere, so a result is
//! the same for a seed on any number of threads, and adding a new use of randomness does not change
//! the old ones.

use rand::SeedableRng;

/// The generator behind every stream: ChaCha with eight rounds, fast and portable.
pub type Stream = rand_chacha::ChaCha8Rng;

/// The stream for `index` of `purpose` under `seed`. Different keys give independent streams.
pub fn stream(seed: u64, purpose: &str, index: u64) -> Stream {
    let mut key = [0_u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&fnv1a(purpose.as_bytes()).to_le_bytes());
    key[16..24].copy_from_slice(&index.to_le_bytes());
    Stream::from_seed(key)
}

/// The FNV-1a hash: turns a purpose into a part of the key.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_each_part_of_the_key_and_repeat() {
        let first = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(first(1, "a", 0), first(1, "a", 0));
        assert_ne!(first(1, "a", 0), first(2, "a", 0));
        assert_ne!(first(1, "a", 0), first(1, "b", 0));
        assert_ne!(first(1, "a", 0), first(1, "a", 1));
    }
}
