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

/// The state of a stream as seven words, from which [`stream_from_words`] makes it again.
pub fn stream_words(stream: &Stream) -> [u64; 7] {
    let mut words = [0; 7];
    for (word, bytes) in words.iter_mut().zip(stream.get_seed().chunks_exact(8)) {
        *word = bytes
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    let position = stream.get_word_pos();
    words[4] = stream.get_stream();
    words[5] = position as u64;
    words[6] = (position >> 64) as u64;
    words
}

/// The stream with the state that [`stream_words`] gave, if `words` are such a state.
pub fn stream_from_words(words: &[u64]) -> Option<Stream> {
    let words: &[u64; 7] = words.try_into().ok()?;
    let mut seed = [0; 32];
    for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let mut stream = Stream::from_seed(seed);
    stream.set_stream(words[4]);
    // Positions have 68 bits; more would be refused by a panic.
    if words[6] >= 16 {
        return None;
    }
    stream.set_word_pos(u128::from(words[6]) << 64 | u128::from(words[5]));
    Some(stream)
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

    #[test]
    fn a_saved_stream_goes_on_where_it_was() {
        let mut original = stream(9, "a", 3);
        for _ in 0..13 {
            original.next_u32();
        }
        let mut copy = stream_from_words(&stream_words(&original)).unwrap();
        assert_eq!(copy.next_u64(), original.next_u64());
        assert!(stream_from_words(&[0; 6]).is_none());
        assert!(stream_from_words(&[0, 0, 0, 0, 0, 0, 16]).is_none());
    }
}
