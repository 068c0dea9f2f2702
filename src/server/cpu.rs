//! Binding of threads to CPUs.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs that the process may use, in order; none where the system does not say.
pub(super) fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// Binds the calling thread to `cpu`. Where that is refused the thread runs unbound, which is slower but not wrong.
pub(super) fn pin_current_thread(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    if let Err(error) = sched_setaffinity(None, &set) {
        tracing::debug!(cpu, %error, "a worker runs unbound");
    }
}
