use super::swimmers::{Shot, Swimmer};
use super::*;
use crate::game_random;
use proptest::prelude::*;
use rand::RngExt;

const NEVER: i32 = i32::MAX;

/// A sea in which nothing swims, and nothing will.
fn empty_sea() -> Seaquest {
    let mut game = Seaquest::new(game_random(1));
    empty(&mut game);
    game
}

fn empty(game: &mut Seaquest) {
    for lane in &mut game.lanes {
        *lane = Lane {
            hostile: None,
            diver: None,
            shot: None,
            hostile_wait: NEVER,
            diver_wait: NEVER,
        };
    }
}

/// A submarine under water in a lane, in an empty sea.
fn in_lane(lane: usize) -> Seaquest {
    let mut game = empty_sea();
    (game.y, game.diving) = (lane_row(lane), true);
    game
}

fn still(kind: Kind, x: i32) -> Option<Swimmer> {
    let (place, speed) = (8 * x, 0);
    Some(Swimmer { kind, place, speed })
}

fn play(game: &mut Seaquest, action: usize, steps: usize) -> i32 {
    (0..steps).map(|_| game.step(action)).sum()
}

#[test]
fn the_surface_is_safe_and_worthless() {
    let mut game = Seaquest::new(game_random(3));
    assert_eq!(play(&mut game, 0, 5000), 0);
    assert_eq!((game.lives, game.air, game.is_over()), (LIVES, AIR, false));
}

#[test]
fn torpedoes_pay_by_wave_and_kind() {
    for (kind, wave, points) in [
        (Kind::Fish, 1, 1),
        (Kind::Submarine, 1, 2),
        (Kind::Fish, 3, 3),
        (Kind::Submarine, 3, 6),
    ] {
        let mut game = in_lane(1);
        (game.wave, game.lanes[1].hostile) = (wave, still(kind, 20));
        assert_eq!(game.step(FIRE) + play(&mut game, 0, 4), points);
        assert_eq!(game.lanes[1].hostile, None);
        assert_eq!(game.torpedo, None);
    }
}

#[test]
fn torpedoes_fly_ahead_and_in_their_row_only() {
    let mut game = in_lane(1);
    game.lanes[1].hostile = still(Kind::Fish, 1);
    game.lanes[2].hostile = still(Kind::Fish, 20);
    game.lanes[1].diver = still(Kind::Diver, 18);
    assert_eq!(game.step(FIRE) + play(&mut game, 0, 10), 0);
    assert!(game.lanes[1].diver.is_some() && game.lanes[1].hostile.is_some());
    game.step(LEFT);
    assert_eq!(game.step(FIRE) + play(&mut game, 0, 4), 1);
}

#[test]
fn one_torpedo_at_a_time() {
    let mut game = in_lane(0);
    game.step(FIRE);
    let first = game.torpedo.map(|t| t.x);
    game.step(FIRE);
    assert_eq!(game.torpedo.map(|t| t.x), first.map(|x| x + TORPEDO_SPEED));
}

#[test]
fn what_is_hostile_costs_a_life_and_a_diver() {
    for shot in [false, true] {
        let mut game = in_lane(2);
        game.aboard = 3;
        if shot {
            let place = 8 * game.x;
            game.lanes[2].shot = Some(Shot { place, speed: 0 });
        } else {
            game.lanes[2].hostile = still(Kind::Fish, game.x + 2);
        }
        assert_eq!(game.step(0), 0);
        assert_eq!((game.lives, game.aboard), (LIVES - 1, 2));
        assert_eq!((game.y, game.diving, game.air), (0, false, AIR));
    }
}

#[test]
fn shots_pass_above_and_below() {
    let mut game = in_lane(2);
    game.y -= 2;
    game.lanes[2].shot = Some(Shot {
        place: 8 * game.x,
        speed: 0,
    });
    game.step(0);
    assert_eq!(game.lives, LIVES);
    game.step(DOWN);
    assert_eq!(game.lives, LIVES, "one row above the shot");
    game.step(DOWN);
    assert_eq!(game.lives, LIVES - 1);
}

#[test]
fn air_lasts_a_dive() {
    let mut game = empty_sea();
    play(&mut game, DOWN, UNDER as usize - 1);
    play(&mut game, 0, 500);
    assert_eq!(game.air, AIR, "above the water's edge");
    game.step(DOWN);
    play(&mut game, 0, AIR as usize - 2);
    game.aboard = 4;
    assert_eq!((game.air, game.lives), (1, LIVES));
    game.step(0);
    assert_eq!((game.air, game.lives, game.aboard), (AIR, LIVES - 1, 0));
}

