//! From the request target to a file, never out of the root.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::common::{Server, Site, text};

/// A root with a secret beside it and one in a folder whose name begins with the root's.
fn site() -> Site {
    let site = Site::new()
        .with("page.html", text(600))
        .with("docs/index.html", "the docs")
        .with("plain/file.txt", "a file")
        .with(".hidden", "secret")
        .with(".git/config", "secret")
        .with(".well-known/security.txt", "contact");
    fs::write(site.outside().join("secret"), "secret").expect("write");
    fs::create_dir(site.outside().join("www-secret")).expect("a folder");
    fs::write(site.outside().join("www-secret/file"), "secret").expect("write");
    site
}

#[test]
fn nothing_outside_the_root_is_reachable() {
    let site = site();
    let server = Server::start(&site, &[]);
    let targets = [
        "/../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/%2e%2e%2fsecret",
        "/docs/../../secret",
        "/..%5csecret",
        "/docs/..%2f..%2fsecret",
        "/%252e%252e/secret",
        "/%252e%252e%252fsecret",
        "/../www-secret/file",
        "/..%2fwww-secret%2ffile",
        "/....//secret",
        "/./../secret",
        "/docs/%2e%2e/%2e%2e/secret",
        "//../secret",
        "/secret%00",
        "/%00/secret",
        "/page.html%00.png",
        "/..;/secret",
        "/%c0%ae%c0%ae/secret",
        "/..%00/secret",
        "/.../secret",
        "/docs/..%5c..%5csecret",
        "/%2e./secret",
        "/.%2e/secret",
        "/proc/self/environ",
    ];
    for target in targets {
        let reply = server.get(target, &[]).rule("contained beneath the root");
        reply.status_in(&[400, 403, 404]);
        reply.that(!reply.body.windows(6).any(|six| six == b"secret"), "the secret is out");
    }
    server.still_serves("/page.html", "hostile paths");
}

#[test]
fn names_are_decoded_once() {
    let site = site()
        .with("50%.png", "fifty")
        .with("50%25.png", "wrong")
        .with("a b+c.txt", "space and plus")
        .with("naïve.txt", "UTF-8")
        .with("q?.txt", "question")
        .with("a;b.txt", "semicolon");
    let server = Server::start(&site, &[]);
    let cases = [
        ("/50%25.png", "fifty", "50%25.png names 50%.png"),
        ("/a%20b+c.txt", "space and plus", "a plus is a plus"),
        ("/na%C3%AFve.txt", "UTF-8", "UTF-8 in percent-encoding"),
        ("/q%3f.txt", "question", "an encoded question mark belongs to the name"),
        ("/a;b.txt", "semicolon", "a semicolon belongs to the name"),
        ("/a%3bb.txt", "semicolon", "an encoded semicolon too"),
        ("/plain/file.txt?x=/../../y", "a file", "the query is no part of the path"),
        ("/plain/./file.txt", "a file", "a single dot is nothing"),
        ("/docs/../plain/file.txt", "a file", "dots that stay within the root are resolved"),
    ];
    for (target, content, rule) in cases {
        server.get(target, &[]).rule(rule).status(200).body(content);
    }
    for target in ["/50%.png", "/50%2", "/%zz"] {
        server.get(target, &[]).rule("a broken percent escape is no name").status_in(&[400, 404]);
    }
}

#[test]
fn names_that_are_not_utf_8_are_reachable() {
    let site = site();
    fs::write(site.root().join(OsStr::from_bytes(b"caf\xe9.txt")), "latin").expect("write");
    let server = Server::start(&site, &[]);
    server.get("/caf%e9.txt", &[]).rule("a name is bytes").status(200).body("latin");
}

#[test]
fn the_target_may_be_absolute() {
    let site = site();
    let server = Server::start(&site, &[]);
    let reply = server.get("http://elsewhere.example/plain/file.txt", &[]);
    reply.rule("RFC 9112 §3.2.2: absolute form is accepted").status(200).body("a file");
}

#[test]
fn dotfiles_are_refused_unless_switched_on() {
    let site = site();
    let server = Server::start(&site, &[]);
    for target in ["/.hidden", "/.git/config", "/%2ehidden", "/.git/", "/.git"] {
        server.get(target, &[]).rule("dotfiles are refused by default").status_in(&[403, 404]);
    }
    let reply = server.get("/.well-known/security.txt", &[]);
    reply.rule(".well-known is not refused").status(200).body("contact");
    let server = Server::start(&site, &["--dotfiles"]);
    server.get("/.git/config", &[]).rule("--dotfiles serves them").status(200).body("secret");
}

#[test]
fn symlinks_stay_in_the_root_unless_switched_on() {
    let site = site();
    symlink(site.outside().join("secret"), site.path("absolute")).expect("a link");
    symlink("../secret", site.path("relative")).expect("a link");
    symlink(site.outside(), site.path("folder")).expect("a link");
    symlink("plain/file.txt", site.path("inside")).expect("a link");
    symlink("loop", site.path("loop")).expect("a link");
    let server = Server::start(&site, &[]);
    for target in ["/absolute", "/relative", "/folder/secret", "/folder/www-secret/file"] {
        let reply = server.get(target, &[]).rule("symbolic links out of the root are refused by default");
        reply.status_in(&[403, 404]).that(reply.body != b"secret", "the secret is out");
    }
    server.get("/inside", &[]).rule("a link within the root is followed").status(200).body("a file");
    server.get("/loop", &[]).rule("a link to itself names nothing").status_in(&[403, 404]);
    let server = Server::start(&site, &["--follow-symlinks"]);
    for target in ["/absolute", "/relative", "/folder/secret"] {
        server.get(target, &[]).rule("--follow-symlinks serves them").status(200).body("secret");
    }
}

