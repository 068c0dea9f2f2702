//! An axum application with coded responses.
//!
//! ```text
//! cargo run --example axum
//! curl --compressed -i http://127.0.0.1:3000/planets
//! curl --compressed -iN http://127.0.0.1:3000/clock
//! ```

use std::convert::Infallible;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use axum::routing::get;
use futures_util::Stream;
use futures_util::stream::unfold;
use laneflate::encode::layer::CompressLayer;
use tokio::net::TcpListener;
use tokio::time::sleep;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let app =
        Router::new().route("/planets", get(planets)).route("/clock", get(clock)).layer(CompressLayer::new());
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app).await
}

/// JSON: its length is known, so it is coded in one call and has a length again.
async fn planets() -> impl IntoResponse {
    let names = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"];
    let planets: Vec<_> =
        names.iter().map(|name| format!(r#"{{"kind":"planet","name":"{name}"}}"#)).collect();
    ([(CONTENT_TYPE, "application/json")], format!("[{}]\n", planets.join(",\n ")))
}

/// Server-sent events: each one is flushed to the client as soon as it is there.
async fn clock() -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let start = Instant::now();
    Sse::new(unfold(1_u32, move |tick| async move {
        sleep(Duration::from_secs(1)).await;
        Some((Ok(Event::default().data(format!("tick {tick} after {:?}", start.elapsed()))), tick + 1))
    }))
}
