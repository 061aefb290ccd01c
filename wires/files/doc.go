// Package files is /v1/files, which both wires share: a principal's uploads, kept
// by the host. It also reads the parts of messages that stand for a picture or a
// file (Attachment), because a part may name an upload.
//
// The host's bounds hold (10 MiB a file, 256 MiB and 10,000 files a principal),
// and so does limits.max_body_bytes: a request's body is in memory before its
// handler runs, so an upload is held there twice and never more often, whatever
// its form says; base64 in JSON takes a third more of the body. From there it is
// written through to the disk.
//
// Names of files are shown and never used as paths. It may import actors/event,
// actors/spec and wires/*.
package files
