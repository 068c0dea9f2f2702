//! How many times faster than each rival we are, and whether that is what we ask of ourselves.

use crate::measure::Measured;
use laneflate_bench::rivals::{Maker, Name};

/// What the bars depend on.
pub(crate) struct Setting {
    pub(crate) kernels: &'static str,
    /// Bytes of the mean body.
    pub(crate) mean: usize,
}

impl Setting {
    /// Bodies of more than this need more than one block and more than a first-level cache.
    fn large(&self) -> bool {
        self.mean > 32 * 1024
    }

    /// How many times faster we must be than this point without being larger, if there is a rule for it.
    fn encode(&self, rival: Name) -> Option<f64> {
        let level = rival.level?;
        match (self.kernels, rival.maker) {
            ("scalar", Maker::ZlibRs) => Some(1.2),
            ("scalar", _) => None,
            (_, maker) if self.large() => Some(if maker.of_zlib_family() { 1.5 } else { 1.0 }),
            ("avx2", Maker::IsaL) => (level == 1).then_some(1.15),
            ("avx2", Maker::Libdeflate) => (level <= 6).then_some(1.15),
            ("avx2", _) => None,
            (_, Maker::IsaL) => Some(if level == 0 { 1.1 } else { 1.35 }),
            (_, Maker::Libdeflate) => Some(match level {
                ..=6 => 1.35,
                7..=9 => 1.15,
                10.. => 1.8,
            }),
            (_, _) => Some(2.0),
        }
    }

    fn inflate(&self, rival: Name) -> Option<f64> {
        match (self.kernels, rival.maker, rival.what) {
            ("scalar", _, _) => None,
            (_, Maker::ZlibRs, "streaming") => Some(1.4),
            (_, Maker::Libdeflate, _) => Some(if self.large() { 1.0 } else { 1.15 }),
            _ => None,
        }
    }

    fn checksum(&self) -> Option<f64> {
        (self.kernels != "scalar").then_some(1.0)
    }
}

/// For each point of each rival: our fastest level that is no larger.
pub(crate) fn encode(all: &[Measured], setting: &Setting) {
    let (ours, rivals) = by_maker(all);
    if ours.is_empty() {
        return;
    }
    let pairs = rivals.into_iter().map(|rival| {
        let no_larger = ours.iter().filter(|one| one.made <= rival.made);
        let fastest = no_larger.min_by(|a, b| a.best(a.rounds()).total_cmp(&b.best(b.rounds()))).copied();
        (rival, fastest, setting.encode(rival.name))
    });
    print(pairs);
}

/// For each rival: ours, used the same way.
pub(crate) fn inflate(all: &[Measured], setting: &Setting) {
    alike(all, |rival| setting.inflate(rival));
}

/// For each rival: ours.
pub(crate) fn checksum(all: &[Measured], setting: &Setting) {
    alike(all, |_| setting.checksum());
}

/// For each of our levels that is given whole bodies: the same level in pieces.
pub(crate) fn streaming(all: &[Measured]) {
    // Within 15 %.
    const BAR: f64 = 1.0 / 1.15;
    let (pieces, whole): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.name.what == "streaming");
    let of = |level| pieces.iter().find(|one| one.name.level == level).copied();
    print(whole.into_iter().filter_map(|one| Some((one, Some(of(one.name.level)?), Some(BAR)))));
}

fn alike(all: &[Measured], bar: impl Fn(Name) -> Option<f64>) {
    let (ours, rivals) = by_maker(all);
    let of = |what| ours.iter().find(|one| one.name.what == what).copied();
    print(rivals.into_iter().filter_map(|one| Some((one, Some(of(one.name.what)?), bar(one.name)))));
}

fn by_maker(all: &[Measured]) -> (Vec<&Measured>, Vec<&Measured>) {
    all.iter().partition(|one| one.name.maker == Maker::Laneflate)
}

/// Rivals, what of ours each is compared with, and the bar. A bar is reached by the best times and by the medians, or not.
fn print<'a>(pairs: impl Iterator<Item = (&'a Measured, Option<&'a Measured>, Option<f64>)>) {
    let mut pairs = pairs.peekable();
    if pairs.peek().is_none() {
        return;
    }
    println!("\n{:24} {:24} {:>7} {:>9} {:>9} {:>6}", "rival", "ours", "size", "x, best", "x, median", "bar");
    let (mut bars, mut bars_reached) = (0, 0);
    for (rival, ours, bar) in pairs {
        let name = rival.name.to_string();
        let (mut best, mut median) = (0.0, 0.0);
        match ours {
            Some(ours) => {
                // Who had more turns had more luck: compare those that both took.
                let rounds = ours.rounds().min(rival.rounds());
                best = rival.best(rounds) / ours.best(rounds);
                median = rival.median(rounds) / ours.median(rounds);
                let size = ours.made as f64 / rival.made as f64;
                print!("{name:24} {:24} {size:7.4} {best:9.2} {median:9.2}", ours.name.to_string());
            }
            None => print!("{name:24} {:24} {:7} {:>9} {:>9}", "all are larger", "", "", ""),
        }
        let Some(bar) = bar else {
            println!(" {:>6}", "-");
            continue;
        };
        bars += 1;
        let reached = best.min(median) >= bar;
        println!(" {bar:6.2} {}", if reached { "reached" } else { "MISSED" });
        bars_reached += usize::from(reached);
    }
    if bars > 0 {
        println!("{bars_reached} of {bars} bars reached");
    }
}
