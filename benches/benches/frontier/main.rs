//! Size against time: every level of laneflate and of its rivals, on the bodies of a folder. See `benches/README.md`.

mod measure;
mod verdict;

use clap::Parser;
use laneflate_bench::corpus;
use laneflate_bench::rivals::{self, Entrant, Judges, Maker, Name};
use laneflate_simd::{Kernels, Level};
use measure::{Limits, Measured};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures laneflate against its rivals, all taking turns in one process; without a mode, in every mode.
#[derive(Parser)]
#[command(name = "frontier", bin_name = "frontier")]
struct Arguments {
    /// Every level of every encoder.
    #[arg(long)]
    encode: bool,
    /// Every decoder.
    #[arg(long)]
    inflate: bool,
    /// CRC-32 and Adler-32 of 64 KiB.
    #[arg(long)]
    checksum: bool,
    /// Our levels in pieces of 16 KiB against whole bodies.
    #[arg(long)]
    streaming: bool,
    /// How many times each coder takes its turn.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// After how many seconds of its own a coder sits out further rounds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    budget: f64,
    /// Keeps the coders of this name ("libdeflate", or "libdeflate 6"); may be given more than once.
    #[arg(long, value_name = "NAME")]
    filter: Vec<String>,
    /// Where the bodies are, in it or in folders in it [default: the 9 KB bodies of this package].
    folder: Option<PathBuf>,
    /// What cargo gives to a benchmark, but not when it is run as a test: then one round is enough.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("frontier: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let folder = arguments.folder.clone().unwrap_or_else(corpus::default_folder);
    let bodies = corpus::read(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let rounds = if arguments.bench { arguments.rounds } else { 1 };
    let limits = Limits { rounds, budget: arguments.budget };
    let setting = verdict::Setting { kernels: Kernels::detect().name(), mean: total(&bodies) / bodies.len() };
    println!(
        "{} bodies of {} bytes on average, kernels {}, {rounds} rounds; a coder sits out those after its first {} s",
        bodies.len(),
        setting.mean,
        setting.kernels,
        limits.budget,
    );
    for missing in rivals::MISSING {
        println!("not built in: {missing}");
    }

    let modes: [(bool, Mode); 4] = [
        (arguments.encode, encode),
        (arguments.inflate, inflate),
        (arguments.checksum, checksum),
        (arguments.streaming, streaming),
    ];
    let all = modes.iter().all(|(wanted, _)| !wanted);
    let bench = Bench { bodies, limits, setting, filter: &arguments.filter };
    for (wanted, mode) in modes {
        if wanted || all {
            mode(&bench)?;
        }
    }
    Ok(())
}

type Mode = fn(&Bench) -> Result<(), String>;

/// What the modes have in common.
struct Bench<'a> {
    bodies: Vec<Vec<u8>>,
    limits: Limits,
    setting: verdict::Setting,
    filter: &'a [String],
}

fn encode(bench: &Bench) -> Result<(), String> {
    println!("\nencode");
    let measured = bench.measure_encoders(rivals::encoders())?;
    verdict::encode(&measured, &bench.setting);
    Ok(())
}

fn inflate(bench: &Bench) -> Result<(), String> {
    let bodies = &bench.bodies;
    for (maker, level) in [(Maker::Laneflate, Level::DEFAULT.number()), (Maker::Zlib, 6)] {
        println!("\ninflate what {maker} {level} wrote");
        let mut encoders = rivals::encoders().into_iter();
        let wanted = |entrant: &Entrant| (entrant.name.maker, entrant.name.level) == (maker, Some(level));
        let mut encoder = encoders.find(wanted).expect("both are always built in");
        let coded: Vec<_> =
            bodies.iter().map(|body| encoder.coder.code(body).expect("it has room").to_vec()).collect();
        let measured = bench.measure(rivals::decoders(), &coded, total(bodies), |name, index, made| {
            assert!(made == bodies[index], "{name} decodes body {index} to something else");
        })?;
        verdict::inflate(&measured, &bench.setting);
    }
    Ok(())
}

fn checksum(bench: &Bench) -> Result<(), String> {
    const LEN: usize = 64 * 1024;
    // A turn of one call would be over before the processor is used to it.
    const CALLS: usize = 64;
    println!("\nchecksums of {LEN} bytes");
    let data: Vec<u8> = bench.bodies.iter().flatten().copied().cycle().take(LEN).collect();
    let mut sums: Vec<(&str, Vec<u8>)> = Vec::new();
    let measured = bench.measure(rivals::checksums(), &vec![data; CALLS], LEN * CALLS, |name, _, made| {
        match sums.iter().find(|(what, _)| *what == name.what) {
            Some((_, sum)) => assert!(made == sum, "{name} is not what the other says"),
            None => sums.push((name.what, made.to_vec())),
        }
    })?;
    verdict::checksum(&measured, &bench.setting);
    Ok(())
}

fn streaming(bench: &Bench) -> Result<(), String> {
    println!("\nin pieces of {} bytes against whole bodies", rivals::PIECE);
    let measured = bench.measure_encoders(rivals::streaming_encoders())?;
    verdict::streaming(&measured);
    Ok(())
}

impl Bench<'_> {
    /// Measures encoders on the bodies. What each writes must decode.
    fn measure_encoders(&self, encoders: Vec<Entrant>) -> Result<Vec<Measured>, String> {
        let mut judges = Judges::new();
        self.measure(encoders, &self.bodies, total(&self.bodies), |name, index, coded| {
            let decoded = judges.decode(name.maker, coded);
            assert!(
                decoded == Some(&self.bodies[index][..]),
                "what {name} made of body {index} does not decode to it"
            );
        })
    }

    /// Measures those of the entrants that the filter keeps, and prints them. `plain` is how many bytes the inputs have
    /// when they are not coded.
    fn measure(
        &self,
        mut entrants: Vec<Entrant>,
        inputs: &[Vec<u8>],
        plain: usize,
        check: impl FnMut(Name, usize, &[u8]),
    ) -> Result<Vec<Measured>, String> {
        for part in self.filter {
            if !entrants.iter().any(|entrant| entrant.name.begins_with(part)) {
                let mut makers: Vec<_> =
                    entrants.iter().map(|entrant| entrant.name.maker.to_string()).collect();
                makers.dedup();
                return Err(format!("no coder is called {part:?}; there are those of {}", makers.join(", ")));
            }
        }
        entrants.retain(|Entrant { name, .. }| {
            self.filter.is_empty() || self.filter.iter().any(|part| name.begins_with(part))
        });
        let measured = measure::run(entrants, inputs, self.limits, check);
        measure::print(&measured, inputs.len(), plain);
        Ok(measured)
    }
}

fn total(bodies: &[Vec<u8>]) -> usize {
    bodies.iter().map(Vec::len).sum()
}
