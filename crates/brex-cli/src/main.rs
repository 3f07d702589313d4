//! The `brex` command.
#![allow(dead_code, unused_imports)]
mod exit;
mod numbers;
mod plot;
mod progress;
mod table;
mod terminal;
fn main() {}
