// Package reason finds out why a CLI failed from the words it used. CLIs have no
// error codes, so their texts are matched; the patterns are taken from recorded
// runs and kept in one table.
package reason