#[test]
fn only_regular_files_are_served() {
    let site = site();
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, site.path("pipe.txt"), rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe");
    let server = Server::start(&site, &[]);
    server.get("/pipe.txt", &[]).rule("a pipe is not opened, and nothing hangs").status_in(&[403, 404]);
    server.get("/page.html/", &[]).rule("a file is no directory").status(404);
    server.get("/page.html/more", &[]).rule("a file is no directory").status(404);
    server.get(&format!("/{}", "x".repeat(300)), &[]).rule("a name too long for the disk").status(404);
}

#[test]
fn a_directory_without_a_slash_redirects() {
    let site = site();
    for name in ["evil.example", "\\evil.example", "a b", "100%"] {
        fs::create_dir(site.path(name)).expect("a folder");
        site.write(&format!("{name}/index.html"), "here");
    }
    let server = Server::start(&site, &[]);
    let cases = [
        ("/docs", "/docs/", "the slash is added"),
        ("/docs?a=b&c=%20", "/docs/?a=b&c=%20", "the query is kept"),
        ("/a%20b", "/a%20b/", "the name stays encoded"),
        ("/100%25", "/100%25/", "the name stays encoded"),
    ];
    for (target, location, rule) in cases {
        let reply = server.get(target, &[]).rule(rule);
        reply.status_in(&[301, 308]).has("location", location);
    }
    for target in [
        "//evil.example",
        "/%5cevil.example",
        "///evil.example",
        "/.//evil.example",
        "/docs/..//evil.example",
    ] {
        let reply = server.get(target, &[]).rule("Location never leads to another host");
        let location = reply.get("location").unwrap_or("/");
        let open = location.starts_with("//") || location.starts_with("/\\") || !location.starts_with('/');
        reply.that(!open, "an open redirect");
    }
}

#[test]
fn index_files_are_tried_in_order() {
    let site = site().with("both/home.htm", "home").with("both/index.html", "index");
    let server = Server::start(&site, &[]);
    server.get("/docs/", &[]).rule("index.html by default").status(200).body("the docs");
    server.get("/plain/", &[]).rule("no index and no listing").status_in(&[403, 404]);
    let server = Server::start(&site, &["--index", "home.htm,index.html"]);
    server.get("/both/", &[]).rule("the first that exists").status(200).body("home");
    server.get("/docs/", &[]).rule("the next where the first is missing").status(200).body("the docs");
}

#[test]
fn a_listing_escapes_names() {
    let site =
        site().with("list/<b>&\"'.txt", "odd").with("list/a b.txt", "space").with("list/.hidden", "secret");
    fs::create_dir(site.path("list/sub")).expect("a folder");
    let server = Server::start(&site, &["--listing"]);
    let reply = server.get("/list/", &[]).rule("a listing names each entry, escaped");
    reply.status(200).that(reply.field("content-type").starts_with("text/html"), "not a page");
    let page = String::from_utf8_lossy(&reply.body);
    reply.that(page.contains("a%20b.txt"), "links are percent-encoded");
    reply.that(page.contains("sub/"), "folders end in a slash");
    reply.that(!page.contains("<b>"), "a name is not markup");
    reply.that(!page.contains(".hidden"), "dotfiles are not listed");
    server.get("/docs/", &[]).rule("an index beats the listing").status(200).body("the docs");
    server.get("/list/%3Cb%3E&%22'.txt", &[]).rule("odd names are reachable").status(200).body("odd");
}

#[test]
fn a_fallback_answers_what_names_nothing() {
    let site = site().with("app.html", "the app");
    let server = Server::start(&site, &["--fallback", "app.html"]);
    for target in ["/some/route", "/nowhere", "/a/b/c?d"] {
        let reply = server.get(target, &[]).rule("the fallback answers every path that names nothing");
        reply.status(200).body("the app");
        reply.that(reply.field("content-type").starts_with("text/html"), "the fallback's type is its own");
    }
    server.get("/plain/file.txt", &[]).rule("what exists is served").status(200).body("a file");
    let hidden = server.get("/.hidden", &[]).rule("a fallback opens no dotfile");
    hidden.that(hidden.body != b"secret", "the secret is out");
}

#[test]
fn error_pages_are_the_site_s_own() {
    let site = site().with("oops.html", "oops, nothing here");
    let server = Server::start(&site, &["--error-page", "404=oops.html"]);
    let reply = server.get("/nowhere", &[]).rule("--error-page 404=FILE");
    reply.status(404).body("oops, nothing here").has("content-type", "text/html; charset=utf-8");
    let reply = server.get("/nowhere", &["Range: bytes=0-0", "If-None-Match: *"]);
    reply.rule("an error is neither cut nor revalidated").status(404).body("oops, nothing here");
}

#[test]
fn an_unreadable_file_is_403() {
    let site = site();
    if rustix::process::geteuid().is_root() {
        println!("skipped: root reads every file");
        return;
    }
    let path = site.write("locked.txt", "secret");
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).expect("permissions");
    let server = Server::start(&site, &[]);
    server.get("/locked.txt", &[]).rule("a file that may not be read").status(403);
}
