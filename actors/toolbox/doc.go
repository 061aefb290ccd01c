// Package toolbox owns the directory that CLIs are installed in: its layout, the
// lock of an installation, the switch to a new version, and what may be removed.
// It starts no process and talks to no network: it says which commands fill a
// version's directory (Stage.Steps), and its caller runs them.
//
//	bin/PROGRAM                      -> ../packages/ADAPTER/VERSION-N/...   (a link)
//	packages/ADAPTER/.lock              held by an installation of the adapter
//	packages/ADAPTER/VERSION-N/         one installed version; N is new each time
//	packages/ADAPTER/VERSION-N/.use     locked shared by whoever runs it
//
// A version's directory is filled where it stays, so nothing in it (a virtual
// environment, say) has to be moved. It counts from the moment that the link in
// bin is renamed to lead into it; before that it is rubbish, which the next holder
// of the lock removes. A version that no link leads to is removed once nobody
// holds its use. Both locks are the kernel's: they end with the process that has
// them, however it ends.
package toolbox
