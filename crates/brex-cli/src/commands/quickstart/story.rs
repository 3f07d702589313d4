//! What the quickstart found, in sentences; each is true of the numbers at hand.

use crate::commands::run_evaluation::RunEvaluation;
use crate::numbers;

/// The score of a policy, its bound and its place by the bound (from 1).
struct Standing {
    score: f64,
    bound: f64,
    place: usize,
}

fn standing(judged: &RunEvaluation, name: &str) -> Option<Standing> {
    let at = judged
        .run
        .policies
        .iter()
        .position(|policy| policy.name == name)?;
    let place = judged.order().iter().position(|index| *index == at)? + 1;
    Some(Standing {
        score: numbers::mean_and_sd(&judged.run.policies[at].sums.scores).0,
        bound: judged.evaluation.policies[at].bounds.first()?.var,
        place,
    })
}

fn number(value: f64) -> String {
    numbers::significant(value, 3)
}

/// What a reader should know first.
pub(super) fn in_short(before: &RunEvaluation, after: &RunEvaluation) -> Vec<String> {
    let mut lines = vec![order_of_skill(before, after)];
    if let (Some(then), Some(now)) = (standing(before, "No-Op"), standing(after, "No-Op")) {
        let lowest = before.run.policies.len();
        lines.push(format!(
            "No-Op, which does nothing until the clock runs out, has a bound of {} (place {} of \
             {lowest}) before anybody ranked it, and {} (place {}) after.",
            number(then.bound),
            then.place,
            number(now.bound),
            now.place
        ));
    }
    if let Some(mean) = standing(before, "mean") {
        let demonstrations = &before.run.episodes.scores;
        let count = before
            .run
            .ids
            .iter()
            .filter(|id| id.starts_with("demo-"))
            .count();
        let best = demonstrations
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let average = demonstrations.iter().sum::<f64>() / demonstrations.len() as f64;
        lines.push(format!(
            "The policy that was trained on the mean reward, and never saw a score, scores {} on \
             average. The {count} demonstrations score {} on average and {} at best.",
            number(mean.score),
            number(average),
            number(best)
        ));
    }
    let warned = before
        .suspicions
        .iter()
        .filter(|found| !found.is_empty())
        .count();
    lines.push(match warned {
        0 => "No policy looked suspicious.".to_owned(),
        1 => "One policy is marked to be looked at twice; the reason stands below the table."
            .to_owned(),
        count => format!(
            "{count} policies are marked to be looked at twice; the reasons stand below the table."
        ),
    });
    lines
}

/// The policies A to D.
fn of_skill(judged: &RunEvaluation) -> Vec<Standing> {
    let names = ["A", "B", "C", "D"].iter();
    names.filter_map(|name| standing(judged, name)).collect()
}

fn rise(standings: &[Standing], of: fn(&Standing) -> f64) -> bool {
    standings.windows(2).all(|two| of(&two[0]) < of(&two[1]))
}

/// Whether bounds order the policies A to D by skill, at last if not at first.
fn order_of_skill(before: &RunEvaluation, after: &RunEvaluation) -> String {
    let (standings, at_last) = (of_skill(before), of_skill(after));
    let scores: Vec<String> = standings.iter().map(|s| number(s.score)).collect();
    let bounds: Vec<String> = standings.iter().map(|s| number(s.bound)).collect();
    let (scores, bounds) = (scores.join(", "), bounds.join(", "));
    let then: Vec<String> = at_last.iter().map(|s| number(s.bound)).collect();
    let then = match rise(&at_last, |s| s.bound) {
        true => format!("After asking they do: {}.", then.join(", ")),
        false => format!("Nor do they after asking: {}.", then.join(", ")),
    };
    match (rise(&standings, |s| s.score), rise(&standings, |s| s.bound)) {
        (true, true) => format!(
            "The bounds of the policies A to D rise with their skill: {bounds}; true scores {scores}."
        ),
        (true, false) => format!(
            "The bounds of the policies A to D do not rise with their skill: {bounds}; true scores {scores}. \
             {then}"
        ),
        (false, _) => format!(
            "The policies A to D did not come out in the order of their skill (true scores {scores}); \
             their bounds are {bounds}. Longer training separates them."
        ),
    }
}

/// Commands to go on with.
pub(super) fn next(game: &str, out: &str) -> Vec<String> {
    vec![
        format!(
            "brex render {out}/rollouts/mean/000000.episode -o mean.gif   # watch the new policy"
        ),
        format!("brex train {game} --reward {out}:mean --steps 2000000 --out longer"),
        format!(
            "brex train {game} --reward {out}:map --out map              # the most probable reward"
        ),
        format!("brex demos {out} --add EPISODE --rank better-than-all       # rank what it does"),
        format!("brex features {out} && brex sample {out} --force && brex evaluate {out}"),
        "brex demos pocket:enduro --out enduro                       # another game".to_owned(),
    ]
}
