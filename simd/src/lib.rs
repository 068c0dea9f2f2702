//! DEFLATE, zlib and gzip (skeleton).
