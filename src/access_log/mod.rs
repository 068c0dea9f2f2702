//! The access log: one line for each request, written by one thread for all workers.

mod format;
mod writer;

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use http::{Method, StatusCode, Version};

use crate::encode::Coding;
use crate::policy::Refusal;

pub use format::format;
pub use writer::{OpenError, Writer};

/// What is logged of a request and its response.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Address of the client.
    pub remote: IpAddr,
    /// When the response ended.
    pub time: SystemTime,
    /// Method of the request.
    pub method: &'a Method,
    /// Target of the request as received, not decoded.
    pub target: &'a [u8],
    /// Version of the request.
    pub version: Version,
    /// Status of the response.
    pub status: StatusCode,
    /// Bytes of the body sent, after coding.
    pub body_bytes: u64,
    /// `Referer` of the request.
    pub referer: Option<&'a [u8]>,
    /// `User-Agent` of the request.
    pub user_agent: Option<&'a [u8]>,
    /// The coding of the body; `None` for identity.
    pub coding: Option<Coding>,
    /// Bytes of the body before coding, where it was coded and they are known.
    pub length_before: Option<u64>,
    /// Why the body was not coded.
    pub refusal: Option<Refusal>,
    /// Time from the first byte of the request to the last of the response.
    pub duration: Duration,
}
