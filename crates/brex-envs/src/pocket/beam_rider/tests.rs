use super::*;
use crate::game_random;
use proptest::prelude::*;
use rand::RngExt;

const NEVER: i32 = i32::MAX;
const MIDDLE: i32 = BEAMS / 2;

/// A sky in which nothing is, and nothing will be.
fn empty_sky() -> BeamRider {
    let mut game = BeamRider::new(game_random(1));
    game.saucer_wait = NEVER;
    game
}

/// A saucer that stays where it is for a while.
fn saucer(beam: i32, row: i32) -> Option<Saucer> {
    Some(Saucer {
        beam,
        height: 4 * row,
        speed: 0,
        charges: true,
        rest: 0,
    })
}

fn play(game: &mut BeamRider, action: usize, steps: usize) -> i32 {
    (0..steps).map(|_| game.step(action)).sum()
}

#[test]
fn the_truce_holds_until_a_saucer_is_shot() {
    let mut game = BeamRider::new(game_random(3));
    assert_eq!(play(&mut game, 0, 5000), 0);
    assert_eq!(
        (game.lives, game.alarm, game.is_over()),
        (LIVES, false, false)
    );
    let mut game = empty_sky();
    game.saucers[0] = saucer(MIDDLE, 6);
    assert_eq!(game.step(FIRE) + play(&mut game, 0, 5), 1);
    assert!(game.alarm && game.saucers[0].is_none());
}

#[test]
fn saucers_pay_by_sector_and_by_laser_or_torpedo() {
    for (action, sector) in [(FIRE, 1), (FIRE, 4), (LAUNCH, 4)] {
        let mut game = empty_sky();
        (game.sector, game.saucers[1]) = (sector, saucer(MIDDLE, 5));
        assert_eq!(game.step(action) + play(&mut game, 0, 5), sector);
        assert_eq!(game.left, SAUCERS - 1);
        let used = i32::from(action == LAUNCH);
        assert_eq!(game.torpedoes, TORPEDOES - used);
    }
}

#[test]
fn bolts_stay_on_their_beam() {
    let mut game = empty_sky();
    game.saucers[0] = saucer(MIDDLE + 1, 6);
    assert_eq!(play(&mut game, FIRE, 20), 0);
    play(&mut game, RIGHT, 3);
    assert_eq!(game.beam(), Some(MIDDLE + 1));
    assert_eq!(play(&mut game, FIRE, 12), 1);
}

#[test]
fn rocks_stop_lasers_and_break_by_torpedo() {
    let mut game = empty_sky();
    (game.sector, game.alarm) = (3, false);
    game.rocks[MIDDLE as usize] = Some(4 * 8);
    game.saucers[0] = saucer(MIDDLE, 4);
    assert_eq!(game.step(FIRE) + play(&mut game, 0, 3), 0);
    assert!(game.rocks[MIDDLE as usize].is_some() && game.bolt.is_none());
    assert_eq!(play(&mut game, LAUNCH, 2), 2 * 3);
    assert!(game.rocks[MIDDLE as usize].is_none() && game.saucers[0].is_some());
}

#[test]
fn torpedoes_run_out_and_come_back_with_the_sector() {
    let mut game = empty_sky();
    play(&mut game, LAUNCH, 60);
    assert_eq!(game.torpedoes, 0);
    game.step(LAUNCH);
    assert_eq!(game.bolt, None);
    game.next_sector();
    assert_eq!(game.torpedoes, TORPEDOES);
}

#[test]
fn bombs_rocks_and_rammers_cost_a_life() {
    for what in 0..3 {
        let mut game = empty_sky();
        game.alarm = true;
        let height = 4 * SHIP - 1;
        match what {
            0 => game.bombs[MIDDLE as usize] = Some(height),
            1 => game.rocks[MIDDLE as usize] = Some(height),
            _ => game.saucers[0] = saucer(MIDDLE, SHIP),
        }
        assert_eq!(game.step(0), 0);
        assert_eq!((game.lives, game.alarm), (LIVES - 1, false));
        assert_eq!(game.saucers, [None; 4]);
    }
}

