//! The listing of a directory as a page of HTML.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use bytes::Bytes;
use rustix::fs::{AtFlags, Dir, FileType, Stat, fstat, statat};

use super::error::LookupError;
use super::file::Stamp;
use super::path::{SafePath, encode};
use super::root::{Opened, Root};
use crate::date::HttpDate;

/// Entries shown at most; each costs a system call while the worker waits.
const ENTRIES_MAX: usize = 2000;

const STYLE: &str = "\
    :root{color-scheme:light dark;font:16px/1.6 system-ui,sans-serif}\
    body{max-width:60rem;margin:2rem auto;padding:0 1rem}\
    h1{font-size:1.3rem;overflow-wrap:anywhere}\
    table{border-collapse:collapse;width:100%}\
    td,th{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #8884}\
    td:first-child{overflow-wrap:anywhere}\
    td+td,th+th{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}";

/// Lists `directory`, which `path` names. What a request for it would refuse is not shown.
pub(super) fn render(
    root: &Root,
    directory: &OwnedFd,
    path: &SafePath,
    dotfiles: bool,
) -> Result<Bytes, LookupError> {
    let mut entries = Vec::new();
    let mut is_complete = true;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if !is_shown(name, path, dotfiles) {
            continue;
        }
        if entries.len() == ENTRIES_MAX {
            is_complete = false;
            break;
        }
        entries.extend(Entry::look_at(root, directory, path, name));
    }
    entries.sort_unstable_by(|one, two| {
        (Reverse(one.is_directory), &one.name).cmp(&(Reverse(two.is_directory), &two.name))
    });
    let mut html = String::with_capacity(1024 + 160 * entries.len());
    write_page(&mut html, path, &entries, is_complete).expect("a String takes all that is written");
    Ok(html.into())
}

struct Entry {
    name: OsString,
    is_directory: bool,
    stamp: Stamp,
}

impl Entry {
    /// `None` for what is neither a file nor a directory, and for links that may not be followed.
    fn look_at(root: &Root, directory: &OwnedFd, path: &SafePath, name: &OsStr) -> Option<Self> {
        let mut stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            stat = follow(root, path, name)?;
        }
        let is_directory = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => true,
            FileType::RegularFile => false,
            _ => return None,
        };
        Some(Self { name: name.to_owned(), is_directory, stamp: Stamp::new(&stat) })
    }
}

fn follow(root: &Root, path: &SafePath, name: &OsStr) -> Option<Stat> {
    match root.open_name(&path.name().join(name)).ok()? {
        Opened::File(_, stat) => Some(stat),
        Opened::Directory(descriptor) => fstat(descriptor.as_fd()).ok(),
    }
}

/// Whether a request could name it.
fn is_shown(name: &OsStr, path: &SafePath, dotfiles: bool) -> bool {
    let name = name.as_bytes();
    let is_well_known = path.name().as_os_str().is_empty() && name == b".well-known";
    name != b"."
        && name != b".."
        && !name.contains(&b'\\')
        && (dotfiles || is_well_known || !name.starts_with(b"."))
}

fn write_page(html: &mut String, path: &SafePath, entries: &[Entry], is_complete: bool) -> fmt::Result {
    let shown = path.name().to_string_lossy();
    let title = Escaped(&shown);
    let slash = if shown.is_empty() { "" } else { "/" };
    write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Index of /{title}{slash}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>Index of /{title}{slash}</h1>\n\
         <table>\n<thead><tr><th>Name</th><th>Last changed (UTC)</th><th>Size</th></tr></thead>\n<tbody>\n"
    )?;
    if !shown.is_empty() {
        html.write_str("<tr><td><a href=\"../\">../</a></td><td></td><td></td></tr>\n")?;
    }
    for entry in entries {
        write_row(html, entry)?;
    }
    html.write_str("</tbody>\n</table>\n")?;
    if !is_complete {
        writeln!(html, "<p>Only {ENTRIES_MAX} entries are shown.</p>")?;
    }
    html.write_str("</body>\n</html>\n")
}

fn write_row(html: &mut String, entry: &Entry) -> fmt::Result {
    let href = encode(entry.name.as_bytes()).to_string();
    let name = entry.name.to_string_lossy();
    let slash = if entry.is_directory { "/" } else { "" };
    // "./" keeps a colon in the name from ending a scheme.
    write!(html, "<tr><td><a href=\"./{}{slash}\">{}{slash}</a></td>", Escaped(&href), Escaped(&name))?;
    // "Sun, 06 Nov 1994 08:49:37 GMT" without the day of the week, the seconds and the zone.
    let date = HttpDate::new(entry.stamp.modified()).unwrap_or_default().text();
    write!(html, "<td>{}</td>", String::from_utf8_lossy(&date[5..22]))?;
    if entry.is_directory {
        return html.write_str("<td></td></tr>\n");
    }
    writeln!(html, "<td>{}</td></tr>", Size(entry.stamp.len))
}

