// Package archive knows what stored sessions mean where actors/store knows only
// their bytes: it folds a journal to what its records should be, for a repair, and
// writes sessions that other programs kept as journals of ours.
//
// It runs beside no Host: the verbs of `agenthost store` use it on a directory that
// no server has. It starts nothing and owns no goroutine.
package archive
