//! Coders taking turns.

use laneflate_bench::rivals::{Entrant, Name};
use std::time::Instant;

/// When to stop.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) rounds: u32,
    /// Seconds, of each coder.
    pub(crate) budget: f64,
}

/// How a coder did.
pub(crate) struct Measured {
    pub(crate) name: Name,
    /// Bytes of all outputs.
    pub(crate) made: usize,
    /// Seconds, by input and round.
    times: Vec<Vec<f64>>,
    spent: f64,
}

impl Measured {
    /// Seconds for all inputs, each in the best of the first `rounds`: other work on the machine only ever adds.
    pub(crate) fn best(&self, rounds: usize) -> f64 {
        let best = |times: &Vec<f64>| times[..rounds].iter().copied().fold(f64::INFINITY, f64::min);
        self.times.iter().map(best).sum()
    }

    /// Seconds for all inputs, each in the median of the first `rounds`.
    pub(crate) fn median(&self, rounds: usize) -> f64 {
        let median = |times: &Vec<f64>| {
            let mut times = times[..rounds].to_vec();
            times.sort_unstable_by(f64::total_cmp);
            times[rounds / 2]
        };
        self.times.iter().map(median).sum()
    }

    /// How many rounds it took part in.
    pub(crate) fn rounds(&self) -> usize {
        self.times[0].len()
    }
}

/// Lets all take turns, and in each turn code all inputs one after another. `check` is given the first output of each for
/// each input.
pub(crate) fn run(
    entrants: Vec<Entrant>,
    inputs: &[Vec<u8>],
    limits: Limits,
    mut check: impl FnMut(Name, usize, &[u8]),
) -> Vec<Measured> {
    let (names, mut coders): (Vec<_>, Vec<_>) =
        entrants.into_iter().map(|Entrant { name, coder }| (name, coder)).unzip();
    let mut all: Vec<_> = names
        .into_iter()
        .map(|name| Measured { name, made: 0, times: vec![Vec::new(); inputs.len()], spent: 0.0 })
        .collect();
    // Buffers grow before the clock runs.
    let largest = inputs.iter().max_by_key(|input| input.len()).expect("there are inputs");
    for coder in &mut coders {
        // If it fails, it will do so again where that is looked at.
        let _ = coder.code(largest);
    }
    for round in 0..limits.rounds as usize {
        for (one, coder) in all.iter_mut().zip(&mut coders) {
            if one.spent > limits.budget {
                continue;
            }
            // The first input of a turn finds the caches full of another coder's state, so it is another one each time.
            for index in (0..inputs.len()).map(|index| (index + round) % inputs.len()) {
                let start = Instant::now();
                let output = coder.code(&inputs[index]);
                let seconds = start.elapsed().as_secs_f64();
                one.times[index].push(seconds);
                one.spent += seconds;
                let Some(output) = output else { panic!("{} fails on input {index}", one.name) };
                if round == 0 {
                    one.made += output.len();
                    check(one.name, index, output);
                }
            }
        }
    }
    all
}

/// The table: of encoders also how much smaller they make the `plain` bytes.
pub(crate) fn print(all: &[Measured], inputs: usize, plain: usize) {
    println!("{:24} {:>7} {:>9} {:>9} {:>9} {:>7}", "coder", "ratio", "us, best", "median", "MB/s", "rounds");
    for one in all {
        let rounds = one.rounds();
        let best = one.best(rounds);
        let ratio = match one.name.level {
            Some(_) => format!("{:.3}", plain as f64 / one.made as f64),
            None => String::new(),
        };
        println!(
            "{:24} {ratio:>7} {:9.2} {:9.2} {:9.1} {:7}",
            one.name.to_string(),
            best * 1e6 / inputs as f64,
            one.median(rounds) * 1e6 / inputs as f64,
            plain as f64 / best / 1e6,
            rounds,
        );
    }
}
