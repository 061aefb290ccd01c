package sqlite

import (
	"log/slog"
	"time"
)

// Options of a store. The zero value is usable.
type Options struct {
	// Logger gets what a person should know; nil discards it.
	Logger *slog.Logger
	// MinFreeDisk refuses new sessions and inputs with ErrFull while the file
	// system has fewer bytes free; see Room. 0 switches it off.
	MinFreeDisk uint64
	// Reserve is room on the disk that is kept for the ends of running turns when it is
	// full; 0 is none.
	Reserve int64
	// Now is the clock of housekeeping; nil is time.Now.
	Now func() time.Time
	// BootID names this run of the machine; empty asks the kernel.
	BootID string
	// Faults makes the disk fail, for tests and chaos runs.
	Faults *Faults

	// freeDisk replaces statfs in tests.
	freeDisk func(dir string) (uint64, error)
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BootID == "" {
		o.BootID = kernelBoot()
	}
	if o.freeDisk == nil {
		o.freeDisk = o.Faults.freeDisk
	}
	return o
}
