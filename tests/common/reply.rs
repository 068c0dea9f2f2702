//! One response, and assertions on it that name the rule they stand for.

use std::fmt::Write;

use super::decode;

/// One response as it was on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Fields in order, trailers last; names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    /// The body without its framing.
    pub(crate) body: Vec<u8>,
    pub(crate) framing: Framing,
    head: Vec<u8>,
    sent: Vec<u8>,
    rule: String,
}

/// How the end of a body is known (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(usize),
    Chunked,
    Close,
}

impl Reply {
    /// Parses a head, as strictly as RFC 9112 lets a server write it.
    #[track_caller]
    pub(crate) fn parse(head: &[u8], sent: &[u8]) -> Self {
        let shown = head.escape_ascii();
        // Latin-1, so that every byte of a field survives.
        let text: String = head.iter().map(|&byte| char::from(byte)).collect();
        let mut lines = text.trim_end_matches("\r\n").split("\r\n");
        let line = lines.next().unwrap_or_default();
        let status = line.strip_prefix("HTTP/1.1 ").or_else(|| line.strip_prefix("HTTP/1.0 "));
        let status = status.and_then(|rest| rest.get(..3)?.parse().ok());
        let mut reply = Self {
            status: status.unwrap_or_else(|| panic!("no status line: {shown}")),
            fields: Vec::new(),
            body: Vec::new(),
            framing: Framing::None,
            head: head.to_vec(),
            sent: sent.to_vec(),
            rule: String::new(),
        };
        lines.for_each(|line| reply.push_field(line.as_bytes()));
        reply
    }

    pub(crate) fn push_field(&mut self, line: &[u8]) {
        let text: String = line.iter().map(|&byte| char::from(byte)).collect();
        let (name, value) =
            text.split_once(':').unwrap_or_else(|| panic!("no field: {}", line.escape_ascii()));
        self.fields.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).to_owned()));
    }

    /// How the head says that the body ends; fails where it says two things at once.
    pub(crate) fn announced(&self, method: &str) -> Framing {
        let length = self.get("content-length").map(|value| {
            value.parse().unwrap_or_else(|_| panic!("Content-Length: {value}\n{}", self.head.escape_ascii()))
        });
        let chunked = self.get("transfer-encoding").is_some();
        let both = length.is_some() && chunked;
        assert!(!both, "Content-Length and Transfer-Encoding:\n{}", self.head.escape_ascii());
        match length {
            _ if method == "HEAD" || self.status < 200 || matches!(self.status, 204 | 304) => Framing::None,
            Some(length) => Framing::Length(length),
            None if chunked => Framing::Chunked,
            None => Framing::Close,
        }
    }

    /// Names the rule that the next assertions stand for.
    pub(crate) fn rule(mut self, rule: &str) -> Self {
        rule.clone_into(&mut self.rule);
        self
    }

    /// The value of a field, `None` where it is absent; fails where it is there twice.
    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let first = values.next();
        self.that(values.next().is_none(), &format!("{name} is there twice"));
        first
    }

    /// The value of a field that must be there.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> &str {
        match self.get(name) {
            Some(value) => value,
            None => self.fail(&format!("{name} is missing")),
        }
    }

    /// The status must be this one.
    #[track_caller]
    pub(crate) fn status(&self, expected: u16) -> &Self {
        self.that(self.status == expected, &format!("status {} where {expected} is right", self.status))
    }

    /// The status must be one of these.
    #[track_caller]
    pub(crate) fn status_in(&self, expected: &[u16]) -> &Self {
        self.that(
            expected.contains(&self.status),
            &format!("status {}, not one of {expected:?}", self.status),
        )
    }

    /// A field must have this value.
    #[track_caller]
    pub(crate) fn has(&self, name: &str, expected: &str) -> &Self {
        let value = self.get(name);
        self.that(value == Some(expected), &format!("{name} is {value:?} where {expected:?} is right"))
    }

    /// A field must be absent.
    #[track_caller]
    pub(crate) fn lacks(&self, name: &str) -> &Self {
        let value = self.get(name);
        self.that(value.is_none(), &format!("{name} is {value:?} where it must be absent"))
    }

    /// `Content-Encoding` must be this, or absent for identity.
    #[track_caller]
    pub(crate) fn coded(&self, expected: &str) -> &Self {
        let value = self.get("content-encoding").unwrap_or("identity");
        self.that(value == expected, &format!("coded in {value} where {expected} is right"))
    }

    /// `Vary` must list `Accept-Encoding` once.
    #[track_caller]
    pub(crate) fn varies(&self) -> &Self {
        let members: Vec<&str> = self.get("vary").unwrap_or_default().split(',').map(str::trim).collect();
        let count = members.iter().filter(|member| member.eq_ignore_ascii_case("accept-encoding")).count();
        self.that(count == 1, &format!("Vary {members:?} lists Accept-Encoding {count} times"))
    }

    /// The body on the wire must be this.
    #[track_caller]
    pub(crate) fn body(&self, expected: impl AsRef<[u8]>) -> &Self {
        self.same(&self.body, expected.as_ref(), "body")
    }

    /// The body must decode, with a strict decoder, to this.
    #[track_caller]
    pub(crate) fn decodes_to(&self, expected: impl AsRef<[u8]>) -> &Self {
        self.same(&self.decoded(), expected.as_ref(), "decoded body")
    }

    /// The body without its content coding.
    #[track_caller]
    pub(crate) fn decoded(&self) -> Vec<u8> {
        let coding = self.get("content-encoding").unwrap_or("identity");
        match decode(coding, &self.body) {
            Ok(body) => body,
            Err(error) => self.fail(&format!("the {coding} body is broken: {error}")),
        }
    }

    /// `holds` must hold; otherwise the test fails with the rule, the request and the response.
    #[track_caller]
    pub(crate) fn that(&self, holds: bool, otherwise: &str) -> &Self {
        if !holds {
            self.fail(otherwise);
        }
        self
    }

    /// Fails the test with the rule, the request and the response.
    #[track_caller]
    pub(crate) fn fail(&self, what: &str) -> ! {
        let mut message = String::from(what);
        if !self.rule.is_empty() {
            let _ = write!(message, "\nrule: {}", self.rule);
        }
        let _ = write!(message, "\nrequest:\n{}", shown(&self.sent));
        let _ = write!(message, "\nresponse:\n{}", shown(&self.head));
        let _ = write!(message, "body, {} bytes: {}", self.body.len(), shown(&self.body));
        panic!("{message}");
    }

    #[track_caller]
    fn same(&self, found: &[u8], expected: &[u8], what: &str) -> &Self {
        let at = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
        self.that(
            found == expected,
            &format!("{what}: {} bytes, expected {}, equal up to byte {at}", found.len(), expected.len()),
        )
    }
}

/// The first bytes in a form that shows every control character, line by line.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 1200;
    let mut text = bytes[..bytes.len().min(MOST)].escape_ascii().to_string().replace("\\n", "\\n\n  ");
    text.insert_str(0, "  ");
    if bytes.len() > MOST {
        text.push('…');
    }
    text
}
