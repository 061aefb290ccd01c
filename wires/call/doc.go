// Package call is one HTTP request as a wire's handler sees it: who asks, the
// decoded body, path and query values, and the ways to answer.
//
// fasthttp reuses a request's memory as soon as its handler returns, so everything
// that a Call gives out is a copy and may go to an actor.
//
// Bodies. gzip and zstd are decoded up to the size limit, counted in decoded bytes;
// another Content-Encoding is refused with 415. A byte order mark of UTF-8 is
// skipped, invalid UTF-8 becomes U+FFFD, the last of several equal keys counts.
// Refused with 400, and never quoted back: anything that is not exactly one JSON
// value, UTF-16, NaN, and more than 1000 levels of nesting.
//
// It knows no wire and may not import one.
package call
