//! What cannot be judged is unknown (NaN), never converged.

use brex_core::{Diagnosis, Workspace, diagnose, ess_mean, mcse_mean};
use proptest::prelude::*;

fn judge(values: &[f64], chains: usize) -> Diagnosis {
    diagnose(values, chains, &[0.05, 0.3], &mut Workspace::default())
}

fn is_unknown(diagnosis: &Diagnosis) -> bool {
    let quantiles = diagnosis.quantiles.iter().flat_map(|q| [q.ess, q.mcse]);
    [
        diagnosis.rhat,
        diagnosis.ess_bulk,
        diagnosis.ess_tail,
        diagnosis.ess_mean,
        diagnosis.ess_sd,
        diagnosis.mcse_mean,
        diagnosis.mcse_sd,
    ]
    .into_iter()
    .chain(quantiles)
    .all(f64::is_nan)
}

#[test]
fn constant_short_and_broken_sequences_are_unknown() {
    for value in [0.0, 0.1, -1e300] {
        let constant = judge(&[value; 40], 4);
        assert!(is_unknown(&constant), "{constant:?}");
        assert_eq!(constant.quantiles[0].value, value);
    }
    let few: Vec<f64> = (0..12).map(f64::from).collect();
    assert!(is_unknown(&judge(&few, 4)));
    assert!(!is_unknown(&judge(&few, 3)));
    assert!(is_unknown(&judge(&[], 1)));
    for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11)).collect();
        values[17] = broken;
        assert!(is_unknown(&judge(&values, 2)));
        assert!(mcse_mean(&values, 2, &mut Workspace::default()).is_nan());
    }
}

#[test]
fn chains_that_never_moved_but_differ_have_not_converged() {
    let values: Vec<f64> = (0..40).map(|i| f64::from(i / 10)).collect();
    assert!(judge(&values, 4).rhat > 1e6);
}

#[test]
fn a_tail_that_only_the_left_out_middle_reaches_is_unknown() {
    // Chains of odd length are halved without their middle draw; here both middles are the largest.
    let mut values: Vec<f64> = (0..38).map(|i| f64::from(i * 7 % 37)).collect();
    (values[9], values[28]) = (1e3, 2e3);
    let diagnosis = judge(&values, 2);
    assert!(diagnosis.ess_tail.is_nan());
    assert!(diagnosis.ess_bulk > 0.0 && diagnosis.rhat > 0.0);
}

#[test]
#[should_panic(expected = "10 values are not 3 equally long chains")]
fn chains_are_equally_long() {
    judge(&[0.0; 10], 3);
}

/// Whether two figures are the same, or both unknown.
fn same(one: f64, other: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan())
}

proptest! {
    #[test]
    fn ranks_do_not_see_the_scale_and_the_mean_scales(
        values in prop::collection::vec(-100.0_f64..100.0, 32..200),
        chains in 1_usize..4,
        power in -20_i32..20,
    ) {
        let values = &values[..values.len() / chains * chains];
        // A power of two changes no digit.
        let factor = 2.0_f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
        let (one, other) = (judge(values, chains), judge(&scaled, chains));
        prop_assert!(same(one.rhat, other.rhat), "rhat {} {}", one.rhat, other.rhat);
        prop_assert!(same(one.ess_bulk, other.ess_bulk));
        prop_assert!(same(one.ess_tail, other.ess_tail));
        prop_assert!(same(one.mcse_mean * factor, other.mcse_mean));
        prop_assert!(same(one.quantiles[1].mcse * factor, other.quantiles[1].mcse));
        prop_assert!(same(one.ess_mean, ess_mean(values, chains, &mut Workspace::default())));
    }

    #[test]
    fn the_order_of_the_chains_does_not_matter(
        values in prop::collection::vec(-100.0_f64..100.0, 60),
    ) {
        let mut turned = values.clone();
        turned.rotate_left(20);
        let (one, other) = (judge(&values, 3), judge(&turned, 3));
        prop_assert!((one.rhat - other.rhat).abs() < 1e-12);
        prop_assert!((one.ess_bulk / other.ess_bulk - 1.0).abs() < 1e-9);
    }
}
