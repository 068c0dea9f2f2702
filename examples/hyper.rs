//! Plain hyper with coded responses, from a tower service.
//!
//! ```text
//! cargo run --example hyper
//! curl --compressed -i http://127.0.0.1:3000/
//! ```

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use laneflate::encode::layer::CompressLayer;
use laneflate::encode::{Coding, Levels};
use tokio::net::TcpListener;
use tower::service_fn;
use tower_layer::Layer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let compress = CompressLayer::new()
        .codings([Coding::Zstd, Coding::Gzip])
        .levels(Levels { gzip: 1, ..Levels::default() })
        .min_length(100);
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        let service = TowerToHyperService::new(compress.layer(service_fn(hello)));
        tokio::spawn(async move {
            if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await {
                eprintln!("a connection failed: {error}");
            }
        });
    }
}

async fn hello(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let text = format!("You asked for {}.\n", request.uri()).repeat(100);
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
    Ok(response)
}
