//! Counters, and their text for Prometheus (exposition format 0.0.4).
//!
//! Each worker counts for itself, on cache lines of its own; only a scrape looks at all of them.

use std::fmt::{Display, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;

use crate::encode::Coding;
use crate::policy::Refusal;

/// `Content-Type` of [`Registry::render`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Identity and every coding.
const REPRESENTATIONS: usize = Coding::ALL.len() + 1;

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// What one worker has counted.
#[derive(Debug, Default)]
#[repr(align(128))] // Two cache lines, since CPUs fetch them in pairs.
pub struct Counters {
    /// Connections accepted.
    pub accepted: Counter,
    /// Connections ended, in whatever way.
    pub closed: Counter,
    by_class: [Counter; CLASSES.len()],
    by_coding: [Counter; REPRESENTATIONS],
    bytes_before: [Counter; REPRESENTATIONS],
    bytes_after: [Counter; REPRESENTATIONS],
    by_refusal: [Counter; Refusal::ALL.len()],
}

/// A number that only grows. One thread adds to it, others only read, so adding needs no locked instruction.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

/// The counters of all workers.
#[derive(Debug)]
pub struct Registry {
    workers: Vec<Arc<Counters>>,
}

/// What is known at the time of a scrape only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// Name of the set of kernels that the codec runs on.
    pub kernels: &'static str,
    /// Coded bodies that the compress-once store had.
    pub store_hits: u64,
    /// Coded bodies that it did not have.
    pub store_misses: u64,
    /// Bytes in the compress-once store.
    pub store_bytes: u64,
    /// Lines that the access log dropped.
    pub log_lines_lost: u64,
}

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.store(self.value() + count, Ordering::Relaxed);
    }

    fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    /// Counts a response with the coding of its body (`None` for identity), or why it has none.
    pub fn response(&self, status: StatusCode, coding: Option<Coding>, refusal: Option<Refusal>) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len());
        self.by_class[class - 1].increment();
        self.by_coding[index(coding)].increment();
        if let Some(refusal) = refusal {
            self.by_refusal[refusal as usize].increment();
        }
    }

    /// Counts the bytes of a body, as they were before coding and as they were sent.
    pub fn body(&self, coding: Option<Coding>, before: u64, after: u64) {
        self.bytes_before[index(coding)].add(before);
        self.bytes_after[index(coding)].add(after);
    }
}

impl Registry {
    /// Counters for that many workers, all zero.
    pub fn new(workers: usize) -> Self {
        Self { workers: (0..workers).map(|_| Arc::default()).collect() }
    }

    /// The counters of a worker.
    ///
    /// # Panics
    ///
    /// If there are not that many workers.
    pub fn worker(&self, number: usize) -> Arc<Counters> {
        Arc::clone(&self.workers[number])
    }

    /// Appends the sums as text.
    pub fn render(&self, now: Snapshot, out: &mut String) {
        let version = env!("CARGO_PKG_VERSION");
        let mut page = Page { out };
        page.family("laneflate_info", "gauge", "The release, and the kernels its codec runs on.");
        page.sample(
            "laneflate_info",
            format_args!("{{version=\"{version}\",kernels=\"{}\"}}", now.kernels),
            1,
        );

        page.family("laneflate_requests_total", "counter", "Requests by class of status.");
        for (index, class) in CLASSES.iter().enumerate() {
            page.labelled("laneflate_requests_total", "class", class, self.sum(|c| &c.by_class[index]));
        }

        let (accepted, closed) = (self.sum(|c| &c.accepted), self.sum(|c| &c.closed));
        page.single("laneflate_connections_accepted_total", "counter", "Connections accepted.", accepted);
        // The two are not read at one moment: a connection may have been closed in between.
        let active = accepted.saturating_sub(closed);
        page.single("laneflate_connections_active", "gauge", "Connections open.", active);

        self.by_coding(&mut page, "laneflate_responses_total", "Responses by coding.", |c| &c.by_coding);
        self.by_coding(
            &mut page,
            "laneflate_plain_bytes_total",
            "Bytes of bodies before coding, by the coding they were sent in.",
            |c| &c.bytes_before,
        );
        self.by_coding(&mut page, "laneflate_sent_bytes_total", "Bytes of bodies as sent, by coding.", |c| {
            &c.bytes_after
        });

        page.family("laneflate_uncoded_total", "counter", "Responses that were not coded, by reason.");
        for refusal in Refusal::ALL {
            let count = self.sum(|c| &c.by_refusal[refusal as usize]);
            page.labelled("laneflate_uncoded_total", "reason", refusal.as_str(), count);
        }

        let store = "laneflate_store_lookups_total";
        page.family(store, "counter", "Lookups in the compress-once store.");
        page.labelled(store, "result", "hit", now.store_hits);
        page.labelled(store, "result", "miss", now.store_misses);
        page.single("laneflate_store_bytes", "gauge", "Bytes in the compress-once store.", now.store_bytes);

        let lost = "laneflate_access_log_lost_lines_total";
        page.single(lost, "counter", "Lines that the access log dropped.", now.log_lines_lost);
    }

