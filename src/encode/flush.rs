//! What an encoder is asked to do with the input it holds back.

/// How far a push must carry its input into the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// As far as the encoder likes: it may hold input back for a better ratio.
    None,
    /// All of it: what has been written so far decodes to all input pushed so far.
    Sync,
    /// All of it, and the stream ends here.
    Finish,
}
