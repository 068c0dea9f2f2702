//! Any path of a URI: the name beneath the root that RFC 3986 §5.2.4 makes of it, by segments on a stack; never one outside.
//!
//! The first byte chooses whether dotfiles may be named.

#![no_main]

use laneflate::source::PathError;
use laneflate::source::fuzzing::safe_path;
use libfuzzer_sys::fuzz_target;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

fuzz_target!(|data: &[u8]| {
    let [choice, uri_path @ ..] = data else { return };
    let Ok(uri_path) = str::from_utf8(uri_path) else { return };
    let dotfiles = choice % 2 == 1;
    let result = safe_path(uri_path, dotfiles);
    let expected = expected(uri_path, dotfiles);
    match &result {
        Ok(path) => {
            let bytes = path.name.as_os_str().as_bytes();
            assert_eq!(expected, Ok((bytes.to_vec(), path.directory)));
            assert!(path.name.components().all(|part| matches!(part, Component::Normal(_))));
            assert!(!bytes.contains(&0) && !bytes.contains(&b'\\'));
            assert!(Path::new("/root").join(&path.name).starts_with("/root"));
            // The one spelling names the same, has no other, and no host.
            assert!(path.uri.starts_with('/') && !path.uri.starts_with("//"));
            assert!(path.uri.bytes().all(|byte| byte.is_ascii_graphic()));
            assert_eq!(safe_path(&path.uri, dotfiles), result);
        }
        Err(error) => assert_eq!(expected, Err(*error)),
    }
});

fn expected(uri_path: &str, dotfiles: bool) -> Result<(Vec<u8>, bool), PathError> {
    let segments = uri_path.strip_prefix('/').ok_or(PathError::NotAbsolute)?;
    if segments.len() > 3 * 4095 {
        return Err(PathError::TooLong);
    }
    let (mut names, mut directory) = (Vec::new(), true);
    for segment in segments.split('/') {
        let name = decoded(segment)?;
        directory = matches!(&name[..], b"" | b"." | b"..");
        match &name[..] {
            b"" | b"." => {}
            b".." => drop(names.pop().ok_or(PathError::AboveRoot)?),
            _ if name.len() > 255 => return Err(PathError::TooLong),
            _ => names.push(name),
        }
    }
    let path = names.join(&b'/');
    if path.len() > 4095 {
        return Err(PathError::TooLong);
    }
    let shown = |(at, name): (usize, &Vec<u8>)| {
        !name.starts_with(b".") || dotfiles || (at == 0 && name == b".well-known")
    };
    if !names.iter().enumerate().all(shown) {
        return Err(PathError::Hidden);
    }
    Ok((path, directory))
}

fn decoded(segment: &str) -> Result<Vec<u8>, PathError> {
    let (mut name, mut rest) = (Vec::new(), segment.as_bytes());
    while let [first, after @ ..] = rest {
        let mut byte = *first;
        rest = after;
        if byte == b'%' {
            let digits = rest.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let digits = str::from_utf8(digits.ok_or(PathError::BadEscape)?).expect("ASCII");
            byte = u8::from_str_radix(digits, 16).expect("two digits");
            rest = &rest[2..];
        }
        if b"\0/\\".contains(&byte) {
            return Err(PathError::ForbiddenByte(byte));
        }
        name.push(byte);
    }
    Ok(name)
}
