//! access_log.
