//! Readers and writers that take a few bytes at a time, are interrupted, or would block.

use crate::{body, both, same, streams};
use std::io::{self, BufRead, BufReader, Read, Write};

/// Fails with each of `errors` in turn, between calls that move at most `step` bytes.
#[derive(Debug)]
struct Awkward<T> {
    inner: T,
    step: usize,
    calls: usize,
}

impl<T> Awkward<T> {
    fn new(inner: T, step: usize) -> Self {
        Self { inner, step, calls: 0 }
    }

    fn fails(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.calls % 4 {
            1 => Err(io::ErrorKind::WouldBlock.into()),
            3 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl<R: Read> Read for Awkward<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        self.fails()?;
        let len = output.len().min(self.step);
        self.inner.read(&mut output[..len])
    }
}

impl<W: Write> Write for Awkward<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.fails()?;
        self.inner.write(&bytes[..bytes.len().min(self.step)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.fails()
    }
}

/// Calls again after each error that passes.
fn insist<T>(mut call: impl FnMut() -> io::Result<T>) -> T {
    loop {
        match call() {
            Ok(value) => return value,
            Err(error) => {
                let passes = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&error.kind());
                assert!(passes, "{error}");
            }
        }
    }
}

fn read_all(mut reader: impl Read, size: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut piece = vec![0; size];
    loop {
        match insist(|| reader.read(&mut piece)) {
            0 => return all,
            count => all.extend_from_slice(&piece[..count]),
        }
    }
}

fn write_in_pieces(writer: &mut impl Write, mut bytes: &[u8], size: usize) {
    while !bytes.is_empty() {
        let count = insist(|| writer.write(&bytes[..bytes.len().min(size)]));
        assert!(count > 0);
        bytes = &bytes[count..];
    }
}

const STEPS: [(usize, usize); 4] = [(1, 700), (7, 9000), (5000, 3), (60_000, 60_000)];

/// Nothing is lost where the inner side fails between any two bytes.
#[test]
fn readers() {
    let body = &body()[..40_000];
    let [gzip, zlib, raw] = streams(body);
    for (step, size) in STEPS {
        macro_rules! pair {
            ($encoder:ident, $decoder:ident, $coded:expr) => {
                let (ours, theirs) = both!({
                    read_all(read::$encoder::new(Awkward::new(body, step), Compression::fast()), size)
                });
                for coded in [&ours, &theirs, $coded] {
                    let decoded =
                        same!({ read_all(read::$decoder::new(Awkward::new(&coded[..], step)), size) });
                    assert!(decoded == body);
                }
                let decoded = same!({
                    let reader = BufReader::with_capacity(17, Awkward::new(&$coded[..], step));
                    read_all(bufread::$decoder::new(reader), size)
                });
                assert!(decoded == body);
            };
        }
        pair!(GzEncoder, GzDecoder, &gzip);
        pair!(GzEncoder, MultiGzDecoder, &gzip);
        pair!(ZlibEncoder, ZlibDecoder, &zlib);
        pair!(DeflateEncoder, DeflateDecoder, &raw);
    }
}

#[test]
fn writers() {
    let body = &body()[..40_000];
    for (step, size) in STEPS {
        macro_rules! pair {
            ($encoder:ident, $decoder:ident) => {
                let (ours, theirs) = both!({
                    let mut encoder =
                        write::$encoder::new(Awkward::new(Vec::new(), step), Compression::fast());
                    write_in_pieces(&mut encoder, &body[..20_000], size);
                    insist(|| encoder.flush());
                    write_in_pieces(&mut encoder, &body[20_000..], size);
                    insist(|| encoder.try_finish());
                    encoder.get_ref().inner.clone()
                });
                for coded in [&ours, &theirs] {
                    let decoded = same!({
                        let mut decoder = write::$decoder::new(Awkward::new(Vec::new(), step));
                        write_in_pieces(&mut decoder, coded, size);
                        insist(|| decoder.flush());
                        insist(|| decoder.try_finish());
                        decoder.get_ref().inner.clone()
                    });
                    assert!(decoded == body);
                }
            };
        }
        pair!(GzEncoder, GzDecoder);
        pair!(ZlibEncoder, ZlibDecoder);
        pair!(DeflateEncoder, DeflateDecoder);
    }
}

/// A reader that has given all that a first part needs must not be asked for more before that part is out.
#[test]
fn what_is_decoded_does_not_wait() {
    struct Once<'a>(&'a [u8]);
    impl Read for Once<'_> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            unreachable!("read through the buffer")
        }
    }
    impl BufRead for Once<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            if self.0.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(self.0) }
        }
        fn consume(&mut self, count: usize) {
            self.0 = &self.0[count..];
        }
    }

    let body = vec![b'a'; 20_000];
    let mut encoder = laneflate_simd::write::GzEncoder::new(Vec::new(), laneflate_simd::Level::FASTEST);
    encoder.write_all(&body).expect("in memory");
    encoder.flush().expect("in memory");
    let coded = encoder.get_ref().clone();
    let mut decoder = laneflate_simd::bufread::GzDecoder::new(Once(&coded));
    let (mut decoded, mut piece) = (0, [0; 100]);
    let error = loop {
        match decoder.read(&mut piece) {
            Ok(count) => decoded += count,
            Err(error) => break error,
        }
    };
    assert_eq!((decoded, error.kind()), (body.len(), io::ErrorKind::WouldBlock));
}

#[test]
fn a_writer_that_takes_nothing_is_an_error() {
    let kind = same!({
        let mut room = [0; 5];
        let mut encoder = write::ZlibEncoder::new(&mut room[..], Compression::none());
        encoder.write_all(&[7; 100]).expect("there is a buffer");
        encoder.try_finish().expect_err("no room").kind()
    });
    assert_eq!(kind, io::ErrorKind::WriteZero);
}
