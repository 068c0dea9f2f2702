//! The path of a request, decoded once, as a name beneath the root.
//!
//! ```text
//!  /a//b/./%63/../d.html   ->   a/b/d.html
//! ```
//!
//! A segment is split off at a literal `/`, then decoded, then judged: what decodes to `.` or `..` is a dot
//! segment (RFC 3986 §5.2.4, WHATWG URL), and what decodes to a byte that no name beneath the root can have
//! is refused. Nothing is decoded twice, so `%252e` is the name `%2e`. Slashes in a row are one, as with
//! nginx's `merge_slashes`. A path that climbs above the root is refused, where RFC 3986 would ignore the
//! excess: only attacks send it.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use http::StatusCode;
use percent_encoding::{AsciiSet, CONTROLS, PercentEncode, percent_encode};

/// Longest file name that Linux file systems have (`NAME_MAX`).
const NAME_MAX: usize = 255;
/// Longest path that a system call takes (`PATH_MAX`, less the terminating zero).
const PATH_MAX: usize = 4095;

/// What `pchar` and `/` of RFC 3986 §3.3 leave out, `%` included.
const NOT_IN_PATH: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A name beneath the root: no dot segment, no empty segment, no zero byte, neither slash at an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SafePath {
    name: Vec<u8>,
    directory: bool,
}

impl SafePath {
    /// Decodes and normalises `uri_path`, which is as `http::Uri::path` has it: absolute and still
    /// percent-encoded.
    ///
    /// Segments that begin with a dot are refused unless `dotfiles`; `.well-known` as the first is not (RFC
    /// 8615).
    pub(super) fn parse(uri_path: &str, dotfiles: bool) -> Result<Self, PathError> {
        let segments = uri_path.strip_prefix('/').ok_or(PathError::NotAbsolute)?;
        // No need to decode what is too long even if every byte of it is written as three.
        if segments.len() > 3 * PATH_MAX {
            return Err(PathError::TooLong);
        }
        let mut name = Vec::with_capacity(segments.len());
        let mut directory = true;
        for segment in segments.split('/') {
            directory = push_segment(&mut name, segment.as_bytes())?;
        }
        if name.len() > PATH_MAX {
            return Err(PathError::TooLong);
        }
        if !dotfiles && has_dotfile(&name) {
            return Err(PathError::Hidden);
        }
        Ok(Self { name, directory })
    }

    /// The name relative to the root; empty for the root itself.
    pub(super) fn name(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.name))
    }

    /// Whether the path ends in a slash or a dot segment, and so can only name a directory.
    pub(super) fn is_directory(&self) -> bool {
        self.directory
    }

    /// The one spelling of this path: absolute, percent-encoded, and never with two slashes at its start.
    pub(super) fn to_uri(&self) -> String {
        let slash = if self.directory && !self.name.is_empty() { "/" } else { "" };
        format!("/{}{slash}", encode(&self.name))
    }
}

/// Percent-encodes a name for use in the path of a URI; slashes stay.
pub(super) fn encode(name: &[u8]) -> PercentEncode<'_> {
    percent_encode(name, &NOT_IN_PATH)
}

/// Appends a decoded segment, or follows it where it is a dot segment. Returns whether what is named now is a
/// directory.
fn push_segment(name: &mut Vec<u8>, segment: &[u8]) -> Result<bool, PathError> {
    let parent = name.len();
    if parent != 0 {
        name.push(b'/');
    }
    let start = name.len();
    decode_into(name, segment)?;
    match &name[start..] {
        b"" | b"." => {
            name.truncate(parent);
            Ok(true)
        }
        b".." => {
            if parent == 0 {
                return Err(PathError::AboveRoot);
            }
            let grandparent = name[..parent].iter().rposition(|&byte| byte == b'/');
            name.truncate(grandparent.unwrap_or(0));
            Ok(true)
        }
        decoded if decoded.len() > NAME_MAX => Err(PathError::TooLong),
        _ => Ok(false),
    }
}

