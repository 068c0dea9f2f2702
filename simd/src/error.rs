//! What can be wrong with a stream, and where.

use std::fmt;

/// A stream that cannot be decoded, or a call that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    position: u64,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, position: u64) -> Self {
        Self { kind, position }
    }

    /// The same, in input that began `count` bytes earlier.
    pub(crate) const fn after(self, count: usize) -> Self {
        Self::new(self.kind, self.position + count as u64)
    }

    /// What is wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where: bytes of input that had been taken when it was found, from the start of the stream.
    pub const fn position(&self) -> u64 {
        self.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.message())?;
        if let ErrorKind::NeedsDictionary(id) | ErrorKind::WrongDictionary(id) = self.kind {
            write!(f, ", with Adler-32 {id:08x}")?;
        }
        write!(f, " (at byte {})", self.position)
    }
}

impl std::error::Error for Error {}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends inside the stream.
    UnexpectedEnd,
    /// The output would be longer than the caller allows.
    LimitExceeded,
    /// The stream has ended already, and more was asked of it.
    Finished,
    /// A gzip header that does not begin with 1f 8b, or a zlib header whose check fails.
    BadHeader,
    /// A compression method other than DEFLATE.
    UnknownMethod,
    /// A zlib window of more than 32 KiB.
    WindowTooLarge,
    /// The zlib stream wants the preset dictionary that has this Adler-32, and none is set.
    NeedsDictionary(u32),
    /// The zlib stream wants the preset dictionary that has this Adler-32, and another is set.
    WrongDictionary(u32),
    /// A preset dictionary for gzip, which has none.
    NoDictionary,
    /// A gzip header with reserved flags set.
    ReservedFlags,
    /// The gzip header does not match its own checksum.
    HeaderChecksum,
    /// Block type 3.
    BadBlockType,
    /// The length of a stored block does not match its complement.
    StoredLength,
    /// A dynamic block with more than 286 literal/length or 30 distance codes.
    TooManyCodes,
    /// The code that codes the code lengths is over-subscribed or incomplete.
    BadPrecode,
    /// Code lengths that repeat a length before the first, or run past the last.
    BadLengthRepeat,
    /// A literal/length code without an end-of-block symbol.
    NoEndOfBlock,
    /// The literal/length code is over-subscribed or incomplete.
    BadLiteralCode,
    /// The distance code is over-subscribed or incomplete.
    BadDistanceCode,
    /// A literal/length symbol that no stream may use (286, 287, or a code that is not assigned).
    BadLiteralSymbol,
    /// A distance symbol that no stream may use (30, 31, or a code that is not assigned).
    BadDistanceSymbol,
    /// A match that reaches back before the start of the output.
    DistanceTooFar,
    /// The body does not match its CRC-32 or Adler-32.
    Checksum,
    /// The body does not have the length that the gzip trailer states.
    Length,
}

impl ErrorKind {
    const fn message(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "the input ends inside the stream",
            Self::LimitExceeded => "the output is longer than allowed",
            Self::Finished => "the stream has ended already",
            Self::BadHeader => "not the header of this format",
            Self::UnknownMethod => "a compression method other than deflate",
            Self::WindowTooLarge => "a window larger than 32 KiB",
            Self::NeedsDictionary(_) => "the stream needs a preset dictionary",
            Self::WrongDictionary(_) => "the stream needs another preset dictionary",
            Self::NoDictionary => "gzip has no preset dictionaries",
            Self::ReservedFlags => "reserved flags are set in the gzip header",
            Self::HeaderChecksum => "the gzip header does not match its checksum",
            Self::BadBlockType => "invalid block type",
            Self::StoredLength => "the length of a stored block does not match its complement",
            Self::TooManyCodes => "too many literal/length or distance codes",
            Self::BadPrecode => "invalid code for the code lengths",
            Self::BadLengthRepeat => "invalid repetition of code lengths",
            Self::NoEndOfBlock => "the literal/length code has no end-of-block symbol",
            Self::BadLiteralCode => "invalid literal/length code",
            Self::BadDistanceCode => "invalid distance code",
            Self::BadLiteralSymbol => "invalid literal/length symbol",
            Self::BadDistanceSymbol => "invalid distance symbol",
            Self::DistanceTooFar => "a match reaches back before the start of the output",
            Self::Checksum => "the body does not match its checksum",
            Self::Length => "the body does not have the stated length",
        }
    }
}
