//! The counters for Prometheus, served beside the workers.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::access_log;
use crate::metrics::{self, Registry, Snapshot};
use crate::service::StaticFiles;

/// Scrapes at the same time.
const MOST: usize = 16;

/// Time for a request and its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the counters are taken from.
pub(super) struct Sources {
    pub(super) registry: Registry,
    pub(super) files: StaticFiles,
    pub(super) log: Option<access_log::Writer>,
}

/// Serves `/metrics` to whoever asks, until the runtime ends.
pub(super) async fn serve(listener: TcpListener, sources: Sources) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the counters cannot be served"),
    };
    let sources = Arc::new(sources);
    let places = Arc::new(Semaphore::new(MOST));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let sources = Arc::clone(&sources);
        tokio::spawn(async move {
            let service =
                service_fn(|request| std::future::ready(Ok::<_, Infallible>(sources.answer(&request))));
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).keep_alive(false);
            let _ = timeout(PATIENCE, http.serve_connection(TokioIo::new(stream), service)).await;
            drop(place);
        });
    }
}

impl Sources {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if request.uri().path() != "/metrics" {
            let mut response = Response::new(Full::from("The counters are at /metrics.\n"));
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        }
        let store = self.files.store_stats();
        let now = Snapshot {
            kernels: laneflate_simd::Kernels::detect().name(),
            store_hits: store.hits,
            store_misses: store.misses,
            store_bytes: store.bytes,
            log_lines_lost: self.log.as_ref().map_or(0, access_log::Writer::lost),
        };
        let mut text = String::with_capacity(8 << 10);
        self.registry.render(now, &mut text);
        let mut response = Response::new(Full::from(text));
        let content_type = HeaderValue::from_static(metrics::CONTENT_TYPE);
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        response
    }
}
