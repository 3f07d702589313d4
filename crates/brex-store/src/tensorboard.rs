//! Numbers over time in the event files that TensorBoard reads.
//!
//! An event file is a row of records, each with its length and two checksums (CRC-32C, masked as
//! TensorFlow does); a record is a protocol buffer. Only scalars are written, so that the few
//! fields needed are put together here.

/// An event file in memory.
#[derive(Debug, Clone, Default)]
pub struct EventFile {
    bytes: Vec<u8>,
}

impl EventFile {
    /// A file that has only said which version it is; `seconds` are those since 1970.
    pub fn new(seconds: f64) -> Self {
        let mut file = Self::default();
        let mut event = Message::default();
        event.double(1, seconds);
        event.bytes(3, b"brain.Event:2");
        file.record(&event.0);
        file
    }

    /// Adds numbers by name at a step.
    pub fn scalars(&mut self, seconds: f64, step: u64, values: &[(&str, f64)]) {
        let mut summary = Message::default();
        for (name, value) in values {
            let mut entry = Message::default();
            entry.bytes(1, name.as_bytes());
            entry.float(2, *value as f32);
            summary.bytes(1, &entry.0);
        }
        let mut event = Message::default();
        event.double(1, seconds);
        event.varint(2, step);
        event.bytes(5, &summary.0);
        self.record(&event.0);
    }

    /// The content of the file so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn record(&mut self, data: &[u8]) {
        let length = (data.len() as u64).to_le_bytes();
        self.bytes.extend(length);
        self.bytes.extend(masked(crc32c(&length)).to_le_bytes());
        self.bytes.extend(data);
        self.bytes.extend(masked(crc32c(data)).to_le_bytes());
    }
}

/// A protocol buffer in the making.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, kind: u64) {
        self.number(field << 3 | kind);
    }

    fn varint(&mut self, field: u64, value: u64) {
        self.key(field, 0);
        self.number(value);
    }

    fn double(&mut self, field: u64, value: f64) {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, value: &[u8]) {
        self.key(field, 2);
        self.number(value.len() as u64);
        self.0.extend(value);
    }

    fn float(&mut self, field: u64, value: f32) {
        self.key(field, 5);
        self.0.extend(value.to_le_bytes());
    }
}

/// The checksum of Castagnoli, bit by bit: event files are small.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut sum = !0_u32;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let last = sum & 1;
            sum = (sum >> 1) ^ (0x82f6_3b78 * last);
        }
    }
    !sum
}

fn masked(sum: u32) -> u32 {
    sum.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn a_number_takes_seven_bits_a_byte() {
        let mut message = Message::default();
        message.varint(2, 300);
        assert_eq!(message.0, [0x10, 0xac, 0x02]);
    }
}