    fn by_coding(
        &self,
        page: &mut Page<'_>,
        name: &str,
        help: &str,
        counters: impl Fn(&Counters) -> &[Counter; REPRESENTATIONS],
    ) {
        page.family(name, "counter", help);
        for coding in [None].into_iter().chain(Coding::ALL.map(Some)) {
            let count = self.sum(|c| &counters(c)[index(coding)]);
            page.labelled(name, "coding", coding.map_or("identity", Coding::token), count);
        }
    }

    fn sum(&self, counter: impl Fn(&Counters) -> &Counter) -> u64 {
        self.workers.iter().map(|worker| counter(worker).value()).fold(0, u64::wrapping_add)
    }
}

/// The text in the making. Writing to a `String` cannot fail.
struct Page<'a> {
    out: &'a mut String,
}

impl Page<'_> {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.family(name, kind, help);
        self.sample(name, "", value);
    }

    fn labelled(&mut self, name: &str, label: &str, value: &str, count: u64) {
        self.sample(name, format_args!("{{{label}=\"{value}\"}}"), count);
    }

    fn sample(&mut self, name: &str, labels: impl Display, value: u64) {
        let _ = writeln!(self.out, "{name}{labels} {value}");
    }
}

/// Identity is first, the codings follow.
fn index(coding: Option<Coding>) -> usize {
    coding.map_or(0, |coding| coding as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(registry: &Registry, now: Snapshot) -> String {
        let mut out = String::new();
        registry.render(now, &mut out);
        out
    }

    #[track_caller]
    fn check(page: &str, line: &str) {
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }

    #[test]
    fn workers_are_summed() {
        let registry = Registry::new(3);
        registry.worker(0).accepted.add(5);
        registry.worker(2).accepted.increment();
        registry.worker(1).closed.add(2);
        let page = render(&registry, Snapshot::default());
        check(&page, "laneflate_connections_accepted_total 6");
        check(&page, "laneflate_connections_active 4");
    }

    #[test]
    fn responses_are_counted_by_class_coding_and_reason() {
        let registry = Registry::new(1);
        let counters = registry.worker(0);
        counters.response(StatusCode::OK, Some(Coding::Gzip), None);
        counters.response(StatusCode::NOT_FOUND, None, Some(Refusal::TooShort));
        counters.response(StatusCode::from_u16(999).unwrap(), None, None);
        counters.body(Some(Coding::Gzip), 9000, 2000);
        counters.body(None, 10, 10);
        let page = render(&registry, Snapshot::default());
        for line in [
            "laneflate_requests_total{class=\"1xx\"} 0",
            "laneflate_requests_total{class=\"2xx\"} 1",
            "laneflate_requests_total{class=\"4xx\"} 1",
            "laneflate_requests_total{class=\"5xx\"} 1",
            "laneflate_responses_total{coding=\"identity\"} 2",
            "laneflate_responses_total{coding=\"gzip\"} 1",
            "laneflate_responses_total{coding=\"br\"} 0",
            "laneflate_plain_bytes_total{coding=\"gzip\"} 9000",
            "laneflate_sent_bytes_total{coding=\"gzip\"} 2000",
            "laneflate_sent_bytes_total{coding=\"identity\"} 10",
            "laneflate_uncoded_total{reason=\"too_short\"} 1",
            "laneflate_uncoded_total{reason=\"type\"} 0",
        ] {
            check(&page, line);
        }
    }

    #[test]
    fn what_is_known_at_the_scrape_is_told() {
        let now =
            Snapshot { kernels: "avx2", store_hits: 1, store_misses: 2, store_bytes: 5, log_lines_lost: 6 };
        let page = render(&Registry::new(1), now);
        for line in [
            "laneflate_store_lookups_total{result=\"hit\"} 1",
            "laneflate_store_lookups_total{result=\"miss\"} 2",
            "laneflate_store_bytes 5",
            "laneflate_access_log_lost_lines_total 6",
            concat!("laneflate_info{version=\"", env!("CARGO_PKG_VERSION"), "\",kernels=\"avx2\"} 1"),
        ] {
            check(&page, line);
        }
    }

    #[test]
    fn every_sample_belongs_to_the_family_announced_before_it() {
        let page = render(&Registry::new(1), Snapshot::default());
        let mut announced: Vec<&str> = Vec::new();
        for line in page.lines() {
            if let Some(family) = line.strip_prefix("# TYPE ") {
                let (name, kind) = family.split_once(' ').unwrap();
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(!announced.contains(&name), "{name} is announced twice");
                announced.push(name);
            } else if !line.starts_with("# HELP ") {
                let name = line.split(['{', ' ']).next().unwrap();
                assert_eq!(announced.last(), Some(&name), "{line}");
            }
        }
        assert!(announced.len() >= 10);
    }

    #[test]
    fn counters_of_two_workers_share_no_cache_line() {
        assert_eq!(align_of::<Counters>(), 128);
        assert_eq!(size_of::<Counters>() % 128, 0);
    }
}
