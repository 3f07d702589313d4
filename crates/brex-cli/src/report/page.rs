//! One HTML page with everything in it: nothing is loaded from elsewhere.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// A page in the making.
pub(crate) struct Page {
    body: String,
}

/// Text that is safe between tags and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The kinds of picture.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Gif,
    Png,
    Svg,
}

/// A picture as text that an `img` takes.
pub(crate) fn source(kind: Kind, bytes: &[u8]) -> String {
    let name = match kind {
        Kind::Gif => "gif",
        Kind::Png => "png",
        Kind::Svg => "svg+xml",
    };
    format!("data:image/{name};base64,{}", STANDARD.encode(bytes))
}

impl Page {
    /// With a heading and what it is about.
    pub(crate) fn new(title: &str, lead: &str) -> Self {
        let (title, lead) = (escape(title), escape(lead));
        let body =
            format!("<header><h1>{title}</h1><p class=\"lead\">{lead}</p></header>\n<main>\n");
        Self { body }
    }

    /// Begins a section; it ends where the next one begins.
    pub(crate) fn section(&mut self, title: &str) -> Section<'_> {
        let _ = writeln!(self.body, "<section><h2>{}</h2>", escape(title));
        Section { page: self }
    }

    /// The whole file.
    pub(crate) fn finish(self, title: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
             name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}</main>\n\
             <footer><p>Made by brex {}. Everything on this page is in this file.</p></footer>\n\
             </body>\n</html>\n",
            escape(title),
            self.body,
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// A section in the making.
pub(crate) struct Section<'p> {
    page: &'p mut Page,
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        self.page.body.push_str("</section>\n");
    }
}

impl Section<'_> {
    fn add(&mut self, html: &str) -> &mut Self {
        self.page.body.push_str(html);
        self.page.body.push('\n');
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.add(&format!("<p>{}</p>", escape(text)))
    }

    pub(crate) fn list(&mut self, class: &str, items: &[String]) -> &mut Self {
        if items.is_empty() {
            return self;
        }
        let items: String = items
            .iter()
            .map(|item| format!("<li>{}</li>\n", escape(item)))
            .collect();
        self.add(&format!("<ul class=\"{class}\">\n{items}</ul>"))
    }

    pub(crate) fn commands(&mut self, lines: &[String]) -> &mut Self {
        self.add(&format!(
            "<pre><code>{}</code></pre>",
            escape(&lines.join("\n"))
        ))
    }

    /// A table; the last column holds words.
    pub(crate) fn table(&mut self, heads: &[&str], rows: &[Vec<String>]) -> &mut Self {
        let class = if heads.len() > MANY {
            " class=\"many\""
        } else {
            ""
        };
        let heads: String = heads
            .iter()
            .map(|head| format!("<th>{}</th>", escape(head)))
            .collect();
        let mut body = String::new();
        for row in rows {
            body.push_str("<tr>");
            for cell in row {
                let _ = write!(body, "<td>{}</td>", escape(cell));
            }
            body.push_str("</tr>\n");
        }
        self.add(&format!(
            "<div class=\"scroll\"><table{class}><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
        ))
    }

    pub(crate) fn figure(&mut self, picture: &Picture<'_>) -> &mut Self {
        self.add(&figure(picture))
    }

    /// Pictures beside each other where there is room for them.
    pub(crate) fn side_by_side(&mut self, pictures: &[Picture<'_>]) -> &mut Self {
        let figures: String = pictures.iter().map(figure).collect();
        self.add(&format!("<div class=\"abreast\">{figures}</div>"))
    }

    /// Small moving pictures side by side.
    pub(crate) fn clips(&mut self, clips: &[Clip]) -> &mut Self {
        let mut items = String::new();
        for clip in clips {
            let lines: String = clip
                .lines
                .iter()
                .map(|line| format!("<br>{}", escape(line)))
                .collect();
            let (source, name) = (source(Kind::Gif, &clip.gif), escape(&clip.name));
            let _ = writeln!(
                items,
                "<li><img src=\"{source}\" alt=\"{name}, a recorded episode\"><div><strong>{name}</strong>{}</div></li>",
                lines.trim_start_matches("<br>")
            );
        }
        self.add(&format!("<ul class=\"clips\">\n{items}</ul>"))
    }
}

fn figure(picture: &Picture<'_>) -> String {
    let class = if matches!(picture.kind, Kind::Svg) {
        ""
    } else {
        " class=\"pixels\""
    };
    let words = match picture.caption {
        "" => String::new(),
        caption => format!("<figcaption>{}</figcaption>", escape(caption)),
    };
    format!(
        "<figure><img{class} src=\"{}\" alt=\"{}\">{words}</figure>",
        source(picture.kind, picture.bytes),
        escape(picture.name)
    )
}

/// A picture with its words.
pub(crate) struct Picture<'a> {
    pub(crate) kind: Kind,
    pub(crate) bytes: &'a [u8],
    /// What those get to know who cannot see it.
    pub(crate) name: &'a str,
    /// What stands below it; nothing if it is empty.
    pub(crate) caption: &'a str,
}

/// Columns of a table at most that is shown at the usual size.
const MANY: usize = 7;

/// A recorded episode as a moving picture.
pub(crate) struct Clip {
    pub(crate) name: String,
    pub(crate) gif: Vec<u8>,
    pub(crate) lines: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_text_becomes_a_tag() {
        let mut page = Page::new("a < b", "\"quoted\" & 'so'");
        page.section("<script>")
            .text("x\u{7}<y>")
            .table(&["h"], &[vec!["<td>".to_owned()]]);
        let html = page.finish("t");
        assert!(!html.contains("<script>") && !html.contains("<y>") && !html.contains("\u{7}"));
        assert!(
            html.contains("a &lt; b") && html.contains("&quot;quoted&quot; &amp; &#39;so&#39;")
        );
        assert_eq!(
            html.matches("<section>").count(),
            html.matches("</section>").count()
        );
    }
}
