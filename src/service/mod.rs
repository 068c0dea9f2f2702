//! One request, from top to bottom.
//!
//! 1. The request itself: method, target, `Host`, length of its body.
//! 2. The path is looked up: a file, a redirect to a directory, a listing, or an error.
//! 3. A representation of the file is selected: the original, a sidecar, or the original coded here (`select`).
//! 4. Preconditions are held against it: 304, 412.
//! 5. A range of it is cut: 206, 416.
//! 6. Its bytes become the body: from memory, from the file, from the store, or from an encoder.
//!
//! Up to here nothing waits, except for the store to code a file for the first time.

mod check;
mod prepared;
mod reply;
mod represent;
mod select;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use http::header::{ALLOW, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};

use self::check::Check;
use self::prepared::{File, Prepared};
pub(crate) use self::reply::Answer;
use self::reply::Wait;
pub use self::reply::{Notes, Reply};
use self::select::select;
use crate::body::Body;
use crate::conditional::{self, Outcome, Validators};
use crate::config::{CodingSettings, Settings, Site};
use crate::encode::variants::{self, Store};
use crate::error_page;
use crate::headers::vary_by_accept_encoding;
use crate::source::{Files, Found, RootError, uri_path};

/// Methods that files can be asked with.
const ALLOWED: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// Type of a directory listing.
const LISTING_TYPE: &str = "text/html; charset=utf-8";

/// A tower service that answers from a folder. A clone shares everything.
#[derive(Clone)]
pub struct StaticFiles {
    inner: Arc<Inner>,
}

struct Inner {
    files: Files<Prepared>,
    site: Site,
    coding: CodingSettings,
    store: Option<Store>,
    /// Longest request body.
    body_bytes: u64,
    /// Paths of the files that answer with an error status.
    error_pages: Vec<(StatusCode, String)>,
}

impl StaticFiles {
    /// Opens the folder of `settings.site`.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be opened.
    pub fn new(settings: &Settings) -> Result<Self, RootError> {
        let Settings { site, coding, file_cache, .. } = settings;
        let inner = Inner {
            files: Files::new(site, file_cache, coding, settings.workers.count)?,
            store: coding.store.filter(|_| !coding.offered.is_empty()).map(Store::new),
            body_bytes: settings.limits.body_bytes,
            error_pages: site.error_pages.iter().map(|(status, file)| (*status, uri_path(file))).collect(),
            site: site.clone(),
            coding: coding.clone(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What the compress-once store holds and has done; nothing where there is none.
    pub fn store_stats(&self) -> variants::Stats {
        self.inner.store.as_ref().map(Store::stats).unwrap_or_default()
    }

    /// Answers a request, at once if nothing has to be waited for; `now` may be some milliseconds old.
    pub(crate) fn answer<B>(&self, request: &Request<B>, now: Instant) -> Answer {
        let ask = Ask { method: request.method(), uri: request.uri(), headers: request.headers(), now };
        match check::check(request, self.inner.body_bytes) {
            Check::Serve => self.inner.answer(&ask),
            Check::Options => Answer::Done(options()),
            Check::Fail(status) => Answer::Done(self.inner.fail(&ask, status)),
        }
    }

    /// The answer to a request that [`Self::answer`] could not give at once.
    pub(crate) async fn wait<B>(&self, request: &Request<B>, now: Instant, wait: Wait) -> Reply {
        let ask = Ask { method: request.method(), uri: request.uri(), headers: request.headers(), now };
        self.inner.coded_by_store(&ask, wait).await
    }
}

/// What of a request bears on its response.
#[derive(Clone, Copy)]
struct Ask<'r> {
    method: &'r Method,
    uri: &'r Uri,
    headers: &'r HeaderMap,
    now: Instant,
}

impl Inner {
    fn answer(&self, ask: &Ask<'_>) -> Answer {
        Answer::Done(match self.files.lookup(ask.uri.path(), ask.now) {
            Ok(Found::File(file)) => return self.file(ask, &file),
            Ok(Found::Redirect(path)) => self.redirect(ask, &path),
            Ok(Found::Listing(html)) => self.text(ask, StatusCode::OK, LISTING_TYPE, html),
            Err(error) => {
                if error.status().is_server_error() {
                    tracing::warn!(%error, path = ask.uri.path(), "a file could not be served");
                }
                self.fail(ask, error.status())
            }
        })
    }

    fn file(&self, ask: &Ask<'_>, file: &Arc<File>) -> Answer {
        let prepared = self.prepared(file);
        let Ok(selected) = select(file, prepared, &self.coding.offered, ask.headers) else {
            return Answer::Done(self.not_acceptable(ask, prepared));
        };
        if conditional::is_conditional(ask.headers) {
            let face = prepared.face(selected);
            let validators = Validators { tag: Some(&face.tag), modified: prepared.modified };
            match conditional::evaluate(ask.method, ask.headers, validators) {
                Outcome::Proceed => {}
                Outcome::NotModified => return Answer::Done(reply::not_modified(face)),
                Outcome::PreconditionFailed => {
                    return Answer::Done(self.fail(ask, StatusCode::PRECONDITION_FAILED));
                }
            }
        }
        self.represent(ask, file, prepared, selected)
    }

    fn prepared<'f>(&self, file: &'f File) -> &'f Prepared {
        file.prepared.get_or_init(|| Prepared::new(file, &self.site, &self.coding, self.store.as_ref()))
    }