#[test]
fn coming_home_without_a_diver_brings_air_and_nothing_else() {
    let mut game = empty_sea();
    play(&mut game, DOWN, UNDER as usize);
    assert_eq!((game.air, game.diving), (AIR - 1, true));
    assert_eq!(play(&mut game, UP, UNDER as usize), 0);
    assert_eq!((game.air, game.y, game.diving), (AIR, 0, false));
    assert_eq!((game.lives, game.wave), (LIVES, 1));
}

#[test]
fn coming_home_pays() {
    let mut game = in_lane(0);
    (game.aboard, game.wave) = (4, 2);
    assert_eq!(play(&mut game, UP, 10), 4 * 15 * 2);
    assert_eq!((game.aboard, game.wave, game.diving), (0, 2, false));
    let mut game = in_lane(0);
    (game.aboard, game.wave, game.air) = (LOAD, 2, 83);
    // Three of the four steps up cost air.
    assert_eq!(play(&mut game, UP, 10), 6 * 15 * 2 + 80 / 8);
    assert_eq!((game.aboard, game.wave, game.diving), (0, 3, false));
    assert_eq!((game.air, game.lives), (AIR, LIVES));
}

#[test]
fn divers_come_aboard_until_the_load_is_full() {
    let mut game = in_lane(3);
    game.aboard = LOAD - 1;
    for _ in 0..2 {
        game.lanes[3].diver = still(Kind::Diver, game.x + 1);
        assert_eq!(game.step(0), 0);
        assert_eq!(game.aboard, LOAD);
    }
    assert!(game.lanes[3].diver.is_some());
}

#[test]
fn sunset_and_the_last_life_end_it() {
    let mut game = in_lane(0);
    (game.aboard, game.day) = (1, DAY - 4);
    play(&mut game, UP, 4);
    play(&mut game, 0, 100);
    assert!(!game.is_over(), "the sun stands still");
    play(&mut game, DOWN, UNDER as usize);
    assert!(game.is_over());
    let mut game = in_lane(0);
    (game.lives, game.air) = (1, 1);
    game.step(0);
    assert!(game.is_over());
}

fn score(seed: u64, act: impl Fn(&Seaquest, &mut GameRandom) -> usize) -> (i32, usize, u32) {
    let (mut game, mut random) = (Seaquest::new(game_random(seed)), game_random(seed + 1000));
    let (mut score, mut steps) = (0, 0);
    while !game.is_over() && steps < Seaquest::STEP_LIMIT {
        score += game.step(act(&game, &mut random));
        steps += 1;
    }
    (score, steps, game.lives)
}

#[test]
fn players_play_as_they_should() {
    let total = |act: fn(&Seaquest, &mut GameRandom) -> usize| -> i32 {
        (0..20).map(|seed| score(seed, act).0).sum()
    };
    let good = total(|game, random| game.good(random));
    let random = total(|_, random| random.random_range(0..Seaquest::ACTIONS.len()));
    assert!(random > 0 && good >= 5 * random, "{good} and {random}");
    let busy = score(5, |game, random| game.hacker(random));
    assert_eq!(busy, (0, Seaquest::STEP_LIMIT, LIVES));
}

proptest! {
    #[test]
    fn any_actions_keep_the_rules(
        seed: u64,
        // Runs of one action reach deeper than single ones.
        runs in proptest::collection::vec((0..Seaquest::ACTIONS.len(), 1..12_usize), 1..300),
    ) {
        let mut game = Seaquest::new(game_random(seed));
        for action in runs.into_iter().flat_map(|(action, times)| std::iter::repeat_n(action, times)) {
            if game.is_over() {
                break;
            }
            let (lives, wave, day, diving) = (game.lives, game.wave, game.day, game.diving);
            let points = game.step(action);
            prop_assert!(game.lives == lives || game.lives + 1 == lives);
            prop_assert!((0..=LOAD).contains(&game.aboard));
            prop_assert!((1..=AIR).contains(&game.air));
            prop_assert!((0..=RIGHTMOST).contains(&game.x) && (0..=DEEPEST).contains(&game.y));
            let home = i32::from(diving && !game.diving);
            prop_assert!((0..=1).contains(&(game.day - day)));
            let most = 2 * wave + home * (HOME * LOAD * wave + AIR / 8);
            prop_assert!((0..=most).contains(&points));
            prop_assert!(game.wave == wave || (home == 1 && points >= HOME * LOAD * wave));
        }
    }
}
