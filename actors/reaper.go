package actors

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/actors/process"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages the reaper understands.
type (
	// planted says that a tree was started.
	planted struct {
		marker string
		p      *process.Process
		turn   *actor.PID
	}
	// sweep ends what is left of a tree and tells the turn: gone.
	sweep struct {
		p      *process.Process
		marker string
		turn   *actor.PID // nil: nobody waits
	}
	swept struct {
		marker string
		killed int
		turn   *actor.PID
	}
	// weigh says that the trees with limits are to be looked at, weighed what they
	// take.
	weigh struct{ gen int }
	// sample says that what turns take is to be learned from some that run.
	sample  struct{}
	weighed struct {
		markers []string
		usages  []process.Usage
	}
)

// reaper keeps the table of every tree the host started, sees that none outlives
// its turn, and tells the turns what those with limits take.
type reaper struct {
	host  *Host
	trees map[string]*tree // by marker
	clock timer            // of the next look at those with limits
	// sampling says that some are being measured.
	sampling atomic.Bool
}

type tree struct {
	p    *process.Process
	turn *actor.PID
}

func (r *reaper) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *planted:
		r.planted(c, m)
	case *sweep:
		r.sweep(c, m)
	case *swept:
		r.swept(c, m)
	case *weigh:
		if r.clock.is(m.gen) {
			r.weigh(c)
		}
	case *weighed:
		r.weighed(c, m)
	case *sample:
		r.sample()
	case *actor.Stopping:
		r.clock.stop()
	}
	r.host.stats.trees.Store(int64(len(r.trees)))
}

func (r *reaper) planted(c actor.Context, m *planted) {
	r.trees[m.marker] = &tree{p: m.p, turn: m.turn}
	if w := r.host.cfg.warden; w != nil {
		w.Planted(process.Tree{Marker: m.marker, Pid: m.p.Pid(), Start: m.p.StartTime()})
	}
	if m.p.Watched() && r.clock.t == nil {
		r.lookLater(c)
	}
}

func (r *reaper) swept(c actor.Context, m *swept) {
	delete(r.trees, m.marker)
	if w := r.host.cfg.warden; w != nil {
		w.Gone(m.marker)
	}
	if m.killed > 0 {
		r.host.stats.orphans.Add(int64(m.killed))
		turn := m.marker[strings.LastIndexByte(m.marker, '/')+1:]
		r.host.log.Info("ended what a CLI left behind", "turn", turn, "processes", m.killed)
	}
	if m.turn != nil {
		c.Send(m.turn, &gone{})
	}
}

const sweepLimit = 30 * time.Second

// sweep works in a goroutine that ends by sending swept.
func (r *reaper) sweep(c actor.Context, m *sweep) {
	host, self := r.host, c.Self()
	host.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
		defer cancel()
		<-m.p.Exited()
		host.root.Send(self, &swept{marker: m.marker, killed: m.p.Sweep(ctx), turn: m.turn})
	})
}

// weighEvery is the time between two looks at what trees with limits take.
const weighEvery = 250 * time.Millisecond

func (r *reaper) lookLater(c actor.Context) {
	r.clock.arm(c, weighEvery, func(gen int) any { return &weigh{gen} })
}

// weigh reads the process table in a goroutine that ends by sending weighed. The
// clock rests as long as no tree has limits that need it.
func (r *reaper) weigh(c actor.Context) {
	r.clock.stop()
	m := &weighed{}
	var list []*process.Process
	for marker, t := range r.trees {
		if t.p.Watched() {
			m.markers, list = append(m.markers, marker), append(list, t.p)
		}
	}
	if len(list) == 0 {
		return
	}
	host, self := r.host, c.Self()
	host.work.Go(func() {
		m.usages = process.Measure(list)
		host.root.Send(self, m)
	})
}

func (r *reaper) weighed(c actor.Context, m *weighed) {
	for i, marker := range m.markers {
		if t := r.trees[marker]; t != nil && t.turn != nil {
			c.Send(t.turn, &used{m.usages[i]})
		}
	}
	r.lookLater(c)
}

// sampled is how many trees are looked at to learn what turns take.
const sampled = 16

// sample measures some trees of turns in a goroutine that ends by itself; the next is
// not begun before.
func (r *reaper) sample() {
	if r.sampling.Load() {
		return
	}
	var list []*process.Process
	for _, t := range r.trees {
		if t.turn != nil && len(list) < sampled {
			list = append(list, t.p)
		}
	}
	if len(list) == 0 {
		return
	}
	r.sampling.Store(true)
	r.host.work.Go(func() {
		defer r.sampling.Store(false)
		for _, u := range process.Measure(list) {
			r.host.weighs(u.Memory)
		}
	})
}
