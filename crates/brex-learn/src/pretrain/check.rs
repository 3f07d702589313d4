//! Whether an encoder carries anything.

use super::Pretrainer;
use crate::observations::observation_tensor;
use crate::parameters::values_of;
use crate::phi::Phi;
use burn::tensor::activation::sigmoid;

/// A feature whose deviation is this much smaller than the widest one's counts as collapsed.
const COLLAPSED: f64 = 0.01;

/// What an encoder is like after pre-training.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderCheck {
    /// The share of snippet pairs that are ranked right, of preferences that were learned from.
    pub training_accuracy: f64,
    /// The same of preferences that were kept back.
    pub held_out_accuracy: Option<f64>,
    /// The mean of each feature over the frames of all demonstrations, each demonstration counting the
    /// same, however long it is.
    pub means: Vec<f64>,
    /// The deviation of each feature, likewise.
    pub deviations: Vec<f64>,
    /// The root of the mean square of phi's norm over those frames, after features are centred if
    /// they are to be.
    pub norm: f64,
}

impl EncoderCheck {
    /// Features that hardly ever change.
    pub fn collapsed(&self) -> usize {
        let widest = self.deviations.iter().copied().fold(0.0, f64::max);
        let narrow = |deviation: &&f64| **deviation <= COLLAPSED * widest;
        self.deviations.iter().filter(narrow).count()
    }
}

/// A frame and what the decoder makes of its features: grey values, the newest frame only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconstruction {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// The frame.
    pub frame: Vec<u8>,
    /// What was drawn.
    pub drawn: Vec<u8>,
}

impl Pretrainer {
    /// Measures the encoder.
    pub fn check(&self) -> EncoderCheck {
        let phi = self.phi();
        let count = self.shape.encoder.feature_count();
        let (mut means, mut squares) = (vec![0.0; count], vec![0.0; count]);
        let episodes = self.data.episodes.iter().filter(|e| !e.is_empty());
        let shares = episodes.clone().count().max(1) as f64;
        for episode in episodes {
            let weight = 1.0 / (shares * episode.len() as f64);
            phi.each_frame(episode, |features| {
                for (at, value) in features.iter().enumerate() {
                    means[at] += weight * f64::from(*value);
                    squares[at] += weight * f64::from(*value) * f64::from(*value);
                }
            });
        }
        let moments = means.iter().zip(&squares);
        let variances = moments.map(|(mean, square)| square - mean * mean);
        let variances: Vec<f64> = variances.map(|v| v.max(0.0)).collect();
        let mean_square = if self.is_centred() {
            variances.iter().sum::<f64>()
        } else {
            squares.iter().sum::<f64>()
        };
        EncoderCheck {
            training_accuracy: self.training_accuracy(),
            held_out_accuracy: self.held_out_accuracy(),
            means,
            deviations: variances.iter().map(|v| v.sqrt()).collect(),
            norm: mean_square.sqrt(),
        }
    }

    /// Whether features are shifted at the end. Those of T-REX, which are never negative, are not.
    pub(crate) fn is_centred(&self) -> bool {
        self.config.centred && self.shape.encoder.features.is_some()
    }

    /// The encoder as it is now.
    pub fn phi(&self) -> Phi {
        let device = self.device.clone().without_autodiff();
        Phi::new(self.network().encoder, self.shape.encoder.clone(), device)
    }

    /// Draws some frames again, evenly spread over the demonstrations.
    pub fn reconstructions(&self, count: usize) -> Vec<Reconstruction> {
        let device = self.device.clone().without_autodiff();
        let network = self.network();
        let [stack, height, width] = self.shape.encoder.observation;
        let lens = self.data.episodes.iter().map(|episode| episode.len());
        let total: usize = lens.sum();
        let place = |index: usize| {
            let mut at = (2 * index + 1) * total / (2 * count);
            for episode in &self.data.episodes {
                if at < episode.len() {
                    return episode.observation(at);
                }
                at -= episode.len();
            }
            self.data.episodes[0].observation(0)
        };
        let seen: Vec<&[u8]> = (0..count).map(place).collect();
        let input = observation_tensor(&seen, [stack, height, width], &device);
        let features = network.encoder.features(input);
        let drawn = values_of(sigmoid(network.decoder.forward(features)));
        let newest = (stack - 1) * height * width..stack * height * width;
        let pictures = seen.iter().zip(drawn.chunks_exact(stack * height * width));
        pictures
            .map(|(seen, drawn)| Reconstruction {
                height,
                width,
                frame: seen[newest.clone()].to_vec(),
                drawn: drawn[newest.clone()]
                    .iter()
                    .map(|grey| (grey * 255.0).round() as u8)
                    .collect(),
            })
            .collect()
    }
}