#[test]
fn who_leaves_the_beam_is_missed() {
    let mut game = empty_sky();
    game.bombs[MIDDLE as usize] = Some(4 * (SHIP - 3));
    play(&mut game, LEFT, 30);
    assert_eq!((game.lives, game.beam()), (LIVES, Some(0)));
}

#[test]
fn the_sentinel_pays_for_lives_and_only_to_a_torpedo() {
    for (action, lives, points) in [(LAUNCH, 3, 25 * 2), (LAUNCH, 1, 15 * 2), (FIRE, 3, 0)] {
        let mut game = empty_sky();
        (game.sector, game.lives, game.left) = (2, lives, 0);
        game.bolt = Some(Bolt {
            beam: MIDDLE,
            row: HORIZON + 1,
            torpedo: action == LAUNCH,
        });
        game.sentinel = Some(4 * (beam_column(MIDDLE, HORIZON) - 1));
        assert_eq!(game.step(0), points);
        assert_eq!(game.sector, if points > 0 { 3 } else { 2 });
    }
}

#[test]
fn the_sentinel_passes_and_the_next_sector_begins() {
    let mut game = empty_sky();
    game.left = 0;
    game.step(0);
    assert!(game.sentinel.is_some());
    for _ in 0..70 {
        game.bombs = [None; BEAMS as usize];
        assert_eq!(game.step(0), 0);
    }
    assert_eq!((game.sector, game.alarm), (2, false));
}

#[test]
fn the_last_sector_and_the_last_life_end_it() {
    let mut game = empty_sky();
    (game.sector, game.left, game.sentinel) = (SECTORS, 0, Some(4 * 23));
    assert!(!game.is_over());
    game.step(0);
    assert!(game.is_over());
    let mut game = empty_sky();
    game.lives = 1;
    game.bombs[MIDDLE as usize] = Some(4 * SHIP - 1);
    game.step(0);
    assert!(game.is_over());
}

fn score(seed: u64, act: impl Fn(&BeamRider, &mut GameRandom) -> usize) -> (i32, usize, u32) {
    let (mut game, mut random) = (BeamRider::new(game_random(seed)), game_random(seed + 1000));
    let (mut score, mut steps) = (0, 0);
    while !game.is_over() && steps < BeamRider::STEP_LIMIT {
        score += game.step(act(&game, &mut random));
        steps += 1;
    }
    (score, steps, game.lives)
}

#[test]
fn players_play_as_they_should() {
    let total = |act: fn(&BeamRider, &mut GameRandom) -> usize| -> i32 {
        (0..20).map(|seed| score(seed, act).0).sum()
    };
    let good = total(|game, random| game.good(random));
    let random = total(|_, random| random.random_range(0..BeamRider::ACTIONS.len()));
    assert!(random > 0 && good >= 5 * random, "{good} and {random}");
    for seed in 0..5 {
        let busy = score(seed, |game, random| game.hacker(random));
        assert_eq!(busy, (0, BeamRider::STEP_LIMIT, LIVES));
    }
}

proptest! {
    #[test]
    fn any_actions_keep_the_rules(
        seed: u64,
        actions in proptest::collection::vec(0..BeamRider::ACTIONS.len(), 1..2000),
    ) {
        let mut game = BeamRider::new(game_random(seed));
        for action in actions {
            if game.is_over() {
                break;
            }
            let (lives, sector, left) = (game.lives, game.sector, game.left);
            let points = game.step(action);
            prop_assert!(game.lives == lives || game.lives + 1 == lives);
            prop_assert!((0..=TORPEDOES).contains(&game.torpedoes));
            prop_assert!((0..=THIRDS * (BEAMS - 1)).contains(&game.ship));
            prop_assert!(game.saucers.iter().flatten().all(|s| (0..BEAMS).contains(&s.beam)));
            if game.sector != sector {
                let bonus = (10 + 5 * lives as i32) * sector;
                prop_assert!(game.sector == sector + 1 && (points == 0 || points == bonus));
            } else if game.left < left {
                prop_assert_eq!((game.left, points), (left - 1, sector));
            } else {
                prop_assert!(game.left == left && (points == 0 || points == 2 * sector));
            }
        }
    }
}