    /// To the directory with its slash, the query kept.
    fn redirect(&self, ask: &Ask<'_>, path: &HeaderValue) -> Reply {
        let mut reply = self.fail(ask, StatusCode::MOVED_PERMANENTLY);
        let query = ask.uri.query().map(|query| [b"?", query.as_bytes()].concat()).unwrap_or_default();
        let location = HeaderValue::from_bytes(&[path.as_bytes(), &query].concat());
        reply.response.headers_mut().insert(LOCATION, location.unwrap_or_else(|_| path.clone()));
        reply
    }

    fn not_acceptable(&self, ask: &Ask<'_>, prepared: &Prepared) -> Reply {
        let mut reply = self.fail(ask, StatusCode::NOT_ACCEPTABLE);
        if prepared.varies {
            vary_by_accept_encoding(reply.response.headers_mut());
        }
        reply
    }

    /// The response with a status that is no success: the site's page for it, or the built-in one.
    fn fail(&self, ask: &Ask<'_>, status: StatusCode) -> Reply {
        let mut reply = self
            .error_file(ask, status)
            .unwrap_or_else(|| self.text(ask, status, error_page::CONTENT_TYPE, error_page::page(status)));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            reply.response.headers_mut().insert(ALLOW, ALLOWED);
        }
        reply
    }

    /// The site's page for an error, small enough to be in memory.
    fn error_file(&self, ask: &Ask<'_>, status: StatusCode) -> Option<Reply> {
        let (_, path) = self.error_pages.iter().find(|(of, _)| *of == status)?;
        let Ok(Found::File(file)) = self.files.lookup_exact(path, ask.now) else {
            tracing::warn!(%status, file = path, "the page for an error is missing");
            return None;
        };
        let identity = file.identity.as_ref()?;
        let body = reply::cut(&identity.data, 0, identity.len());
        Some(self.content(ask, status, self.prepared(&file).content_type.clone(), body))
    }
}

fn options() -> Reply {
    let mut reply = Reply::empty(StatusCode::NO_CONTENT);
    reply.response.headers_mut().insert(ALLOW, ALLOWED);
    reply
}

impl<B: Send + Sync + 'static> tower_service::Service<Request<B>> for StaticFiles {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let files = self.clone();
        Box::pin(async move {
            let now = Instant::now();
            let reply = match files.answer(&request, now) {
                Answer::Done(reply) => reply,
                Answer::Store(wait) => files.wait(&request, now, wait).await,
            };
            Ok(reply.response)
        })
    }
}
