//! The header of a `.npy` file: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.

use crate::error::excerpt;

/// How one element is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    /// Text of so many bytes.
    Bytes(usize),
    /// Text of so many characters of four bytes each.
    Unicode(usize),
}

impl Element {
    /// Bytes in the file.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Bytes(length) => length,
            Self::Unicode(length) => 4 * length,
        }
    }

    /// Bytes in memory, at most.
    pub(crate) fn decoded_size(self) -> u128 {
        match self {
            Self::Bytes(length) | Self::Unicode(length) => {
                (size_of::<String>() + 4 * length) as u128
            }
            _ => 8,
        }
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Bytes(_) | Self::Unicode(_))
    }
}

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) element: Element,
    pub(crate) big_endian: bool,
    pub(crate) fortran_order: bool,
    pub(crate) shape: Vec<usize>,
}

impl Header {
    /// Parses the header's text; the error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = Cursor { rest: text };
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        rest.expect('{')?;
        while !rest.skip('}') {
            let key = rest.quoted()?;
            rest.expect(':')?;
            match key {
                "descr" if descr.is_none() => descr = Some(rest.dtype()?),
                "fortran_order" if fortran_order.is_none() => fortran_order = Some(rest.boolean()?),
                "shape" if shape.is_none() => shape = Some(rest.shape()?),
                other => return Err(format!("unexpected header key {:?}", excerpt(other))),
            }
            if !rest.skip(',') {
                rest.expect('}')?;
                break;
            }
        }
        if !rest.rest.trim().is_empty() {
            return Err("text after the end of the header".to_owned());
        }
        let missing = |key: &str| format!("the header lacks {key:?}");
        let (element, big_endian) = descr.ok_or_else(|| missing("descr"))?;
        Ok(Self {
            element,
            big_endian,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// The rest of the header that is still to be read.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn skip(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: char) -> Result<(), String> {
        if self.skip(token) {
            return Ok(());
        }
        Err(format!(
            "expected {token:?} in the header, found {:?}",
            excerpt(self.rest)
        ))
    }

    fn quoted(&mut self) -> Result<&'a str, String> {
        let quote = if self.skip('"') { '"' } else { '\'' };
        if quote == '\'' {
            self.expect('\'')?;
        }
        let (text, rest) = self
            .rest
            .split_once(quote)
            .ok_or_else(|| "a quote in the header is never closed".to_owned())?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(format!(
            "expected True or False in the header, found {:?}",
            excerpt(self.rest)
        ))
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.skip(')') {
            if shape.len() == 32 {
                return Err("more than 32 dimensions".to_owned());
            }
            self.rest = self.rest.trim_start();
            let end = self
                .rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            let dim = digits
                .parse()
                .map_err(|_| format!("{:?} is not a dimension", excerpt(self.rest)))?;
            shape.push(dim);
            // Python 2 wrote long integers with an L.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.skip(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn dtype(&mut self) -> Result<(Element, bool), String> {
        if self.rest.trim_start().starts_with(['[', '(']) {
            return Err("structured arrays are not supported; save a plain array".to_owned());
        }
        let text = self.quoted()?;
        let (order, kind) = match text.split_at_checked(1) {
            Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
            _ => ("|", text),
        };
        let unsupported = || {
            format!(
                "elements of type {:?} are not supported; save real numbers",
                excerpt(text)
            )
        };
        let element = match kind {
            "O" => {
                return Err(
                    "it holds Python objects, which are pickles and never loaded; \
                     save a plain array of numbers"
                        .to_owned(),
                );
            }
            "b1" | "?" => Element::Bool,
            "i1" => Element::I8,
            "i2" => Element::I16,
            "i4" => Element::I32,
            "i8" => Element::I64,
            "u1" => Element::U8,
            "u2" => Element::U16,
            "u4" => Element::U32,
            "u8" => Element::U64,
            "f2" => Element::F16,
            "f4" => Element::F32,
            "f8" => Element::F64,
            _ => {
                let (letter, length) = kind.split_at_checked(1).ok_or_else(unsupported)?;
                let length: usize = length.parse().map_err(|_| unsupported())?;
                match letter {
                    _ if length > 1 << 20 => return Err(unsupported()),
                    "S" => Element::Bytes(length),
                    "U" => Element::Unicode(length),
                    _ => return Err(unsupported()),
                }
            }
        };
        Ok((element, order == ">"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_numpy_are_understood() {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (4750, 65), }     \n";
        let header = Header::parse(text).unwrap();
        assert_eq!(header.shape, [4750, 65]);
        assert_eq!(header.element, Element::F64);
        assert!(!header.fortran_order && !header.big_endian);
        let text = "{\"shape\": (3L,), 'fortran_order': True, 'descr': '>u2'}";
        let header = Header::parse(text).unwrap();
        assert_eq!(header.shape, [3]);
        assert!(header.fortran_order && header.big_endian);
    }

    #[test]
    fn everything_else_is_refused_with_a_reason() {
        let with = |descr: &str| {
            Header::parse(&format!(
                "{{'descr': {descr}, 'fortran_order': False, 'shape': ()}}"
            ))
            .unwrap_err()
        };
        assert!(with("'|O'").contains("pickles"));
        assert!(with("[('x', '<f4')]").contains("structured"));
        assert!(with("'<c16'").contains("not supported"));
        assert!(with("'<U99999999999'").contains("not supported"));
        for text in [
            "",
            "{}",
            "{'descr': '<f8'",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}",
            "{'descr': '<f8', 'fortran_order': True, 'shape': (-1,)}",
            "{'descr': '<f8', 'fortran_order': True, 'shape': (1,)} x",
            "{'descr': '<f8', 'fortran_order': True, 'shape': (99999999999999999999,)}",
            "{'evil': 1}",
        ] {
            assert!(Header::parse(text).is_err(), "{text}");
        }
        assert!(Header::parse(&"(".repeat(60_000)).is_err());
    }
}
