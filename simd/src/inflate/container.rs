//! What stands around the DEFLATE stream, read byte by byte.

use super::bits::Input;
use crate::gzip::{HAS_COMMENT, HAS_CRC, HAS_EXTRA, HAS_NAME, RESERVED};
use crate::{ErrorKind, Format, GzHeader, Kernels};

/// Reads the header of a zlib stream or a gzip member.
pub(crate) struct Header {
    field: Field,
    flags: u8,
    /// Of gzip: the CRC-32 of the header so far, and its fields.
    crc: u32,
    gzip: GzHeader,
    /// Of zlib: what names the dictionary.
    dictionary: Option<u32>,
}

/// The part of the header that the next byte belongs to.
#[derive(Clone, Copy)]
enum Field {
    Method,
    Check {
        method: u8,
    },
    /// Of zlib: the bytes of the dictionary's identifier before this one.
    Dictionary {
        at: usize,
        id: u32,
    },
    /// Of gzip: the fields that are always there, and the byte before.
    Fixed {
        at: usize,
        last: u8,
    },
    ExtraLow,
    ExtraHigh {
        low: u8,
    },
    Extra {
        left: u16,
    },
    Name,
    Comment,
    CrcLow,
    CrcHigh {
        low: u8,
    },
    Done,
}

/// A flag of zlib.
const HAS_DICTIONARY: u8 = 1 << 5;

impl Header {
    pub(crate) fn new(format: Format) -> Self {
        let field = match format {
            Format::Raw => Field::Done,
            Format::Zlib => Field::Method,
            Format::Gzip => Field::Fixed { at: 0, last: 0 },
        };
        Self { field, flags: 0, crc: 0, gzip: GzHeader::new(), dictionary: None }
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.field, Field::Done)
    }

    pub(crate) fn gzip(&self) -> &GzHeader {
        &self.gzip
    }

    pub(crate) fn dictionary(&self) -> Option<u32> {
        self.dictionary
    }

    /// Reads on; returns whether the header is complete.
    pub(crate) fn read(&mut self, kernels: &Kernels, input: &mut Input) -> Result<bool, ErrorKind> {
        loop {
            if let Field::Done = self.field {
                return Ok(true);
            }
            let Some(&byte) = input.bytes.get(input.taken) else {
                return Ok(false);
            };
            input.taken += 1;
            if !matches!(self.field, Field::CrcLow | Field::CrcHigh { .. }) {
                self.crc = kernels.crc32(self.crc, &[byte]);
            }
            self.keep(byte);
            self.field = self.next(byte)?;
        }
    }

    /// Keeps what the caller may want to know.
    fn keep(&mut self, byte: u8) {
        let gzip = &mut self.gzip;
        match self.field {
            Field::Fixed { at: at @ 4..=7, .. } => gzip.mtime |= u32::from(byte) << (8 * (at - 4)),
            Field::Fixed { at: 9, .. } => gzip.operating_system = byte,
            Field::ExtraLow => gzip.extra = Some(Vec::new()),
            Field::Extra { .. } => gzip.extra.get_or_insert_default().push(byte),
            Field::Name => keep_text(&mut gzip.filename, byte),
            Field::Comment => keep_text(&mut gzip.comment, byte),
            _ => {}
        }
    }

    /// The field after `byte` of this one.
    fn next(&mut self, byte: u8) -> Result<Field, ErrorKind> {
        Ok(match self.field {
            Field::Method => Field::Check { method: byte },
            Field::Check { method } => {
                check_zlib(method, byte)?;
                if byte & HAS_DICTIONARY != 0 { Field::Dictionary { at: 0, id: 0 } } else { Field::Done }
            }
            Field::Dictionary { at, id } => {
                let id = id << 8 | u32::from(byte);
                if at < 3 {
                    return Ok(Field::Dictionary { at: at + 1, id });
                }
                self.dictionary = Some(id);
                Field::Done
            }
            Field::Fixed { at, last } => {
                // As zlib does, two bytes at a time.
                match at {
                    1 if [last, byte] != [0x1f, 0x8b] => return Err(ErrorKind::BadHeader),
                    3 if last != 8 => return Err(ErrorKind::UnknownMethod),
                    3 if byte & RESERVED != 0 => return Err(ErrorKind::ReservedFlags),
                    3 => self.flags = byte,
                    _ => {}
                }
                if at == 9 { self.optional(HAS_EXTRA) } else { Field::Fixed { at: at + 1, last: byte } }
            }
            Field::ExtraLow => Field::ExtraHigh { low: byte },
            Field::ExtraHigh { low } => self.extra(u16::from_le_bytes([low, byte])),
            Field::Extra { left } => self.extra(left - 1),
            Field::Name if byte == 0 => self.optional(HAS_COMMENT),
            Field::Comment if byte == 0 => self.optional(HAS_CRC),
            Field::CrcLow => Field::CrcHigh { low: byte },
            Field::CrcHigh { low } if u16::from_le_bytes([low, byte]) == self.crc as u16 => Field::Done,
            Field::CrcHigh { .. } => return Err(ErrorKind::HeaderChecksum),
            Field::Name | Field::Comment | Field::Done => self.field,
        })
    }

    /// The first optional field that is there, from that of `flag` on.
    fn optional(&self, flag: u8) -> Field {
        let has = |field: u8| self.flags & field != 0;
        if flag == HAS_EXTRA && has(HAS_EXTRA) {
            Field::ExtraLow
        } else if (flag == HAS_EXTRA || flag == HAS_NAME) && has(HAS_NAME) {
            Field::Name
        } else if flag != HAS_CRC && has(HAS_COMMENT) {
            Field::Comment
        } else if has(HAS_CRC) {
            Field::CrcLow
        } else {
            Field::Done
        }
    }

    fn extra(&self, left: u16) -> Field {
        if left > 0 { Field::Extra { left } } else { self.optional(HAS_NAME) }
    }
}

