//! Media types of files, by their names.
//!
//! The table is that of the `mime_guess` crate, with corrections where a registration has become current since, where
//! browsers need another type, or where the crate knows none. No type of a usual file costs an allocation.

use std::path::Path;

use http::HeaderValue;

use crate::encode::Coding;

/// What is not known is not guessed at: browsers then offer it as a download.
const UNKNOWN: &str = "application/octet-stream";

/// `Content-Type` of a file; `charset` becomes a parameter where the type takes one.
pub fn content_type(path: &Path, charset: Option<&str>) -> HeaderValue {
    let essence = essence(path);
    match charset {
        Some(charset) if takes_charset(essence) => with_charset(essence, charset),
        _ => HeaderValue::from_static(essence),
    }
}

/// The coding that files of this name are stored in and sent with, since their type is that of what is inside.
///
/// That is gzip for `.svgz` alone. A `.tar.gz` is a gzip file to whoever asks for it by that name.
pub fn inherent_coding(path: &Path) -> Option<Coding> {
    extension(path)?.eq_ignore_ascii_case("svgz").then_some(Coding::Gzip)
}

fn essence(path: &Path) -> &'static str {
    let Some(extension) = extension(path) else {
        return path.file_name().and_then(|name| of_bare_name(name.to_str()?)).unwrap_or(UNKNOWN);
    };
    correction(extension).or_else(|| mime_guess::from_ext(extension).first_raw()).unwrap_or(UNKNOWN)
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

/// Files that are known by name; anything else without an extension is not looked into.
fn of_bare_name(name: &str) -> Option<&'static str> {
    const TEXTS: [&str; 13] = [
        "AUTHORS",
        "CHANGELOG",
        "CNAME",
        "CONTRIBUTING",
        "COPYING",
        "Containerfile",
        "Dockerfile",
        "LICENCE",
        "LICENSE",
        "Makefile",
        "NOTICE",
        "README",
        "VERSION",
    ];
    match name {
        // Apple fetches this from `.well-known` and wants this type.
        "apple-app-site-association" => Some("application/json"),
        name => TEXTS.contains(&name).then_some("text/plain"),
    }
}

/// Types other than those of `mime_guess`, by the extension in any case.
fn correction(extension: &str) -> Option<&'static str> {
    const LONGEST: usize = 11;
    let mut lower = [0; LONGEST];
    let lower = lower.get_mut(..extension.len())?;
    lower.copy_from_slice(extension.as_bytes());
    lower.make_ascii_lowercase();

    Some(match &*lower {
        // RFC 9239: this one, for scripts and modules alike.
        b"js" | b"mjs" | b"cjs" => "text/javascript",
        b"map" | b"har" | b"topojson" => "application/json",
        b"jsonl" => "application/jsonl",
        b"ndjson" => "application/x-ndjson",
        b"jsonld" => "application/ld+json",
        b"geojson" => "application/geo+json",
        b"ipynb" => "application/x-ipynb+json",
        b"webmanifest" => "application/manifest+json",
        b"yaml" | b"yml" => "application/yaml",
        b"toml" => "application/toml",
        b"sql" => "application/sql",
        b"md" | b"markdown" => "text/markdown",
        b"vcf" => "text/vcard",
        b"env" | b"glsl" | b"go" | b"java" | b"kt" | b"lock" | b"nix" | b"proto" | b"swift" | b"tsx"
        | b"vue" | b"wat" | b"wgsl" | b"zig" => "text/plain",

        b"wasm" => "application/wasm",
        b"woff" => "font/woff",
        b"woff2" => "font/woff2",
        b"ttf" => "font/ttf",
        b"otf" => "font/otf",

        b"avif" | b"avifs" => "image/avif",
        b"heic" => "image/heic",
        b"jxl" => "image/jxl",
        b"psd" => "image/vnd.adobe.photoshop",
        b"svg" | b"svgz" => "image/svg+xml",
        b"webp" => "image/webp",

        b"m4a" => "audio/mp4",
        b"mka" => "audio/matroska",
        b"mkv" => "video/matroska",
        b"m3u8" => "application/vnd.apple.mpegurl",
        // Segments of HLS far more often than TypeScript, which no browser runs.
        b"ts" | b"m2ts" => "video/mp2t",

        b"glb" => "model/gltf-binary",
        b"obj" => "model/obj",
        b"stl" => "model/stl",
        b"usda" => "model/vnd.usda",
        b"usdz" => "model/vnd.usdz+zip",

        b"tgz" => "application/gzip",
        b"zst" => "application/zstd",
        b"rar" => "application/vnd.rar",
        b"deb" => "application/vnd.debian.binary-package",
        b"rpm" => "application/x-rpm",
        b"arrow" => "application/vnd.apache.arrow.file",
        b"cbor" => "application/cbor",
        b"pmtiles" => "application/vnd.pmtiles",
        _ => return None,
    })
}

