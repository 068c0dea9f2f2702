//! Helpers of the tests.

use std::fs::{File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

/// Runs `test` as a user that has no special rights; the tests themselves may run as root.
pub(super) fn as_nobody(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if geteuid().is_root() {
                let nobody = Uid::from_raw(65534);
                set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            test();
        });
        thread.join().unwrap();
    });
}

/// Sets the modification time of a file to `age` ago.
pub(super) fn set_age(path: &Path, age: Duration) {
    let times = FileTimes::new().set_modified(SystemTime::now() - age);
    File::options().write(true).open(path).unwrap().set_times(times).unwrap();
}

/// Writes a file that was last changed an hour ago.
pub(super) fn write_old(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).unwrap();
    set_age(path, Duration::from_secs(3600));
}
