//! Numbers that change when content changes, as text. No protection against ill will.

/// The FNV-1a hash of 64 bits, fed piece by piece.
pub(crate) struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn add_word(&mut self, word: u64) {
        self.add(&word.to_le_bytes());
    }

    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The checksum of some bytes.
pub(crate) fn checksum(bytes: &[u8]) -> String {
    let mut sum = Checksum::default();
    sum.add(bytes);
    sum.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the authors of the hash.
    #[test]
    fn it_is_fnv_1a() {
        assert_eq!(checksum(b""), "cbf29ce484222325");
        assert_eq!(checksum(b"a"), "af63dc4c8601ec8c");
        assert_eq!(checksum(b"foobar"), "85944171f73967e8");
    }
}
