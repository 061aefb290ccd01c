package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/bench/chaos/faultplan"
)

// seams are where `serve --fault-plan FILE`, a switch for chaos runs only, lets a
// server's disk fail and its clock jump. Without it there is none: nil.
type seams struct {
	faults sqlite.Faults
	boot   string
	offset atomic.Int64 // of the clock
	end    func()
}

// openSeams reads the plan and follows its changes until end is called.
func openSeams(file string, log *slog.Logger) (*seams, error) {
	if file == "" {
		return nil, nil
	}
	s := &seams{}
	plan, seen, err := readPlan(file)
	if err != nil {
		return nil, err
	}
	log.Warn("the server does what a fault plan says: it is for tests only", "file", file)
	s.boot = plan.Boot
	s.faults.KeepLasting(filepath.Join(filepath.Dir(file), faultplan.Lasting))
	s.apply(plan)
	quit, done := make(chan struct{}), make(chan struct{})
	s.end = func() { close(quit); <-done }
	go func() {
		defer crash.Guard()
		defer close(done)
		t := time.NewTicker(20 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
			}
			if now, err := os.Stat(file); err != nil || os.SameFile(now, seen) && now.ModTime().Equal(seen.ModTime()) {
				continue // a plan is replaced by another file, never changed
			}
			plan, info, err := readPlan(file)
			if err != nil {
				log.Error("the fault plan cannot be read", "error", err)
				continue
			}
			seen = info
			s.apply(plan)
		}
	}()
	return s, nil
}

func readPlan(file string) (*faultplan.Plan, os.FileInfo, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, nil, fmt.Errorf("fault plan: %w", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("fault plan: %w", err)
	}
	p := &faultplan.Plan{}
	if err := jsoniter.ConfigCompatibleWithStandardLibrary.Unmarshal(b, p); err != nil {
		return nil, nil, fmt.Errorf("fault plan %s: %w", file, err)
	}
	return p, info, nil
}

var planErrors = map[string]error{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO}

func (s *seams) apply(p *faultplan.Plan) {
	s.faults.Clear()
	for _, f := range []struct {
		fault *faultplan.Fault
		set   func(error, int64, int64)
	}{{p.Reads, s.faults.FailReads}, {p.Writes, s.faults.FailWrites}, {p.Torn, s.faults.TearWrites}, {p.Syncs, s.faults.FailSyncs}} {
		if f.fault != nil && planErrors[f.fault.Error] != nil {
			f.set(planErrors[f.fault.Error], f.fault.After, f.fault.Times)
		}
	}
	if p.Free > 0 {
		s.faults.SmallDisk(p.Free)
	}
	s.faults.SlowSyncs(time.Duration(p.SlowSyncMS) * time.Millisecond)
	s.offset.Store(int64(time.Duration(p.ClockS) * time.Second))
	if p.Panic != "" {
		panic(p.Panic)
	}
}

func (s *seams) now() time.Time { return time.Now().Add(time.Duration(s.offset.Load())) }

// store gives a store the seams.
func (s *seams) store(o sqlite.Options) sqlite.Options {
	if s != nil {
		o.Faults, o.BootID, o.Now = &s.faults, s.boot, s.now
	}
	return o
}

// host gives a Host the seams.
func (s *seams) host() []actors.Option {
	if s == nil {
		return nil
	}
	return []actors.Option{actors.WithClock(s.now)}
}

func (s *seams) close() {
	if s != nil {
		s.end()
	}
}
