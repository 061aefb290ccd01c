// Package outputs copies the files that a turn wrote out of its workspace: what
// lies below outputs/ and was changed since the turn began, and what the CLI
// reported as written. The workspace belongs to an agent that may mean harm and may
// still be running, so nothing in it is believed:
//
//   - every look-up is one name in a directory that is held open, and follows no
//     link, so no path leads out of the workspace however it changes meanwhile.
//     os.Root would follow links that stay inside it, and its OpenRoot waits for
//     ever on a FIFO that stands where a directory stood;
//   - only regular files with one name are copied: no links, devices, FIFOs or
//     sockets, and no file that also has a name elsewhere;
//   - what a copy holds is what was hashed, and a file that changed while it was
//     read, as far as its size and times tell, is read again or left out.
//
// What is left out is said in notes, for people. The package knows nothing of
// sessions and imports the standard library and x/sys only.
package outputs
