//! The networks: what they are made of, and how they begin.

mod convolutions;
mod decoder;
mod discriminator;
mod encoder;
mod orthogonal;
mod policy;
mod uniform;

pub use convolutions::ConvolutionShape;
pub use decoder::{Decoder, DecoderShape};
pub use discriminator::{Discriminator, DiscriminatorShape};
pub use encoder::{Encoded, Encoder, EncoderShape, PretrainNetwork, PretrainShape};
pub use policy::{PolicyNetwork, PolicyShape};
