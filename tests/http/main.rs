//! The server through real sockets: raw bytes in, assertions on the bytes that come out.
//!
//! One program, so that it is linked once; each module holds the rules of one topic.

#[path = "../common/mod.rs"]
mod common;

mod bad_requests;
mod cli;
mod coding_policy;
mod engine;
mod files_under_load;
mod folding;
mod http2;
mod limits;
mod logs;
mod methods;
mod negotiation;
mod outside;
mod paths;
mod pipelining;
mod ranges;
mod shutdown;
mod sidecars;
mod validators;
mod vary;