/// Text, and what nginx adds a charset to by default. JSON has no such parameter, and is UTF-8 (RFC 8259 §8.1).
fn takes_charset(essence: &str) -> bool {
    essence.starts_with("text/") || matches!(essence, "application/javascript" | "application/rss+xml")
}

/// A charset that cannot stand in a field is left out.
fn with_charset(essence: &'static str, charset: &str) -> HeaderValue {
    if let Some(value) = in_utf8(essence).filter(|_| charset.eq_ignore_ascii_case("utf-8")) {
        return value;
    }
    HeaderValue::try_from(format!("{essence}; charset={charset}"))
        .unwrap_or_else(|_| HeaderValue::from_static(essence))
}

macro_rules! in_utf8 {
    ($($essence:literal),* $(,)?) => {
        /// The usual texts with the usual charset, ready to be sent.
        fn in_utf8(essence: &str) -> Option<HeaderValue> {
            match essence {
                $($essence => Some(HeaderValue::from_static(concat!($essence, "; charset=utf-8"))),)*
                _ => None,
            }
        }
    };
}

in_utf8!["text/html", "text/css", "text/javascript", "text/plain", "text/markdown", "text/xml", "text/csv"];

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        assert_eq!(content_type(Path::new(path), None), expected, "{path}");
    }

    #[test]
    fn types_of_the_web() {
        for (extension, expected) in [
            ("html", "text/html"),
            ("htm", "text/html"),
            ("css", "text/css"),
            ("js", "text/javascript"),
            ("mjs", "text/javascript"),
            ("json", "application/json"),
            ("map", "application/json"),
            ("jsonld", "application/ld+json"),
            ("geojson", "application/geo+json"),
            ("ndjson", "application/x-ndjson"),
            ("webmanifest", "application/manifest+json"),
            ("wasm", "application/wasm"),
            ("xml", "text/xml"),
            ("rss", "application/rss+xml"),
            ("atom", "application/atom+xml"),
            ("xhtml", "application/xhtml+xml"),
            ("txt", "text/plain"),
            ("md", "text/markdown"),
            ("csv", "text/csv"),
            ("vtt", "text/vtt"),
            ("yaml", "application/yaml"),
            ("toml", "application/toml"),
            ("pdf", "application/pdf"),
            ("bin", "application/octet-stream"),
        ] {
            check(&format!("dir.png/name.{extension}"), expected);
        }
    }

    #[test]
    fn types_of_pictures_fonts_and_media() {
        for (extension, expected) in [
            ("svg", "image/svg+xml"),
            ("svgz", "image/svg+xml"),
            ("png", "image/png"),
            ("jpg", "image/jpeg"),
            ("gif", "image/gif"),
            ("ico", "image/x-icon"),
            ("webp", "image/webp"),
            ("avif", "image/avif"),
            ("jxl", "image/jxl"),
            ("heic", "image/heic"),
            ("woff", "font/woff"),
            ("woff2", "font/woff2"),
            ("ttf", "font/ttf"),
            ("otf", "font/otf"),
            ("eot", "application/vnd.ms-fontobject"),
            ("mp4", "video/mp4"),
            ("webm", "video/webm"),
            ("mkv", "video/matroska"),
            ("mp3", "audio/mpeg"),
            ("m4a", "audio/mp4"),
            ("mka", "audio/matroska"),
            ("opus", "audio/ogg"),
            ("flac", "audio/flac"),
            ("m3u8", "application/vnd.apple.mpegurl"),
            ("ts", "video/mp2t"),
            ("glb", "model/gltf-binary"),
            ("usdz", "model/vnd.usdz+zip"),
        ] {
            check(&format!("name.{extension}"), expected);
        }
    }

    #[test]
    fn archives_are_what_their_last_extension_says() {
        check("x.tar.gz", "application/gzip");
        check("x.tgz", "application/gzip");
        check("x.html.gz", "application/gzip");
        check("x.tar.zst", "application/zstd");
        check("x.zip", "application/zip");
    }

    #[test]
    fn case_does_not_matter() {
        check("PHOTO.JPG", "image/jpeg");
        check("Index.HTML", "text/html");
        check("app.MJS", "text/javascript");
        assert_eq!(inherent_coding(Path::new("a.SvgZ")), Some(Coding::Gzip));
    }

    #[test]
    fn what_is_not_known_is_a_stream_of_octets() {
        for path in
            ["", "/", "hello", "name.", "name.unheardof", "a.averyverylongextension", ".html", "..", "name.é"]
        {
            check(path, "application/octet-stream");
        }
        let latin1 = Path::new(OsStr::from_bytes(b"caf\xe9.caf\xe9"));
        assert_eq!(content_type(latin1, None), "application/octet-stream");
    }

    #[test]
    fn a_name_that_is_not_utf_8_has_a_type_by_its_extension() {
        let latin1 = Path::new(OsStr::from_bytes(b"caf\xe9.html"));
        assert_eq!(content_type(latin1, None), "text/html");
    }

    #[test]
    fn files_known_by_name() {
        check("README", "text/plain");
        check("dir/LICENSE", "text/plain");
        check(".well-known/apple-app-site-association", "application/json");
    }

    #[test]
    fn text_has_a_charset_and_json_has_none() {
        let in_charset = |path, charset| content_type(Path::new(path), Some(charset));
        assert_eq!(in_charset("a.html", "utf-8"), "text/html; charset=utf-8");
        assert_eq!(in_charset("a.js", "UTF-8"), "text/javascript; charset=utf-8");
        assert_eq!(in_charset("a.vtt", "utf-8"), "text/vtt; charset=utf-8");
        assert_eq!(in_charset("a.rss", "utf-8"), "application/rss+xml; charset=utf-8");
        assert_eq!(in_charset("a.html", "koi8-r"), "text/html; charset=koi8-r");
        for (path, expected) in [
            ("a.json", "application/json"),
            ("a.svg", "image/svg+xml"),
            ("a.wasm", "application/wasm"),
            ("a.png", "image/png"),
            ("a", "application/octet-stream"),
        ] {
            assert_eq!(in_charset(path, "utf-8"), expected);
        }
    }

    #[test]
    fn a_charset_that_no_field_can_hold_is_left_out() {
        assert_eq!(content_type(Path::new("a.html"), Some("x\r\ny: z")), "text/html");
    }

    #[test]
    fn only_svgz_is_sent_as_what_is_inside() {
        assert_eq!(inherent_coding(Path::new("a.svgz")), Some(Coding::Gzip));
        for path in ["a.svg", "a.svg.gz", "a.tar.gz", "a.tgz", "svgz", ".svgz"] {
            assert_eq!(inherent_coding(Path::new(path)), None, "{path}");
        }
    }
}
