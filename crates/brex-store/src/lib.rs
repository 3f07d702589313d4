//! Every file format that brex reads and writes.
