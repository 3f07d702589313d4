//! What the paper has for the Atari games that the pocket games are modelled on.

/// The row of a game in the paper's Table 1: best and average demonstration, then the scores of
/// agents that learned from the mean, the MAP and T-REX's reward, and of GAIL.
pub(super) struct PaperGame {
    pub(super) game: &'static str,
    pub(super) name: &'static str,
    pub(super) best: f64,
    pub(super) average: f64,
    pub(super) mean: f64,
    pub(super) map: f64,
    pub(super) trex: f64,
    pub(super) gail: f64,
    /// Agents that learned from a T-REX ensemble and from MC dropout.
    pub(super) ensemble: f64,
    pub(super) dropout: f64,
    /// Scores of agents that learned from the mean reward after pre-training by ranking alone, and
    /// by the self-supervised losses alone.
    pub(super) ranking: f64,
    pub(super) self_supervised: f64,
    /// Mean and bound of A to D and No-Op before anything was asked.
    pub(super) bounds: [(&'static str, f64, f64); 5],
}

/// All five. Columns of Mean and MAP are those of Table 1; where the appendix swaps them, Table 1
/// counts.
pub(super) const PAPER: [PaperGame; 5] = [
    PaperGame {
        game: "beam-rider",
        name: "Beam Rider",
        best: 1332.0,
        average: 686.0,
        mean: 5504.7,
        map: 5870.3,
        trex: 3335.7,
        gail: 355.5,
        ensemble: 5925.0,
        dropout: 7243.1,
        ranking: 3816.7,
        self_supervised: 180.4,
        bounds: [
            ("A", 17.1, 7.9),
            ("B", 22.7, 11.9),
            ("C", 45.5, 24.9),
            ("D", 57.6, 31.5),
            ("No-Op", 102.5, -1557.1),
        ],
    },
    PaperGame {
        game: "breakout",
        name: "Breakout",
        best: 32.0,
        average: 14.5,
        mean: 390.7,
        map: 393.1,
        trex: 221.3,
        gail: 0.28,
        ensemble: 253.7,
        dropout: 52.6,
        ranking: 389.9,
        self_supervised: 360.1,
        bounds: [
            ("A", 1.5, 0.5),
            ("B", 6.3, 3.7),
            ("C", 10.6, 5.8),
            ("D", 13.9, 6.2),
            ("No-Op", 41.2, 1.0),
        ],
    },
    PaperGame {
        game: "enduro",
        name: "Enduro",
        best: 84.0,
        average: 39.8,
        mean: 487.7,
        map: 135.0,
        trex: 586.8,
        gail: 0.28,
        ensemble: 281.5,
        dropout: 111.8,
        ranking: 472.7,
        self_supervised: 0.0,
        bounds: [
            ("A", 324.7, 48.2),
            ("B", 328.9, 52.0),
            ("C", 424.5, 135.8),
            ("D", 526.2, 192.9),
            ("No-Op", 245.9, -31.7),
        ],
    },
    PaperGame {
        game: "seaquest",
        name: "Seaquest",
        best: 600.0,
        average: 373.3,
        mean: 734.7,
        map: 606.0,
        trex: 747.3,
        gail: 0.0,
        ensemble: 0.0,
        dropout: 0.0,
        ranking: 675.3,
        self_supervised: 674.0,
        bounds: [
            ("A", 24.3, 10.8),
            ("B", 53.6, 24.1),
            ("C", 56.0, 25.4),
            ("D", 55.8, 25.3),
            ("No-Op", 2471.6, 842.5),
        ],
    },
    PaperGame {
        game: "space-invaders",
        name: "Space Invaders",
        best: 600.0,
        average: 332.9,
        mean: 1118.8,
        map: 961.3,
        trex: 1032.5,
        gail: 370.2,
        ensemble: 1164.8,
        dropout: 387.5,
        ranking: 1482.0,
        self_supervised: 391.2,
        bounds: [
            ("A", 45.1, 20.6),
            ("B", 108.9, 48.7),
            ("C", 148.7, 63.6),
            ("D", 150.5, 63.8),
            ("No-Op", 18.8, 3.8),
        ],
    },
];

/// The paper's numbers for an environment, as `pocket:breakout` or `atari:breakout`.
pub(super) fn paper(environment: &str) -> Option<&'static PaperGame> {
    let (_, game) = environment.split_once(':')?;
    PAPER.iter().find(|paper| paper.game == game)
}
