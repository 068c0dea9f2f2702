//! Reading an open file: without waiting where the page cache has it, in the blocking pool where not.
//!
//! Files are read, not mapped: a map that is truncated under a response kills the process.

use std::fs::File;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use rustix::fs::Stat;
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::date;

/// Bytes of one frame of a [`FileBody`].
pub const CHUNK: usize = 64 << 10;

/// A file changed less than this before it was opened may change again with neither its time nor its length
/// showing it.
const RACY: Duration = Duration::from_secs(1);

/// The first second that a date in HTTP cannot say.
const YEAR_10000: i64 = date::END as i64;

/// What tells one state of a file from another. A change that keeps the modification time shows in the change
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Length in bytes.
    pub len: u64,
    pub(crate) modified: (i64, u32),
    pub(crate) changed: (i64, u32),
}

impl Stamp {
    pub(super) fn new(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev,
            ino: stat.st_ino,
            len: stat.st_size.try_into().unwrap_or(0),
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
        }
    }

    /// The state of an open file now.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::new(&rustix::fs::fstat(file)?))
    }

    /// Time of the last change of the content, brought within what a date in HTTP can say: 1970 to 9999.
    pub fn modified(&self) -> SystemTime {
        let (seconds, nanoseconds) = match self.modified {
            (..0, _) => (0, 0),
            (YEAR_10000.., _) => (YEAR_10000 - 1, 0),
            within => within,
        };
        SystemTime::UNIX_EPOCH + Duration::new(seconds.unsigned_abs(), nanoseconds)
    }

    /// Whether the content changed so shortly before `opened` that the stamp may not tell it from the next
    /// change.
    pub(super) fn is_racy(&self, opened: SystemTime) -> bool {
        !opened.duration_since(self.modified()).is_ok_and(|age| age >= RACY)
    }
}

fn nanoseconds(value: impl TryInto<u32>) -> u32 {
    value.try_into().unwrap_or(0)
}

/// Reads a short file whole, or gives `None` where the disk would have to be waited for, or where the file is
/// shorter than `len` by now.
///
/// A file system that cannot say whether a read would wait (overlayfs, most of FUSE) is read nevertheless.
pub(super) fn read_resident(file: &File, len: usize) -> io::Result<Option<Bytes>> {
    let mut content = vec![0; len];
    let mut filled = 0;
    while filled < len {
        let rest = &mut content[filled..];
        let read = match read_without_waiting(file, rest, filled as u64) {
            Attempt::Read(read) => read,
            Attempt::WouldWait => return Ok(None),
            Attempt::Unsupported => read_waiting(file, rest, filled as u64)?,
            Attempt::Failed(error) => return Err(error),
        };
        if read == 0 {
            return Ok(None);
        }
        filled += read;
    }
    Ok(Some(content.into()))
}

enum Attempt {
    Read(usize),
    WouldWait,
    Unsupported,
    Failed(io::Error),
}

fn read_without_waiting(file: &File, buffer: &mut [u8], offset: u64) -> Attempt {
    match preadv2(file, &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::NOWAIT) {
        Ok(read) => Attempt::Read(read),
        Err(Errno::AGAIN | Errno::INTR) => Attempt::WouldWait,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Attempt::Unsupported,
        Err(errno) => Attempt::Failed(errno.into()),
    }
}

fn read_waiting(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A range of a file as the body of a response, in frames of [`CHUNK`] bytes at most.
///
/// Its length was promised in the head of the response: a file that has become shorter is an error of kind
/// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof), upon which the connection must be cut. Must be polled
/// within a tokio runtime.
#[derive(Debug)]
pub struct FileBody {
    file: Arc<File>,
    offset: u64,
    remaining: u64,
    waiting: Option<JoinHandle<io::Result<Bytes>>>,
}

impl FileBody {
    /// The `len` bytes from `offset` on.
    pub fn new(file: Arc<File>, offset: u64, len: u64) -> Self {
        Self { file, offset, remaining: len, waiting: None }
    }

    /// What is still to be sent, as file, offset and length, for a server that hands it to the kernel
    /// (`sendfile`).
    pub fn into_span(self) -> (Arc<File>, u64, u64) {
        (self.file, self.offset, self.remaining)
    }

    /// Reads the next chunk where that takes no waiting, else has it read in the blocking pool.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let waiting = match &mut self.waiting {
            Some(waiting) => waiting,
            None => {
                let mut chunk = vec![0; self.remaining.min(CHUNK as u64) as usize];
                match read_without_waiting(&self.file, &mut chunk, self.offset) {
                    Attempt::Read(read) => return Poll::Ready(Ok(first(chunk, read))),
                    Attempt::Failed(error) => return Poll::Ready(Err(error)),
                    Attempt::WouldWait | Attempt::Unsupported => {}
                }
                let (file, offset) = (Arc::clone(&self.file), self.offset);
                let read = move || read_waiting(&file, &mut chunk, offset).map(|read| first(chunk, read));
                self.waiting.insert(spawn_blocking(read))
            }
        };
        let result = ready!(Pin::new(waiting).poll(cx));
        self.waiting = None;
        Poll::Ready(result.unwrap_or_else(|error| Err(io::Error::other(error))))
    }
}

