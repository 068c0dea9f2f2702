//! Sizes and times as people and nginx write them: `64k`, `1M`, `2g`; `500ms`, `30s`, `5m`, `1h`, `1d`; a bare number counts
//! bytes or seconds.

use std::time::Duration;

/// Parses a size in bytes.
pub fn parse_size(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a size such as 4096, 64k, 1M or 2g";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(EXPECTED.into()),
    };
    let count: u64 = digits.parse().map_err(|_| EXPECTED)?;
    count.checked_mul(1 << shift).ok_or_else(|| "the size is too large".into())
}

/// Parses a span of time.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a time such as 500ms, 30s, 5m or 1h";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let millis = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(EXPECTED.into()),
    };
    let count: u64 = digits.parse().map_err(|_| EXPECTED)?;
    // A century is as good as forever, and no sum with it overflows.
    const LONGEST: u64 = 100 * 365 * 86_400_000;
    match count.checked_mul(millis) {
        Some(span) if span <= LONGEST => Ok(Duration::from_millis(span)),
        _ => Err("the time is too long".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("0"), Ok(0));
        assert_eq!(parse_size("64k"), Ok(64 << 10));
        assert_eq!(parse_size("1M"), Ok(1 << 20));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        for bad in ["", "k", "-1", "1.5M", "1 M", "1T", "é", "99999999999G"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_time("30"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_time("5m"), Ok(Duration::from_secs(300)));
        for bad in ["", "s", "-1s", "1w", "1.5s", "99999999999999999999s", "9999999999999999h"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