/// Adds a byte to a text that NUL ends, up to what is kept.
fn keep_text(text: &mut Option<Vec<u8>>, byte: u8) {
    let text = text.get_or_insert_default();
    if byte != 0 && text.len() < GzHeader::KEPT {
        text.push(byte);
    }
}

/// The two bytes of a zlib header, checked in zlib's order.
fn check_zlib(method: u8, flags: u8) -> Result<(), ErrorKind> {
    if !u16::from_be_bytes([method, flags]).is_multiple_of(31) {
        return Err(ErrorKind::BadHeader);
    }
    if method & 15 != 8 {
        return Err(ErrorKind::UnknownMethod);
    }
    if method >> 4 > 7 {
        return Err(ErrorKind::WindowTooLarge);
    }
    Ok(())
}

/// Reads the trailer.
#[derive(Default)]
pub(crate) struct Trailer {
    bytes: [u8; 8],
    have: usize,
}

impl Trailer {
    /// Reads on; returns whether the trailer is complete, and says what is right: a checksum and a length.
    pub(crate) fn read(
        &mut self,
        format: Format,
        checksum: u32,
        length: u64,
        input: &mut Input,
    ) -> Result<bool, ErrorKind> {
        let (checksum, fields) = match format {
            Format::Raw => return Ok(true),
            Format::Zlib => (checksum.to_be_bytes(), 1),
            Format::Gzip => (checksum.to_le_bytes(), 2),
        };
        while self.have < 4 * fields {
            let Some(&byte) = input.bytes.get(input.taken) else {
                return Ok(false);
            };
            input.taken += 1;
            self.bytes[self.have] = byte;
            self.have += 1;
            if self.have == 4 && self.bytes[..4] != checksum {
                return Err(ErrorKind::Checksum);
            }
        }
        if fields == 2 && self.bytes[4..] != (length as u32).to_le_bytes() {
            return Err(ErrorKind::Length);
        }
        Ok(true)
    }
}
