//! A static web server and compression middleware.
