//! The `brex` command.
fn main() {}
