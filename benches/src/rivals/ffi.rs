//! The rivals that have no safe interface that keeps state from body to body: zlib, zlib-ng, zlib-rs and ISA-L.
//!
//! All `unsafe` of this package is here. Two facts carry it. A stream lives in a box, so that its address stays the same from
//! the call that initializes it to the one that ends it; and before each call its pointers are set to slices that are
//! borrowed until that call is over.

#![allow(unsafe_code)]

use super::{Coder, WHOLE, bound, room, stated_len};
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// `windowBits` for a window of 32 KiB in a gzip container.
const GZIP: c_int = 16 + 15;
/// `Z_DEFLATED`, and the default `memLevel` and `strategy` of zlib's manual.
const DEFLATED: c_int = 8;
const MEM_LEVEL: c_int = 8;
const STRATEGY: c_int = 0;
/// `Z_NO_FLUSH` and `Z_FINISH`.
const NO_FLUSH: c_int = 0;
const FINISH: c_int = 4;
/// `Z_OK` and `Z_STREAM_END`.
const OK: c_int = 0;
const STREAM_END: c_int = 1;

/// Three libraries have the interface of zlib, each with types of its own.
macro_rules! by_interface_of_zlib {
    ($name:ident, $library:ident) => {
        pub(super) mod $name {
            use super::*;
            use $library as library;

            type Stream = library::z_stream;

            pub(in super::super) struct Encoder {
                stream: Box<MaybeUninit<Stream>>,
                out: Vec<u8>,
            }

            impl Encoder {
                pub(in super::super) fn new(level: u8) -> Self {
                    // All zero is what the manual asks for: no input, and allocators by default.
                    let mut stream = Box::new(MaybeUninit::zeroed());
                    // SAFETY: the stream is zeroed and boxed; version and size are those of the library's own type.
                    let status = unsafe {
                        library::deflateInit2_(
                            stream.as_mut_ptr(),
                            level.into(),
                            DEFLATED,
                            GZIP,
                            MEM_LEVEL,
                            STRATEGY,
                            library::zlibVersion(),
                            size_of::<Stream>() as c_int,
                        )
                    };
                    assert_eq!(status, OK);
                    Self { stream, out: Vec::new() }
                }
            }

            impl Coder for Encoder {
                fn code(&mut self, body: &[u8]) -> Option<&[u8]> {
                    let out = room(&mut self.out, bound(body.len()));
                    let stream = self.stream.as_mut_ptr();
                    // SAFETY: `new` initialized the stream, and its pointers and counts are those of two slices.
                    let (status, left) = unsafe {
                        library::deflateReset(stream);
                        (*stream).next_in = body.as_ptr().cast_mut();
                        (*stream).avail_in = body.len() as u32;
                        (*stream).next_out = out.as_mut_ptr();
                        (*stream).avail_out = out.len() as u32;
                        (library::deflate(stream, FINISH), (*stream).avail_out as usize)
                    };
                    let made = out.len() - left;
                    (status == STREAM_END).then(|| &self.out[..made])
                }
            }

            impl Drop for Encoder {
                fn drop(&mut self) {
                    // SAFETY: `new` initialized the stream, which nobody uses after this.
                    unsafe { library::deflateEnd(self.stream.as_mut_ptr()) };
                }
            }

            /// Gives at most `piece` bytes at a time.
            pub(in super::super) struct Decoder {
                stream: Box<MaybeUninit<Stream>>,
                piece: usize,
                out: Vec<u8>,
            }

            impl Decoder {
                pub(in super::super) fn new(piece: usize) -> Self {
                    let mut stream = Box::new(MaybeUninit::zeroed());
                    // SAFETY: the stream is zeroed and boxed; version and size are those of the library's own type.
                    let status = unsafe {
                        library::inflateInit2_(
                            stream.as_mut_ptr(),
                            GZIP,
                            library::zlibVersion(),
                            size_of::<Stream>() as c_int,
                        )
                    };
                    assert_eq!(status, OK);
                    Self { stream, piece, out: Vec::new() }
                }
            }

            impl Coder for Decoder {
                fn code(&mut self, coded: &[u8]) -> Option<&[u8]> {
                    let out = room(&mut self.out, stated_len(coded)?);
                    let flush = if self.piece == WHOLE { FINISH } else { NO_FLUSH };
                    let stream = self.stream.as_mut_ptr();
                    // SAFETY: `new` initialized the stream, whose input pointer and count are those of a slice.
                    unsafe {
                        library::inflateReset(stream);
                        (*stream).next_in = coded.as_ptr().cast_mut();
                        (*stream).avail_in = coded.len() as u32;
                    }
                    let mut made = 0_usize;
                    loop {
                        let end = out.len().min(made.saturating_add(self.piece));
                        let piece = &mut out[made..end];
                        // SAFETY: the input is still borrowed, and the output pointer and count are those of a slice.
                        let (status, left) = unsafe {
                            (*stream).next_out = piece.as_mut_ptr();
                            (*stream).avail_out = piece.len() as u32;
                            (library::inflate(stream, flush), (*stream).avail_out as usize)
                        };
                        made = end - left;
                        match status {
                            OK => {}
                            STREAM_END => return Some(&self.out[..made]),
                            _ => return None,
                        }
                    }
                }
            }

            impl Drop for Decoder {
                fn drop(&mut self) {
                    // SAFETY: `new` initialized the stream, which nobody uses after this.
                    unsafe { library::inflateEnd(self.stream.as_mut_ptr()) };
                }
            }
        }
    };
}

