//! The payloads of `www/` that are made, not taken from the web.
//!
//! Benchmarks and tests name these files, and their results are compared across machines and
//! years, so the bytes must never change. That is why the generator is here and not a crate's:
//! crates that make random numbers reserve the right to improve their streams.

/// A file of `www/`: its name there and its content.
pub(crate) struct Payload {
    /// File name beneath `www/`.
    pub(crate) name: &'static str,
    /// The whole content.
    pub(crate) bytes: Vec<u8>,
}

/// Every generated payload, smallest first within its kind.
pub(crate) fn all() -> Vec<Payload> {
    let payload = |name, bytes| Payload { name, bytes };
    vec![
        payload("0kb.bin", Vec::new()),
        payload("hello", b"Hello, world!\n".to_vec()),
        payload("1k.txt", text(1024)),
        payload("2k.txt", text(2 * 1024)),
        payload("3k.txt", text(3 * 1024)),
        payload("4k.txt", text(4 * 1024)),
        payload("10k.txt", text(10 * 1024)),
        payload("1k.bin", noise(1024)),
        payload("4k.bin", noise(4 * 1024)),
        payload("1M.bin", noise(1024 * 1024)),
    ]
}

/// `len` bytes that no coder can shrink.
fn noise(len: usize) -> Vec<u8> {
    let mut random = SplitMix64(len as u64);
    let words = std::iter::repeat_with(|| random.next().to_le_bytes());
    words.flatten().take(len).collect()
}

/// `len` bytes of ASCII that look like English to a coder: words by Zipf's law, in sentences and
/// paragraphs, on lines of at most [`LINE`] columns. The last byte ends a line.
fn text(len: usize) -> Vec<u8> {
    let mut random = SplitMix64(len as u64);
    let mut out = Vec::with_capacity(len + 4 * LINE);
    while out.len() < len {
        paragraph(&mut random, &mut out);
        out.push(b'\n');
    }
    // The cut falls anywhere. A full stop and a line end are the least conspicuous place to stop.
    out.truncate(len - 2);
    out.extend_from_slice(b".\n");
    out
}

fn paragraph(random: &mut SplitMix64, out: &mut Vec<u8>) {
    let mut column = 0;
    for _ in 0..random.between(3, 7) {
        for word in sentence(random) {
            if column > 0 && column + 1 + word.len() > LINE {
                out.push(b'\n');
                column = 0;
            } else if column > 0 {
                out.push(b' ');
                column += 1;
            }
            column += word.len();
            out.extend_from_slice(word.as_bytes());
        }
    }
    out.push(b'\n');
}

fn sentence(random: &mut SplitMix64) -> Vec<String> {
    let len = random.between(5, 18);
    let mut words: Vec<String> = (0..len).map(|_| random.word().to_owned()).collect();
    words[0][..1].make_ascii_uppercase();
    if len > 10 {
        words[len / 2].push(',');
    }
    words[len - 1].push('.');
    words
}

/// Sebastiano Vigna's SplitMix64: 64 bits of state, one multiplication chain per number.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `low..high`. The modulo's bias is of no matter at these sizes.
    fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low) as u64) as usize
    }

    /// A word of [`WORDS`]: the one at rank r with a weight of 1 / (r + 3).
    fn word(&mut self) -> &'static str {
        let weight = |rank: usize| 1_000_000 / (rank as u64 + 3);
        let total: u64 = (0..WORDS.len()).map(weight).sum();
        let mut left = self.next() % total;
        for (rank, word) in WORDS.iter().enumerate() {
            match left.checked_sub(weight(rank)) {
                Some(rest) => left = rest,
                None => return word,
            }
        }
        unreachable!("the weights add up to more than the number drawn")
    }
}

const LINE: usize = 72;

/// Words in about the order of their frequency. Adding one changes every text payload.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "the", "of", "and", "to", "a", "in", "is", "that", "it", "was", "for", "on", "with", "as",
    "be", "at", "by", "this", "from", "or", "had", "are", "not", "but", "which", "an", "they",
    "one", "have", "were", "all", "there", "when", "we", "more", "has", "will", "their", "each",
    "out", "up", "so", "what", "about", "than", "into", "them", "can", "only", "other", "time",
    "new", "some", "could", "these", "two", "may", "first", "then", "any", "now", "such", "over",
    "most", "people", "made", "after", "also", "where", "must", "before", "many", "through",
    "back", "years", "way", "much", "down", "should", "because", "long", "between", "even",
    "water", "day", "same", "work", "still", "under", "last", "small", "great", "every", "light",
    "page", "house", "place", "again", "found", "while", "part", "never", "world", "without",
    "river", "number", "against", "during", "letter", "always", "something", "morning", "paper",
    "nothing", "around", "little", "across", "along", "window", "server", "answer", "often",
    "road", "stone", "enough", "reader", "almost", "bridge", "night", "winter", "table", "garden",
    "harbour", "summer", "question", "together", "machine", "language", "distance", "measure",
    "quiet", "mountain", "sentence", "history", "carried", "engine", "library", "printed",
    "weather", "journey", "market", "music", "evening", "village", "pattern", "thousand",
    "picture", "island", "common", "surface", "current", "travel", "northern", "railway",
    "dictionary", "compress", "ordinary", "telegraph", "alphabet", "instrument", "narrow",
    "lantern", "frequency", "observer", "cathedral", "workshop", "calendar", "remember",
    "shoreline", "orchard", "copper", "passenger", "signal", "archive", "timetable", "horizon",
    "silver", "gravel", "lighthouse", "parchment",
];
