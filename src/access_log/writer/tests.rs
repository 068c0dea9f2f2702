use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc;
use std::time::UNIX_EPOCH;

use http::{Method, StatusCode, Version};

use super::*;

/// A folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("laneflate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn log(&self) -> PathBuf {
        self.0.join("access.log")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> Writer {
    Writer::open(&AccessLog { path: Some(path.to_owned()), format: LogFormat::Common }).unwrap()
}

fn start(out: impl Write + Send + 'static) -> Writer {
    Writer::start(None, Box::new(out), LogFormat::Common).unwrap()
}

fn log(writer: &Writer, target: &str) {
    writer.log(&Record {
        remote: IpAddr::V4(Ipv4Addr::LOCALHOST),
        time: UNIX_EPOCH,
        method: &Method::GET,
        target: target.as_bytes(),
        version: Version::HTTP_11,
        status: StatusCode::OK,
        body_bytes: 1,
        referer: None,
        user_agent: None,
        coding: None,
        length_before: None,
        refusal: None,
        duration: Duration::ZERO,
    });
}

fn line(target: &str) -> String {
    format!("127.0.0.1 - - [01/Jan/1970:00:00:00 +0000] \"GET {target} HTTP/1.1\" 200 1")
}

#[track_caller]
fn eventually(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// A sink that fails as it is told to, else passes on what it gets.
struct Scripted {
    /// How many bytes each coming write takes before it fails.
    failures: mpsc::Receiver<usize>,
    out: Arc<Mutex<Vec<u8>>>,
    failing: bool,
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.failing) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = match self.failures.try_recv() {
            Ok(0) => return Err(io::ErrorKind::StorageFull.into()),
            Ok(taken) => {
                self.failing = true;
                taken.min(bytes.len())
            }
            Err(_) => bytes.len(),
        };
        lock(&self.out).extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A sink that takes nothing until it is released.
struct Stuck {
    release: mpsc::Receiver<()>,
    out: Arc<Mutex<Vec<u8>>>,
}

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Returns at once when the other side is gone.
        let _ = self.release.recv();
        lock(&self.out).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_of_many_threads_arrive_whole_and_in_order() {
    let folder = Folder::new("threads");
    let writer = open(&folder.log());
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let writer = writer.clone();
            std::thread::spawn(move || (0..3000).for_each(|n| log(&writer, &format!("/{thread}/{n}"))))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(writer.lost(), 0);
    drop(writer);

    let mut next: HashMap<usize, usize> = HashMap::new();
    for found in read(&folder.log()).lines() {
        let thread = found.split('/').nth(3).and_then(|thread| thread.parse().ok()).expect(found);
        let number = next.entry(thread).or_default();
        assert_eq!(found, line(&format!("/{thread}/{number}")));
        *number += 1;
    }
    assert_eq!(next, (0..4).map(|thread| (thread, 3000)).collect());
}

#[test]
fn a_lone_line_is_written_soon() {
    let folder = Folder::new("soon");
    let writer = open(&folder.log());
    log(&writer, "/a");
    eventually(|| read(&folder.log()) == line("/a") + "\n");
}

#[test]
fn lines_are_appended() {
    let folder = Folder::new("append");
    std::fs::write(folder.log(), "old\n").unwrap();
    let writer = open(&folder.log());
    log(&writer, "/a");
    drop(writer);
    assert_eq!(read(&folder.log()), format!("old\n{}\n", line("/a")));
}

#[test]
fn what_a_dropped_clone_logged_is_written() {
    let folder = Folder::new("clone");
    let writer = open(&folder.log());
    let clone = writer.clone();
    log(&clone, "/a");
    drop(clone);
    eventually(|| read(&folder.log()) == line("/a") + "\n");
    eventually(|| lock(&writer.shared.buffers).len() == 1);
}

#[test]
fn rotation_loses_no_line() {
    let folder = Folder::new("rotate");
    let rotated = folder.0.join("access.log.1");
    let writer = open(&folder.log());
    log(&writer, "/before");
    std::fs::rename(folder.log(), &rotated).unwrap();
    writer.reopen();
    eventually(|| folder.log().exists());
    log(&writer, "/after");
    drop(writer);
    assert_eq!(read(&rotated), line("/before") + "\n");
    assert_eq!(read(&folder.log()), line("/after") + "\n");
}

#[test]
fn where_it_cannot_be_reopened_the_old_file_goes_on() {
    let folder = Folder::new("gone");
    let (inner, kept) = (folder.0.join("inner"), folder.0.join("kept"));
    std::fs::create_dir(&inner).unwrap();
    let writer = open(&inner.join("access.log"));
    std::fs::rename(&inner, &kept).unwrap();
    writer.reopen();
    log(&writer, "/a");
    drop(writer);
    assert_eq!(read(&kept.join("access.log")), line("/a") + "\n");
}

#[test]
fn a_log_that_is_stuck_costs_lines_and_bounded_memory() {
    let (release, released) = mpsc::channel();
    let out = Arc::default();
    let writer = start(Stuck { release: released, out: Arc::clone(&out) });
    let mut count = 0;
    while writer.lost() < 100 {
        log(&writer, "/a");
        count += 1;
        assert!(lock(&writer.buffer).len() <= CAPACITY + 128);
        assert!(count < 10 * CAPACITY / line("/a").len(), "memory is not bounded");
    }
    let lost = writer.lost();
    drop(release);
    drop(writer);

    let out = String::from_utf8(std::mem::take(&mut *lock(&out))).unwrap();
    assert!(out.lines().all(|found| found == line("/a")));
    assert_eq!(out.lines().count() as u64, count as u64 - lost);
}

#[test]
fn a_log_that_stays_stuck_does_not_hold_up_the_end() {
    let (_release, released) = mpsc::channel();
    let writer = start(Stuck { release: released, out: Arc::default() });
    log(&writer, "/a");
    let start = Instant::now();
    drop(writer);
    assert!(start.elapsed() < 2 * PATIENCE);
}

#[test]
fn lines_lost_to_an_error_are_counted_and_a_torn_one_is_ended() {
    let (fail, failures) = mpsc::channel();
    let out = Arc::default();
    let writer = start(Scripted { failures, out: Arc::clone(&out), failing: false });
    let whole = line("/1").len() + 1;
    fail.send(whole + 5).unwrap();
    {
        let _in_one_write = lock(&writer.shared.buffers);
        ["/1", "/2", "/3"].iter().for_each(|target| log(&writer, target));
    }
    eventually(|| writer.lost() == 2);
    log(&writer, "/4");
    eventually(|| lock(&out).ends_with(b"\n"));
    fail.send(0).unwrap();
    log(&writer, "/5");
    eventually(|| writer.lost() == 3);
    log(&writer, "/6");
    drop(writer);

    let out = String::from_utf8(std::mem::take(&mut *lock(&out))).unwrap();
    let lines: Vec<_> = out.lines().map(str::to_owned).collect();
    assert_eq!(lines, [line("/1"), line("/2")[..5].to_owned(), line("/4"), line("/6")]);
}

#[test]
fn a_log_that_cannot_be_opened_is_an_error_that_names_it() {
    let settings = AccessLog { path: Some("/dev/null/access.log".into()), format: LogFormat::Json };
    let error = Writer::open(&settings).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("cannot open the access log /dev/null/access.log: "), "{text}");
    assert!(error.source().is_some());
}
