//! A static web server and compression middleware.
//!
//! The crate is read along the way of one request:
//!
//! ```text
//!  socket ─ server::connection ─ hyper ─ service ─┬─ source        the file and its sidecars, from cache or disk
//!                                                 ├─ conditional   304, 412
//!                                                 ├─ range         206, 416
//!                                                 ├─ negotiate     Accept-Encoding -> coding
//!                                                 ├─ policy        may this response be coded? if not, why
//!                                                 └─ encode        store, sidecar or encoder -> body
//! ```
//!
//! Another program puts [`encode::layer::CompressLayer`] around a tower service of its own, takes
//! [`service::StaticFiles`], a tower service that answers from a folder, or runs [`server::Server`], which is the whole.

#![forbid(unsafe_code)]

pub mod access_log;
pub mod body;
pub mod cli;
pub mod conditional;
pub mod config;
pub mod date;
pub mod encode;
pub mod error_page;
pub mod headers;
pub mod metrics;
pub mod mime;
pub mod negotiate;
pub mod policy;
pub mod range;
pub mod server;
pub mod service;
pub mod source;
