//! The words that encoder and decoder share.

/// The container around the DEFLATE stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// DEFLATE alone (RFC 1951).
    Raw,
    /// zlib (RFC 1950), which HTTP calls `deflate`.
    Zlib,
    /// gzip (RFC 1952).
    Gzip,
}

/// What [`Encoder::compress`](crate::Encoder::compress) does once it has taken all input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// Keep what does not fill a block yet: the smallest result.
    None,
    /// End the block on a byte boundary, so that a decoder can produce all that was put in so far.
    Sync,
    /// As [`Flush::Sync`], and forget the history: a decoder may start here.
    Full,
    /// End the stream and write the trailer.
    Finish,
}

/// What a streaming call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// All input was taken and everything due was written; give more input, or another flush.
    NeedsInput,
    /// The output is full; call again with room, the rest of the input, and the same flush.
    NeedsOutput,
    /// The stream (of gzip: the member) has ended. Input after it is not consumed.
    Done,
}

/// How far a streaming call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Bytes taken from the input.
    pub consumed: usize,
    /// Bytes written to the output.
    pub produced: usize,
    /// What the stream waits for.
    pub status: Status,
}