fn first(mut chunk: Vec<u8>, read: usize) -> Bytes {
    chunk.truncate(read);
    chunk.into()
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.remaining == 0 {
            return Poll::Ready(None);
        }
        let result = match ready!(self.poll_chunk(cx)) {
            Ok(chunk) if chunk.is_empty() => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file has become shorter"))
            }
            result => result,
        };
        match &result {
            Ok(chunk) => {
                self.offset += chunk.len() as u64;
                self.remaining -= chunk.len() as u64;
            }
            Err(_) => self.remaining = 0,
        }
        Poll::Ready(Some(result.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use http_body_util::BodyExt;

    use super::*;

    fn numbered(len: usize) -> (tempfile::TempDir, std::path::PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        let path = folder.path().join("file");
        fs::write(&path, &content).unwrap();
        (folder, path, content)
    }

    fn open(path: &std::path::Path) -> Arc<File> {
        Arc::new(File::open(path).unwrap())
    }

    #[tokio::test]
    async fn a_range_arrives_whole_in_bounded_frames() {
        let (_folder, path, content) = numbered(3 * CHUNK + 17);
        for (offset, len) in [(0, content.len()), (5, 2 * CHUNK), (CHUNK, 1), (content.len() - 3, 3), (7, 0)]
        {
            let mut body = FileBody::new(open(&path), offset as u64, len as u64);
            let mut read = Vec::new();
            while let Some(frame) = body.frame().await {
                let data = frame.unwrap().into_data().unwrap();
                assert!(!data.is_empty() && data.len() <= CHUNK);
                read.extend_from_slice(&data);
                assert_eq!(body.size_hint().exact(), Some((len - read.len()) as u64));
            }
            assert!(body.is_end_stream());
            assert_eq!(read, content[offset..offset + len]);
        }
    }

    #[tokio::test]
    async fn the_blocking_pool_gives_the_same_bytes() {
        let (_folder, path, content) = numbered(CHUNK + 9);
        let mut body = FileBody::new(open(&path), 2, content.len() as u64 - 2);
        let file = Arc::clone(&body.file);
        // As if the page cache had not had the first chunk.
        body.waiting = Some(spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            read_waiting(&file, &mut chunk, 2).map(|read| first(chunk, read))
        }));
        assert_eq!(body.collect().await.unwrap().to_bytes(), content[2..]);
    }

    #[tokio::test]
    async fn a_file_that_shrinks_is_an_error_and_then_the_end() {
        let (_folder, path, _) = numbered(3 * CHUNK);
        let mut body = FileBody::new(open(&path), 0, 3 * CHUNK as u64);
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), CHUNK);
        File::options().write(true).open(&path).unwrap().set_len(CHUNK as u64 + 10).unwrap();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 10);
        assert_eq!(body.frame().await.unwrap().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_file_replaced_meanwhile_ends_as_it_began() {
        let (folder, path, content) = numbered(2 * CHUNK);
        let mut body = FileBody::new(open(&path), 0, content.len() as u64);
        let start = body.frame().await.unwrap().unwrap().into_data().unwrap();
        fs::write(folder.path().join("new"), "new").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        let rest = body.collect().await.unwrap().to_bytes();
        assert_eq!([start, rest].concat(), content);
    }

    #[tokio::test]
    async fn the_span_is_what_has_not_been_sent() {
        let (_folder, path, content) = numbered(2 * CHUNK);
        let mut body = FileBody::new(open(&path), 3, content.len() as u64 - 3);
        body.frame().await.unwrap().unwrap();
        let (_, offset, len) = body.into_span();
        assert_eq!((offset, len), (3 + CHUNK as u64, CHUNK as u64 - 3));
    }

    #[test]
    fn a_short_file_is_read_whole_or_not_at_all() {
        let (_folder, path, content) = numbered(1000);
        let file = File::open(path).unwrap();
        assert_eq!(read_resident(&file, 1000).unwrap().unwrap(), content);
        assert_eq!(read_resident(&file, 0).unwrap().unwrap(), "");
        assert_eq!(read_resident(&file, 1001).unwrap(), None);
    }

    #[test]
    fn a_change_within_the_last_second_is_racy_and_so_is_one_to_come() {
        let (_folder, path, _) = numbered(1);
        let stamp = Stamp::new(&rustix::fs::stat(&path).unwrap());
        let modified = stamp.modified();
        assert_eq!(modified, fs::metadata(&path).unwrap().modified().unwrap());
        assert!(stamp.is_racy(modified));
        assert!(stamp.is_racy(modified + Duration::from_millis(999)));
        assert!(stamp.is_racy(modified - Duration::from_secs(5)));
        assert!(!stamp.is_racy(modified + Duration::from_secs(1)));
    }

    #[test]
    fn times_stay_within_what_http_can_say() {
        let (_folder, path, _) = numbered(1);
        let mut stat = rustix::fs::stat(&path).unwrap();
        for (seconds, text) in [
            (-10, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (i64::MIN, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (YEAR_10000, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (i64::MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            stat.st_mtime = seconds;
            let modified = date::HttpDate::new(Stamp::new(&stat).modified()).unwrap();
            assert_eq!(modified.header_value(), text);
        }
    }
}
