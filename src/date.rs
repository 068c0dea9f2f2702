//! Dates of HTTP (RFC 9110 §5.6.7): whole seconds, formatted and read without a temporary string.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::HeaderValue;

/// The first second of the year 10000, which the format cannot express.
pub(crate) const END: u64 = 253_402_300_800;

/// Length of the preferred format.
const LEN: usize = 29;

/// A moment in whole seconds, as `Date`, `Last-Modified` and the conditional fields carry it.
///
/// The default is the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HttpDate {
    /// Seconds since the epoch, below [`END`].
    seconds: u64,
}

impl HttpDate {
    /// The second that `time` lies in; `None` outside the years 1970 to 9999, which a file's time may well be.
    pub fn new(time: SystemTime) -> Option<Self> {
        let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
        (seconds < END).then_some(Self { seconds })
    }

    /// Reads any of the three formats; `None` for what is not a valid date, which conditional requests then ignore.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let text = str::from_utf8(value).ok()?;
        Self::new(httpdate::parse_http_date(text).ok()?)
    }

    /// The preferred format, as a field value.
    pub fn header_value(self) -> HeaderValue {
        HeaderValue::from_bytes(&self.text()).expect("a date is ASCII")
    }

    /// The preferred format, `Sun, 06 Nov 1994 08:49:37 GMT`.
    pub fn text(self) -> [u8; LEN] {
        let mut text = [0; LEN];
        let date = httpdate::HttpDate::from(UNIX_EPOCH + Duration::from_secs(self.seconds));
        write!(&mut text[..], "{date}").expect("a date below END takes LEN bytes");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_three_formats_are_one_moment() {
        let expected = HttpDate::new(at(784_111_777));
        assert!(expected.is_some());
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(HttpDate::parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_preferred_format_is_written() {
        let written = |seconds| HttpDate::new(at(seconds)).unwrap().header_value();
        assert_eq!(written(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(written(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(written(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(written(END - 1), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    #[test]
    fn fractions_of_a_second_are_dropped() {
        let late = UNIX_EPOCH + Duration::new(784_111_777, 999_999_999);
        assert_eq!(HttpDate::new(late), HttpDate::new(at(784_111_777)));
    }

    #[test]
    fn times_that_the_format_cannot_express_have_no_date() {
        assert_eq!(HttpDate::new(at(END)), None);
        assert_eq!(HttpDate::new(UNIX_EPOCH - Duration::from_nanos(1)), None);
    }

    #[test]
    fn what_is_no_date_is_no_date() {
        for text in [
            "",
            "0",
            "yesterday",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT",
            "Sun, 06 Nov 1901 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(HttpDate::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(HttpDate::parse(b"Sun, 06 Nov 1994 08:49:37 GM\xff"), None);
    }
}
