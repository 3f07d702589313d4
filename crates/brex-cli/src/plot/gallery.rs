//! Figures of every awkward kind, drawn in tests. To look at them:
//! `BREX_GALLERY=/some/folder cargo test -p brex-cli gallery`.

use super::{
    Chart, DrawnBound, DrawnFrom, Panel, PanelSeries, Panels, PlotFormat, Reading, Ridge,
    Ridgeline, Series,
};

/// A bell-shaped sample without randomness.
fn bell(count: usize, mean: f64, deviation: f64) -> Vec<f64> {
    (0..count)
        .map(|index| (index as f64 + 0.5) / count as f64)
        .map(|p| mean + deviation * (p / (1.0 - p)).ln() / 1.814)
        .collect()
}

fn ridge(name: &str, returns: Vec<f64>) -> Ridge {
    let mut sorted = returns.clone();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let value = sorted[(sorted.len() as f64 * 0.05) as usize];
    let error = (sorted[sorted.len() - 1] - sorted[0]) * 0.004;
    Ridge {
        name: name.to_owned(),
        returns,
        mean,
        mean_error: error / 2.0,
        bound: Some(DrawnBound { value, error }),
    }
}

fn ridgeline(rows: Vec<Ridge>) -> String {
    let figure = Ridgeline {
        title: "Returns of the policies under the posterior".to_owned(),
        from: DrawnFrom::Posterior,
        delta: 0.05,
        rows,
    };
    figure.draw()
}

/// Draws as PNG too, keeps both if a folder is named, and checks what must hold for any figure.
fn check(name: &str, svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    let png = PlotFormat::Png.encode(svg.to_owned()).unwrap();
    assert!(png.starts_with(b"\x89PNG"), "{name}");
    if let Some(folder) = std::env::var_os("BREX_GALLERY") {
        let path = std::path::Path::new(&folder).join(name);
        std::fs::write(path.with_extension("svg"), svg).unwrap();
        std::fs::write(path.with_extension("png"), png).unwrap();
    }
}

#[test]
fn gallery_of_a_few_policies() {
    let mut skewed = bell(4000, 1.0, 0.4);
    skewed.iter_mut().for_each(|v| *v = v.exp() * 2.0 - 1.0);
    let two = [bell(2000, 3.0, 0.6), bell(2000, 9.0, 0.8)].concat();
    let svg = ridgeline(vec![
        ridge("C", bell(4000, 12.4, 2.0)),
        ridge("B", bell(4000, 7.4, 1.6)),
        ridge("two modes", two),
        ridge("skewed", skewed),
        ridge("A", bell(4000, 0.8, 1.4)),
    ]);
    assert!(svg.contains("5 % of the posterior lies below the bound"));
    assert!(!svg.contains("logarithmic"));
    check("few", &svg);
}

#[test]
fn gallery_of_one_policy() {
    check(
        "one",
        &ridgeline(vec![ridge("the only one", bell(500, -3.0, 1.0))]),
    );
}

#[test]
fn gallery_of_thirty_policies_with_long_names() {
    let rows = (0..30).rev().map(|index| {
        let name = format!(
            "checkpoint {:05} of the long run with <odd> & \"quoted\" names",
            index * 50
        );
        ridge(
            &name,
            bell(1000, f64::from(index), 1.0 + f64::from(index % 4)),
        )
    });
    let svg = ridgeline(rows.collect());
    assert!(svg.contains("…") && !svg.contains("<odd>"));
    check("thirty", &svg);
}

#[test]
fn gallery_of_orders_of_magnitude() {
    let mut rows = vec![
        ridge("map", bell(4000, 2009.0, 800.0)),
        ridge("mean", bell(4000, 88.0, 25.0)),
        ridge("C", bell(4000, 12.4, 2.0)),
        ridge("A", bell(4000, 0.8, 1.4)),
        ridge("no-op", bell(4000, -400.0, 300.0)),
    ];
    rows[0].bound = None;
    let svg = ridgeline(rows);
    assert!(svg.contains("logarithmic away from zero"));
    assert!(svg.contains("not converged"));
    check("magnitudes", &svg);
}

#[test]
fn gallery_of_degenerate_policies() {
    let svg = ridgeline(vec![
        ridge("all the same", vec![2.0; 300]),
        ridge("one draw", vec![1.0]),
        ridge("two draws", vec![0.5, 1.5]),
        ridge("spread", bell(400, 0.0, 0.5)),
    ]);
    check("degenerate", &svg);
    check("zero", &ridgeline(vec![ridge("nothing", vec![0.0; 10])]));
    check(
        "huge",
        &ridgeline(vec![ridge("huge", bell(100, 1e200, 1e199))]),
    );
    check("none", &ridgeline(vec![]));
}