/// Text that has no meaning to HTML, in content and in quoted attributes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(['&', '<', '>', '"', '\'']) {
            let mut plain = part.chars();
            let entity = match plain.next_back() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                Some('>') => "&gt;",
                Some('"') => "&quot;",
                Some('\'') => "&#39;",
                _ => {
                    f.write_str(part)?;
                    continue;
                }
            };
            f.write_str(plain.as_str())?;
            f.write_str(entity)?;
        }
        Ok(())
    }
}

/// A length as people read it, in powers of 1024.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let unit = (self.0.max(1).ilog2() / 10) as usize;
        if unit == 0 {
            return write!(f, "{} B", self.0);
        }
        let value = self.0 as f64 / (1_u64 << (10 * unit)) as f64;
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn list(folder: &Path, uri_path: &str, dotfiles: bool) -> String {
        let root = Root::open(folder, false).unwrap();
        let path = SafePath::parse(uri_path, dotfiles).unwrap();
        let Opened::Directory(directory) = root.open_name(path.name()).unwrap() else {
            panic!("not a directory")
        };
        String::from_utf8(render(&root, &directory, &path, dotfiles).unwrap().into()).unwrap()
    }

    fn hrefs(html: &str) -> Vec<&str> {
        html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
    }

    #[test]
    fn directories_come_first_and_each_group_is_sorted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.txt", "a.txt", "C.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for name in ["z", "y"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        assert_eq!(
            hrefs(&list(folder.path(), "/", false)),
            ["./y/", "./z/", "./C.txt", "./a.txt", "./b.txt"]
        );
        assert_eq!(hrefs(&list(folder.path(), "/y/", false)), ["../"]);
    }

    #[test]
    fn names_are_escaped_in_html_and_encoded_in_links() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"<b>&\"'.txt"[..], b"a:b", b"50%25#?.txt", b"\xff.txt", b"back\\slash", b"caf\xc3\xa9"]
        {
            fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let html = list(folder.path(), "/", false);
        assert_eq!(
            hrefs(&html),
            ["./50%2525%23%3F.txt", "./%3Cb%3E&amp;%22&#39;.txt", "./a:b", "./caf%C3%A9", "./%FF.txt"]
        );
        assert!(html.contains(">&lt;b&gt;&amp;&quot;&#39;.txt</a>"), "{html}");
        assert!(html.contains(">café</a>") && html.contains(">\u{fffd}.txt</a>"), "{html}");
    }

    #[test]
    fn the_path_in_the_title_is_escaped() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("<script>")).unwrap();
        let html = list(folder.path(), "/%3Cscript%3E/", false);
        assert!(html.contains("<title>Index of /&lt;script&gt;/</title>"), "{html}");
        assert!(!html.contains("<script>"));
    }

    #[test]
    fn what_a_request_would_not_get_is_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let www = folder.path().join("www");
        fs::create_dir_all(www.join(".well-known")).unwrap();
        fs::write(folder.path().join("secret"), "").unwrap();
        fs::write(www.join("file"), "").unwrap();
        fs::write(www.join(".env"), "").unwrap();
        for (link, target) in
            [("in", "file"), ("out", "../secret"), ("dangling", "absent"), ("null", "/dev/null")]
        {
            symlink(target, www.join(link)).unwrap();
        }
        let socket = std::os::unix::net::UnixListener::bind(www.join("socket")).unwrap();
        assert_eq!(hrefs(&list(&www, "/", false)), ["./.well-known/", "./file", "./in"]);
        assert_eq!(hrefs(&list(&www, "/", true)), ["./.well-known/", "./.env", "./file", "./in"]);
        drop(socket);
    }

    #[test]
    fn times_and_sizes_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join("file")).unwrap();
        file.set_len(1536).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
        let html = list(folder.path(), "/", false);
        assert!(html.contains("<td>06 Nov 1994 08:49</td><td>1.5 KiB</td>"), "{html}");
        let sizes = [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (u64::MAX, "16.0 EiB")];
        for (len, text) in sizes {
            assert_eq!(Size(len).to_string(), text);
        }
    }

    #[test]
    fn a_directory_of_many_entries_is_cut_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..ENTRIES_MAX + 5 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let html = list(folder.path(), "/", false);
        assert_eq!(hrefs(&html).len(), ENTRIES_MAX);
        assert!(html.contains("Only 2000 entries are shown."));
    }
}
