//! Coding as a tower middleware, for any service with any [`http_body::Body`].
//!
//! ```
//! use laneflate::encode::layer::CompressLayer;
//! use laneflate::encode::{Coding, Levels};
//!
//! let layer = CompressLayer::new()
//!     .codings([Coding::Brotli, Coding::Gzip])
//!     .levels(Levels { brotli: 4, ..Levels::default() })
//!     .min_length(512);
//! # let _ = layer;
//! ```
//!
//! With axum it is `router.layer(CompressLayer::new())`; for plain hyper see `examples/hyper.rs`.

mod body;
mod future;
mod plan;

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response, response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::body::BoxError;
use super::{Coding, Engine, Levels};
use crate::config::CodingSettings;
pub use body::CompressBody;
pub use future::ResponseFuture;
use plan::Asked;

/// Codes the responses of the services that it wraps.
///
/// A response is coded as the request accepts, unless it has no content or a part of it only (204, 206, 304), is coded
/// already, forbids it (`no-transform`), is of a type that does not get shorter, or is too short. The reason is an
/// extension of the response then, a [`Refusal`](crate::policy::Refusal). A small body is coded whole before the head goes
/// out, and sent plain if it gets no shorter; all others are coded as they come.
#[derive(Clone, Debug, Default)]
pub struct CompressLayer {
    options: Arc<Options>,
}

/// A service whose responses are coded; made by [`CompressLayer`].
#[derive(Clone, Debug)]
pub struct Compress<S> {
    inner: S,
    options: Arc<Options>,
}

#[derive(Clone, Default)]
struct Options {
    settings: CodingSettings,
    filter: Option<Arc<Filter>>,
}

type Filter = dyn Fn(&response::Parts) -> bool + Send + Sync;

impl CompressLayer {
    /// A layer with the defaults of [`CodingSettings`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers these codings, in this order of preference.
    pub fn codings(self, codings: impl IntoIterator<Item = Coding>) -> Self {
        self.with(|options| options.settings.offered = codings.into_iter().collect())
    }

    /// Codes at these levels.
    pub fn levels(self, levels: Levels) -> Self {
        self.with(|options| {
            options.settings.gzip_level = levels.gzip;
            options.settings.brotli_quality = levels.brotli;
            options.settings.zstd_level = levels.zstd;
        })
    }

    /// Codes gzip and deflate with this codec.
    pub fn gzip_engine(self, engine: Engine) -> Self {
        self.with(|options| options.settings.gzip_engine = engine)
    }

    /// Leaves bodies of fewer than `bytes` bytes plain.
    pub fn min_length(self, bytes: u64) -> Self {
        self.with(|options| options.settings.min_length = bytes)
    }

    /// Whether `Cache-Control: no-transform` of a response is honoured; it must be where responses are not one's own.
    pub fn honour_no_transform(self, honour: bool) -> Self {
        self.with(|options| options.settings.honour_no_transform = honour)
    }

    /// Codes only responses for which `filter` is true, of those that would be coded without it.
    pub fn filter(self, filter: impl Fn(&response::Parts) -> bool + Send + Sync + 'static) -> Self {
        self.with(|options| options.filter = Some(Arc::new(filter)))
    }

    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(Arc::make_mut(&mut self.options));
        self
    }
}

impl From<CodingSettings> for CompressLayer {
    fn from(settings: CodingSettings) -> Self {
        Self { options: Arc::new(Options { settings, filter: None }) }
    }
}

impl<S> Layer<S> for CompressLayer {
    type Service = Compress<S>;

    fn layer(&self, inner: S) -> Compress<S> {
        Compress { inner, options: Arc::clone(&self.options) }
    }
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for Compress<S>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>>,
    ResBody: Body,
    ResBody::Error: Into<BoxError>,
{
    type Response = Response<CompressBody<ResBody>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, ResBody>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<ReqBody>) -> Self::Future {
        let asked = Asked::of(&request);
        ResponseFuture::new(self.inner.call(request), asked, Arc::clone(&self.options))
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