fn decode_into(name: &mut Vec<u8>, segment: &[u8]) -> Result<(), PathError> {
    let mut rest = segment.iter();
    while let Some(&byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let high = rest.next().and_then(|&digit| hex_value(digit));
                let low = rest.next().and_then(|&digit| hex_value(digit));
                high.zip(low).map(|(high, low)| high << 4 | low).ok_or(PathError::BadEscape)?
            }
            plain => plain,
        };
        // A backslash is a legal byte of a name, but to too many programs it is a separator.
        if matches!(byte, 0 | b'/' | b'\\') {
            return Err(PathError::ForbiddenByte(byte));
        }
        name.push(byte);
    }
    Ok(())
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

fn has_dotfile(name: &[u8]) -> bool {
    let mut segments = name.split(|&byte| byte == b'/');
    let first = segments.next().unwrap_or_default();
    (first.starts_with(b".") && first != b".well-known") || segments.any(|segment| segment.starts_with(b"."))
}

/// Why a path is not looked up at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    /// It does not begin with a slash (`OPTIONS *`, `CONNECT`).
    NotAbsolute,
    /// A `%` without two hexadecimal digits after it.
    BadEscape,
    /// An encoded slash or zero byte, or a backslash in either spelling.
    ForbiddenByte(u8),
    /// More `..` than there are segments before them.
    AboveRoot,
    /// A segment that begins with a dot.
    Hidden,
    /// Longer than any name that a file can have.
    TooLong,
}

impl PathError {
    /// The status that this path deserves. A hidden name is answered as if it did not exist.
    pub fn status(self) -> StatusCode {
        match self {
            Self::NotAbsolute | Self::BadEscape | Self::ForbiddenByte(_) | Self::AboveRoot => {
                StatusCode::BAD_REQUEST
            }
            Self::Hidden | Self::TooLong => StatusCode::NOT_FOUND,
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAbsolute => f.write_str("the path does not begin with a slash"),
            Self::BadEscape => f.write_str("a percent sign is not followed by two hexadecimal digits"),
            Self::ForbiddenByte(byte) => {
                write!(f, "the path has the byte {byte:#04x}, which no name may have")
            }
            Self::AboveRoot => f.write_str("the path climbs above the root"),
            Self::Hidden => f.write_str("a name in the path begins with a dot"),
            Self::TooLong => f.write_str("the path is longer than any file name"),
        }
    }
}

