//! DEFLATE, from a body to bits.

pub(crate) mod bits;
pub(crate) mod block;
pub(crate) mod body;
pub(crate) mod chain;
pub(crate) mod cost;
pub(crate) mod emit;
pub(crate) mod header;
pub(crate) mod histogram;
pub(crate) mod huffman;
pub(crate) mod search;
pub(crate) mod shannon;
pub(crate) mod split;
pub(crate) mod token;
pub(crate) mod typical;
pub(crate) mod walk;
