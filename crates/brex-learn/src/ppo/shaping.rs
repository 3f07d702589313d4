//! Paying for a state when it is reached, not for as long as it lasts.
//!
//! A reward that depends on the state alone pays little for an action: a broken brick adds a little
//! to every step that follows, far beyond what advantages look ahead. Whoever stays in a state of
//! reward `R` for ever gets `R / (1 - discount)`; taking a share of that for what the state is worth
//! and paying the difference from state to state brings the gain to the action that made it. Such
//! differences change no optimal policy (Ng, Harada and Russell, 1999).

use crate::ppo::PpoConfig;

/// Adds the differences to the rewards of steps. `worth` holds the rewards of the states before each
/// step, one step of all environments after the other, and of those that are seen after the last.
/// What follows an end is worth nothing.
pub(crate) fn shape(
    config: &PpoConfig,
    worth: &[f32],
    environments: usize,
    ends: &[bool],
    rewards: &mut [f32],
) {
    let factor = config.shaping / (1.0 - config.discount);
    let states = worth.iter().zip(&worth[environments..]);
    for ((reward, end), (before, after)) in rewards.iter_mut().zip(ends).zip(states) {
        let after = if *end { 0.0 } else { f64::from(*after) };
        *reward += (factor * (config.discount * after - f64::from(*before))) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(shaping: f64, discount: f64) -> PpoConfig {
        let env = brex_envs::make("pocket:breakout").unwrap();
        PpoConfig {
            shaping,
            discount,
            ..PpoConfig::for_spec(env.spec())
        }
    }

    fn discounted(rewards: &[f32], discount: f64) -> f64 {
        let back = rewards.iter().rev();
        back.fold(0.0, |sum, reward| f64::from(*reward) + discount * sum)
    }

    #[test]
    fn ways_from_one_state_to_another_keep_their_order() {
        // Two ways through states of one environment, from the same to the same.
        let ways: [[f32; 6]; 2] = [
            [0.5, -1.0, 2.0, 3.0, 0.0, 1.0],
            [0.5, 4.0, -2.0, 0.5, 2.0, 1.0],
        ];
        let gain = |shaping: f64| {
            ways.map(|worth| {
                let mut rewards = worth[1..].to_vec();
                shape(&config(shaping, 0.9), &worth, 1, &[false; 5], &mut rewards);
                discounted(&rewards, 0.9)
            })
        };
        let (plain, shaped) = (gain(0.0), gain(0.7));
        assert!((plain[0] - plain[1]).abs() > 0.1);
        assert!((plain[0] - plain[1] - (shaped[0] - shaped[1])).abs() < 1e-5);
    }

    #[test]
    fn fully_shaped_a_state_that_lasts_pays_nothing_more() {
        let mut rewards = [3.0, 3.0, 5.0];
        shape(
            &config(1.0, 0.5),
            &[3.0, 3.0, 3.0, 5.0],
            1,
            &[false; 3],
            &mut rewards,
        );
        assert_eq!(rewards, [0.0, 0.0, 4.0]);
    }

    #[test]
    fn what_follows_an_end_is_worth_nothing_and_environments_do_not_mix() {
        let mut rewards = [0.0; 4];
        // Two steps of two environments; the first step of the second one is an end.
        let worth = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let ends = [false, true, false, false];
        shape(&config(0.5, 0.5), &worth, 2, &ends, &mut rewards);
        assert_eq!(rewards, [0.5, -2.0, -0.5, -1.0]);
    }
}
