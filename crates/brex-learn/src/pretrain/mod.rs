//! Pre-training of the encoder phi: a ranking loss and four self-supervised ones on snippets of
//! ranked demonstrations.

mod check;
mod config;
mod demonstrations;
mod losses;
mod pixel_error;
mod snippets;
mod trainer;

pub use check::{EncoderCheck, Reconstruction};
pub use config::{LossWeights, PretrainConfig, Sampling};
pub use demonstrations::{DemonstrationError, RankedDemonstrations, SeenEpisode};
pub use losses::{Losses, dropout_mask};
pub use trainer::{PretrainError, PretrainReport, Pretrainer};

pub(crate) use trainer::adam_config;
