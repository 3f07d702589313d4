//! From SVG to PNG inside the program, with the embedded font only.

use super::font::Weight;
use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels of the picture per pixel of the figure: sharp on dense displays and on paper.
const DENSITY: f32 = 2.0;

/// Renders an SVG document.
pub(crate) fn render(svg: &str) -> Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    for weight in [Weight::Regular, Weight::Bold] {
        fonts.load_font_data(weight.data().to_vec());
    }
    fonts.set_sans_serif_family("Noto Sans");
    let tree = Tree::from_str(svg, &options).context("cannot lay out the figure")?;
    let size = tree.size();
    let pixels = |length: f32| (length * DENSITY).ceil() as u32;
    let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .context("the figure is too large for a picture")?;
    let transform = Transform::from_scale(DENSITY, DENSITY);
    resvg::render(&tree, transform, &mut picture.as_mut());
    picture.encode_png().context("cannot encode the picture")
}
