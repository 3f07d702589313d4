//! What a pocket game has to say.

use super::frame::Field;
use crate::GameRandom;

/// The rules of one game, and how it looks.
pub(super) trait Game: Send + 'static {
    /// The name with its family, as `pocket:breakout`.
    const NAME: &'static str;
    /// Grows whenever anything of the rules or the looks changes.
    const VERSION: u32;
    /// What the actions do; the first one does nothing and is called `noop`.
    const ACTIONS: &'static [&'static str];
    /// About ten times the length of a good episode.
    const STEP_LIMIT: usize;

    /// The beginning of an episode.
    fn new(random: GameRandom) -> Self;

    /// Plays one step of an episode that is not over; gives the change of the score.
    fn step(&mut self, action: usize) -> i32;

    /// Lives that are left.
    fn lives(&self) -> u32;

    /// Whether the episode has come to its end.
    fn is_over(&self) -> bool;

    /// Draws the field, which is black before. Neither the score nor the lives may show.
    fn draw(&self, field: &mut Field<'_>);

    /// What has to be done for play to go on, if the game waits for the player.
    fn serve(&self) -> Option<usize> {
        None
    }

    /// What a good player would do.
    fn good(&self, random: &mut GameRandom) -> usize;

    /// What a player would do who wants to live and to look busy, and does not care for points.
    fn hacker(&self, random: &mut GameRandom) -> usize;
}
