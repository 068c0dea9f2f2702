//! error_page.
