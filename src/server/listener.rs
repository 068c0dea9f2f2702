//! Listening sockets, one for each worker and address.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

use crate::config::Workers;

/// An address that could not be listened on.
#[derive(Debug)]
pub struct ListenError {
    address: SocketAddr,
    source: io::Error,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, source } = self;
        match source.kind() {
            io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "{address} is taken by another program; stop it or choose another address with --listen"
                )
            }
            io::ErrorKind::AddrNotAvailable => write!(f, "{address} is not an address of this machine"),
            io::ErrorKind::PermissionDenied => {
                write!(f, "{address}: not allowed to listen there (ports below 1024 need privileges)")
            }
            _ => write!(f, "cannot listen on {address}: {source}"),
        }
    }
}

impl std::error::Error for ListenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Opens `workers.count` sockets on `address`, among which the kernel spreads the connections.
///
/// Port 0 takes one free port for all of them.
pub(super) fn listen(address: SocketAddr, workers: &Workers) -> Result<Vec<TcpListener>, ListenError> {
    open_all(address, workers).map_err(|source| ListenError { address, source })
}

/// Opens one socket on `address`, for what is served beside the workers.
pub(super) fn listen_once(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let one = Workers { count: 1, ..Workers::default() };
    listen(address, &one).map(|mut listeners| listeners.remove(0))
}

fn open_all(mut address: SocketAddr, workers: &Workers) -> io::Result<Vec<TcpListener>> {
    if address.port() != 0 {
        // With SO_REUSEPORT a second server of the same user would share the port unnoticed. A socket without it cannot.
        bind(address, false)?;
    }
    let mut listeners = Vec::with_capacity(workers.count);
    for _ in 0..workers.count {
        let socket = bind(address, true)?;
        // Accepted sockets inherit TCP_NODELAY, which saves a system call for each.
        socket.set_tcp_nodelay(true)?;
        socket.set_nonblocking(true)?;
        socket.listen(workers.backlog)?;
        let listener = TcpListener::from(socket);
        address = listener.local_addr()?;
        listeners.push(listener);
    }
    Ok(listeners)
}

fn bind(address: SocketAddr, share_port: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(share_port)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn workers_share_one_free_port() {
        let workers = Workers { count: 3, ..Workers::default() };
        let listeners = listen(loopback(0), &workers).unwrap();
        let ports: Vec<_> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        assert!(ports[0] != 0 && ports.iter().all(|&port| port == ports[0]), "{ports:?}");
    }

    #[test]
    fn a_taken_port_is_an_error_even_of_the_same_user() {
        let workers = Workers { count: 1, ..Workers::default() };
        let taken = listen(loopback(0), &workers).unwrap();
        let error = listen(taken[0].local_addr().unwrap(), &workers).unwrap_err();
        assert!(error.to_string().contains("is taken by another program"), "{error}");
    }
}