impl std::error::Error for PathError {}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    fn name(uri_path: &str) -> Result<String, PathError> {
        SafePath::parse(uri_path, false).map(|path| path.name().to_str().unwrap().to_owned())
    }

    #[test]
    fn decodes_exactly_once() {
        assert_eq!(name("/a%20b%25.png").unwrap(), "a b%.png");
        assert_eq!(name("/50%25.png").unwrap(), "50%.png");
        assert_eq!(name("/%252e%252e/%252f").unwrap(), "%2e%2e/%2f");
        assert_eq!(name("/%41%6a%6A").unwrap(), "Ajj");
    }

    #[test]
    fn bytes_that_are_not_utf8_stay() {
        let path = SafePath::parse("/%ff%FE.txt", false).unwrap();
        assert_eq!(path.name().as_os_str().as_bytes(), b"\xff\xfe.txt");
        assert_eq!(path.to_uri(), "/%FF%FE.txt");
    }

    #[test]
    fn dot_segments_are_followed_in_any_spelling() {
        for spelling in
            ["/a/./b/../c", "/a/%2e/b/%2e%2E/c", "/a/b/.%2e/c", "/a//c", "///a/////c", "/x/../a/c"]
        {
            assert_eq!(name(spelling).unwrap(), "a/c", "{spelling}");
        }
        assert_eq!(name("/a/..").unwrap(), "");
        assert_eq!(name("/").unwrap(), "");
    }

    #[test]
    fn a_path_never_climbs_above_the_root() {
        for path in
            ["/..", "/../", "/../etc/passwd", "/a/../../b", "/%2e%2e/x", "/.%2e/x", "//../x", "/./../x"]
        {
            assert_eq!(name(path), Err(PathError::AboveRoot), "{path}");
        }
    }

    #[test]
    fn forbidden_bytes_and_bad_escapes_are_bad_requests() {
        let cases = [
            ("/a%00.html", PathError::ForbiddenByte(0)),
            ("/a%2fb", PathError::ForbiddenByte(b'/')),
            ("/..%2F..%2fetc", PathError::ForbiddenByte(b'/')),
            ("/..%5c..%5Cetc", PathError::ForbiddenByte(b'\\')),
            ("/..\\etc", PathError::ForbiddenByte(b'\\')),
            ("/%zz", PathError::BadEscape),
            ("/%", PathError::BadEscape),
            ("/%4", PathError::BadEscape),
            ("/%+1", PathError::BadEscape),
            ("*", PathError::NotAbsolute),
            ("", PathError::NotAbsolute),
        ];
        for (path, error) in cases {
            assert_eq!(name(path), Err(error), "{path}");
            assert_eq!(error.status(), StatusCode::BAD_REQUEST, "{path}");
        }
    }

    #[test]
    fn dotfiles_are_hidden_but_for_well_known() {
        for path in
            ["/.env", "/.git/config", "/a/.b", "/%2eenv", "/a/.well-known/x", "/.well-known/.x", "/..."]
        {
            assert_eq!(name(path), Err(PathError::Hidden), "{path}");
            assert!(SafePath::parse(path, true).is_ok(), "{path}");
        }
        assert_eq!(name("/.well-known/security.txt").unwrap(), ".well-known/security.txt");
        assert_eq!(name("/.git/../a").unwrap(), "a");
        assert_eq!(PathError::Hidden.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn names_too_long_for_any_file_are_not_found() {
        assert!(name(&format!("/{}", "a".repeat(NAME_MAX))).is_ok());
        assert_eq!(name(&format!("/{}", "a".repeat(NAME_MAX + 1))), Err(PathError::TooLong));
        assert_eq!(name(&"/abc".repeat(1024)).unwrap().len(), PATH_MAX);
        assert_eq!(name(&("/abc".repeat(1024) + "/x")), Err(PathError::TooLong));
        assert_eq!(name(&"/%61".repeat(100_000)), Err(PathError::TooLong));
        assert_eq!(PathError::TooLong.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn only_an_end_in_a_slash_or_dots_is_a_directory() {
        for (path, directory) in
            [("/", true), ("/a", false), ("/a/", true), ("/a/.", true), ("/a/b/..", true), ("/a/..b", false)]
        {
            assert_eq!(SafePath::parse(path, true).unwrap().is_directory(), directory, "{path}");
        }
    }

    #[test]
    fn the_one_spelling_never_names_a_host() {
        for (path, uri) in [
            ("//evil.example/", "/evil.example/"),
            ("/a/..//evil.example/", "/evil.example/"),
            ("/a b", "/a%20b"),
            ("/%0d%0aSet-Cookie:%20x", "/%0D%0ASet-Cookie:%20x"),
            ("/a/..", "/"),
        ] {
            assert_eq!(SafePath::parse(path, false).unwrap().to_uri(), uri, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_accepted_path_is_plain_names_below_the_root(path in "/([.%/a25fFcCeE\\\\]|%2e|%2f|%00|\\PC){0,40}") {
            let Ok(parsed) = SafePath::parse(&path, true) else { return Ok(()) };
            prop_assert!(parsed.name().components().all(|part| matches!(part, Component::Normal(_))));
            let bytes = parsed.name().as_os_str().as_bytes();
            prop_assert!(!bytes.starts_with(b"/") && !bytes.ends_with(b"/"));
            prop_assert!(!bytes.windows(2).any(|pair| pair == b"//"));
            prop_assert!(!bytes.iter().any(|byte| matches!(byte, 0 | b'\\')));
        }

        #[test]
        fn the_one_spelling_is_a_fixed_point(path in "/([./a]|%2e|%25|%ff|\\PC){0,40}") {
            let Ok(parsed) = SafePath::parse(&path, true) else { return Ok(()) };
            let uri = parsed.to_uri();
            prop_assert!(uri.is_ascii() && !uri.starts_with("//"));
            prop_assert_eq!(SafePath::parse(&uri, true).unwrap(), parsed);
        }

        #[test]
        fn every_name_a_file_can_have_is_reachable(name in proptest::collection::vec(1_u8.., 1..=NAME_MAX)) {
            prop_assume!(!name.iter().any(|byte| matches!(byte, b'/' | b'\\')));
            prop_assume!(name != b"." && name != b"..");
            let uri = format!("/{}", encode(&name));
            let parsed = SafePath::parse(&uri, true).unwrap();
            prop_assert_eq!(parsed.name().as_os_str().as_bytes(), &name[..]);
        }
    }
}
