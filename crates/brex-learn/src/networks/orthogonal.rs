//! Orthogonal weights to begin with, drawn from brex's own streams so that a seed gives the same
//! network on every device.

use brex_core::Stream;
use burn::module::Param;
use burn::nn::Linear;
use burn::nn::LinearConfig;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::tensor::{Device, TensorData};
use faer::Mat;
use rand_distr::{Distribution, StandardNormal};

/// A matrix with orthonormal rows or columns, whichever are fewer, times `gain`; row by row.
///
/// The Q of a random normal matrix, with the signs of R's diagonal taken out, so that all such
/// matrices are equally likely (Saxe, McClelland and Ganguli, 2014).
pub(crate) fn orthogonal(rows: usize, columns: usize, gain: f64, stream: &mut Stream) -> Vec<f32> {
    let (long, short) = (rows.max(columns), rows.min(columns));
    let random = Mat::<f64>::from_fn(long, short, |_, _| StandardNormal.sample(stream));
    let qr = random.qr();
    let (q, r) = (qr.compute_thin_Q(), qr.thin_R());
    let entry = |along: usize, across: usize| {
        let sign: f64 = if r[(across, across)] < 0.0 { -1.0 } else { 1.0 };
        (gain * sign * q[(along, across)]) as f32
    };
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            values.push(if rows >= columns {
                entry(row, column)
            } else {
                entry(column, row)
            });
        }
    }
    values
}

/// A convolution with orthogonal filters and no bias at first.
pub(crate) fn convolution(
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    gain: f64,
    stream: &mut Stream,
    device: &Device,
) -> Conv2d {
    let config = Conv2dConfig::new(channels, [kernel, kernel]).with_stride([stride, stride]);
    let mut layer = config.init(device);
    let [inputs, outputs] = channels;
    let filters = orthogonal(outputs, inputs * kernel * kernel, gain, stream);
    let shape = [outputs, inputs, kernel, kernel];
    layer.weight = Param::from_data(TensorData::new(filters, shape), device);
    layer.bias = Some(zeros(outputs, device));
    layer
}

/// A linear layer with orthogonal weights and no bias at first.
pub(crate) fn linear(
    inputs: usize,
    outputs: usize,
    gain: f64,
    stream: &mut Stream,
    device: &Device,
) -> Linear {
    let mut layer = LinearConfig::new(inputs, outputs).init(device);
    let weight = orthogonal(inputs, outputs, gain, stream);
    layer.weight = Param::from_data(TensorData::new(weight, [inputs, outputs]), device);
    layer.bias = Some(zeros(outputs, device));
    layer
}

fn zeros(count: usize, device: &Device) -> Param<burn::tensor::Tensor<1>> {
    Param::from_data(TensorData::new(vec![0.0_f32; count], [count]), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_or_columns_are_orthonormal() {
        for (rows, columns) in [(3, 7), (7, 3), (5, 5), (1, 4)] {
            let mut stream = brex_core::stream(1, "test", 0);
            let values = orthogonal(rows, columns, 2.0, &mut stream);
            let at = |row: usize, column: usize| f64::from(values[row * columns + column]);
            let short = rows.min(columns);
            for a in 0..short {
                for b in 0..short {
                    let dot: f64 = if rows <= columns {
                        (0..columns).map(|c| at(a, c) * at(b, c)).sum()
                    } else {
                        (0..rows).map(|r| at(r, a) * at(r, b)).sum()
                    };
                    let expected = if a == b { 4.0 } else { 0.0 };
                    assert!(
                        (dot - expected).abs() < 1e-5,
                        "{rows} {columns} {a} {b} {dot}"
                    );
                }
            }
        }
    }
}
