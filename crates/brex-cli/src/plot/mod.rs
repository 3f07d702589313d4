//! Figures: return distributions of policies, and lines with error bars. Drawn as SVG; PNG is made
//! from that with an embedded font.
//!
//! The parts, from the bottom up: `canvas` (shapes), `font` (text widths), `scale` (values to
//! pixels, round ticks), `frame` (axes, titles, legends), `density` (outlines), and the figures
//! themselves, `ridgeline`, `chart`, `panels` and `curves`.

mod canvas;
mod chart;
mod curves;
mod density;
mod font;
mod frame;
#[cfg(test)]
mod gallery;
mod panels;
mod png;
mod ridgeline;
mod scale;

pub(crate) use chart::{Chart, Reading, Series};
pub(crate) use curves::{CurvePanel, Curves};
pub(crate) use panels::{Panel, PanelSeries, Panels};
pub(crate) use ridgeline::{DrawnBound, DrawnFrom, Ridge, Ridgeline};

use crate::exit::BadInput;
use std::path::Path;

/// The kinds of file that a figure can be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlotFormat {
    Svg,
    Png,
}

impl PlotFormat {
    /// Reads the kind off a file's name.
    pub(crate) fn of(path: &Path) -> Result<Self, BadInput> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(BadInput::new(format!(
                "{}: a plot is written as .svg or .png; end the name with one of these",
                path.display()
            ))),
        }
    }

    /// The bytes of the file for a figure in SVG.
    pub(crate) fn encode(self, svg: String) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(svg.into_bytes()),
            Self::Png => png::render(&svg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        assert_eq!(PlotFormat::of(Path::new("a.SVG")).unwrap(), PlotFormat::Svg);
        assert_eq!(
            PlotFormat::of(Path::new("b/a.png")).unwrap(),
            PlotFormat::Png
        );
        let message = PlotFormat::of(Path::new("a.pdf")).unwrap_err().to_string();
        assert!(message.contains("a.pdf") && message.contains(".svg or .png"));
        assert!(PlotFormat::of(Path::new("svg")).is_err());
    }
}