#[test]
fn gallery_of_coverage() {
    let readings = |offset: f64| {
        [0.01_f64, 0.05, 0.1, 0.25].map(|x: f64| Reading {
            x,
            y: x + offset,
            low: (x + offset - 2.0 * (x * (1.0 - x) / 1000.0).sqrt()).max(0.0),
            high: x + offset + 2.0 * (x * (1.0 - x) / 1000.0).sqrt(),
        })
    };
    let chart = Chart {
        title: "How often the truth lies below the bound".to_owned(),
        x_name: "nominal rate (delta)".to_owned(),
        x_places: Vec::new(),
        y_name: "observed rate, with 95 % intervals".to_owned(),
        series: vec![
            Series {
                name: "sphere".to_owned(),
                readings: readings(0.002).to_vec(),
            },
            Series {
                name: "nonnegative".to_owned(),
                readings: readings(-0.008).to_vec(),
            },
        ],
        diagonal: Some("exactly nominal".to_owned()),
    };
    let svg = chart.draw();
    assert!(svg.contains("stroke-dasharray"));
    check("coverage", &svg);
    let empty = Chart {
        series: vec![],
        diagonal: None,
        ..chart
    };
    check("coverage-empty", &empty.draw());
}

#[test]
fn gallery_of_losses() {
    let series = |colour, name: &str, scale: f64| PanelSeries {
        name: name.to_owned(),
        colour,
        dashed: false,
        readings: [1.0, 2.0, 5.0, 10.0, 30.0]
            .map(|x: f64| {
                let y = if x > 20.0 { 0.0 } else { scale / x };
                let half = y * x / 8.0;
                let (low, high) = (y - half, y + half);
                Reading { x, y, low, high }
            })
            .to_vec(),
        printed: vec![(2.0, scale / 2.0), (5.0, scale / 9.0)],
    };
    let panel = |title: &str| Panel {
        title: title.to_owned(),
        x_name: "demonstrations".to_owned(),
        series: vec![
            series(0, "Bayesian IRL", 4.0),
            series(1, "Bayesian REX", 0.03),
        ],
    };
    let mut figure = Panels {
        title: "Loss of the learned policy, mean over 20 worlds".to_owned(),
        y_name: "loss (logarithmic)".to_owned(),
        readings_name: "bars: ± 1.96 standard errors".to_owned(),
        printed_name: "hollow: the paper's value".to_owned(),
        diagonal: None,
        panels: vec![panel("Table 7"), panel("Table 8"), panel("Table 10")],
    };
    let svg = figure.draw();
    assert!(svg.contains("exactly zero") && svg.contains("hollow"));
    check("losses", &svg);
    figure.panels.truncate(1);
    figure.panels[0].series.truncate(1);
    figure.panels[0].series[0].readings.truncate(1);
    figure.panels[0].series[0].printed.clear();
    let svg = figure.draw();
    assert!(!svg.contains("exactly zero") && !svg.contains("hollow"));
    check("losses-one", &svg);
    figure.panels.clear();
    check("losses-none", &figure.draw());
}

#[test]
fn gallery_of_reliability() {
    let series = |colour, dashed, factor: f64| PanelSeries {
        name: format!("method {colour}, factor {factor}"),
        colour,
        dashed,
        readings: [0.01, 0.05, 0.1, 0.25]
            .map(|x: f64| {
                let y = if x < 0.02 && factor < 1.0 {
                    0.0
                } else {
                    (x * factor).min(1.0)
                };
                let (low, high) = (y * 0.8 - 0.005, (y * 1.2 + 0.005).min(1.0));
                Reading { x, y, low, high }
            })
            .to_vec(),
        printed: Vec::new(),
    };
    let panel = |title: &str, factor| Panel {
        title: title.to_owned(),
        x_name: "delta".to_owned(),
        series: vec![
            series(0, false, factor),
            series(0, true, 1.3 * factor),
            series(1, false, 0.7 * factor),
        ],
    };
    let mut figure = Panels {
        title: "How often bounds fail, against what they promise".to_owned(),
        y_name: "share of worlds".to_owned(),
        readings_name: "bars: 95 %".to_owned(),
        printed_name: String::new(),
        diagonal: Some("as promised".to_owned()),
        panels: vec![panel("good", 1.0), panel("bad", 10.0), panel("odd", 0.1)],
    };
    let svg = figure.draw();
    assert!(svg.contains("stroke-dasharray") && svg.contains("as promised"));
    assert!(!svg.contains("hollow"));
    check("reliability", &svg);
    figure.panels.clear();
    check("reliability-none", &figure.draw());
}