by_interface_of_zlib!(zlib, libz_sys);
by_interface_of_zlib!(zlib_rs, libz_rs_sys);
#[cfg(feature = "zlib-ng")]
by_interface_of_zlib!(zlib_ng, libz_ng_sys);

/// ISA-L's calls for whole bodies: they clear less than its streams do, and search tables that fit the body.
#[cfg(feature = "isal")]
pub(super) mod isal {
    use super::*;
    use isal_sys::igzip_lib as library;

    pub(in super::super) struct Encoder {
        stream: Box<MaybeUninit<library::isal_zstream>>,
        /// What the stream points to for as long as it lives.
        _level_buffer: Vec<u8>,
        out: Vec<u8>,
    }

    impl Encoder {
        pub(in super::super) fn new(level: u8) -> Self {
            let size = match level {
                0 => library::ISAL_DEF_LVL0_DEFAULT,
                1 => library::ISAL_DEF_LVL1_DEFAULT,
                2 => library::ISAL_DEF_LVL2_DEFAULT,
                _ => library::ISAL_DEF_LVL3_DEFAULT,
            };
            let mut level_buffer = vec![0; size as usize];
            let mut stream = Box::new(MaybeUninit::<library::isal_zstream>::zeroed());
            let pointer = stream.as_mut_ptr();
            // SAFETY: the stream is boxed and writable; the level buffer does not move when the vector that holds it does.
            unsafe {
                library::isal_deflate_stateless_init(pointer);
                (*pointer).level = level.into();
                (*pointer).level_buf = level_buffer.as_mut_ptr();
                (*pointer).level_buf_size = size;
            }
            Self { stream, _level_buffer: level_buffer, out: Vec::new() }
        }
    }

    impl Coder for Encoder {
        fn code(&mut self, body: &[u8]) -> Option<&[u8]> {
            let out = room(&mut self.out, bound(body.len()));
            let stream = self.stream.as_mut_ptr();
            // SAFETY: `new` initialized the stream, and its pointers and counts are those of two slices.
            let (status, left) = unsafe {
                library::isal_deflate_reset(stream);
                // Once it wrote the header it says so by another value here.
                (*stream).gzip_flag = library::IGZIP_GZIP as u16;
                (*stream).next_in = body.as_ptr().cast_mut();
                (*stream).avail_in = body.len() as u32;
                (*stream).next_out = out.as_mut_ptr();
                (*stream).avail_out = out.len() as u32;
                (library::isal_deflate_stateless(stream), (*stream).avail_out as usize)
            };
            let made = out.len() - left;
            (status == library::COMP_OK as c_int).then(|| &self.out[..made])
        }
    }

    pub(in super::super) struct Decoder {
        state: Box<MaybeUninit<library::inflate_state>>,
        out: Vec<u8>,
    }

    impl Decoder {
        pub(in super::super) fn new() -> Self {
            let mut state = Box::new(MaybeUninit::<library::inflate_state>::zeroed());
            let pointer = state.as_mut_ptr();
            // SAFETY: the state is boxed and writable.
            unsafe {
                library::isal_inflate_init(pointer);
                (*pointer).crc_flag = library::ISAL_GZIP;
            }
            Self { state, out: Vec::new() }
        }
    }

    impl Coder for Decoder {
        fn code(&mut self, coded: &[u8]) -> Option<&[u8]> {
            let out = room(&mut self.out, stated_len(coded)?);
            let state = self.state.as_mut_ptr();
            // SAFETY: `new` initialized the state, and its pointers and counts are those of two slices.
            let (status, left) = unsafe {
                library::isal_inflate_reset(state);
                (*state).next_in = coded.as_ptr().cast_mut();
                (*state).avail_in = coded.len() as u32;
                (*state).next_out = out.as_mut_ptr();
                (*state).avail_out = out.len() as u32;
                (library::isal_inflate_stateless(state), (*state).avail_out as usize)
            };
            let made = out.len() - left;
            (status == library::ISAL_DECOMP_OK as c_int).then(|| &self.out[..made])
        }
    }
}
