package observer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

// URLFile is the file below the run's directory with the server's address.
const URLFile = "url"

// Order is one line to an observer.
type Order struct {
	Cycle schedule.Cycle
	Nap   string // of this run, see schedule.Nap
}

// Done is its answer.
type Done struct {
	Cycle int
	// Sent and Accepted count inputs.
	Sent, Accepted int
}

// Limits of patience. The machine is slow at times and the server stopped; what takes
// longer than this is a broken promise.
const (
	patience  = 60 * time.Second // until an input was accepted or refused, a session at rest
	catchUp   = 20 * time.Second // until a reader has read what there is
	retryWait = 100 * time.Millisecond
)

// Main obeys orders until in ends.
func Main(dir string, in io.Reader, out io.Writer) error {
	log, err := evidence.OpenLog(dir)
	if err != nil {
		return err
	}
	o := &observer{
		log: log, url: filepath.Join(dir, URLFile),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}},
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var order Order
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			return fmt.Errorf("observer: %w", err)
		}
		b, err := json.Marshal(o.cycle(&order))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

type observer struct {
	log    *evidence.Log
	url    string // file
	client *http.Client
}

// cycle plays the sessions side by side.
func (o *observer) cycle(order *Order) Done {
	done := Done{Cycle: order.Cycle.Number}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range order.Cycle.Sessions {
		s := &session{observer: o, plan: &order.Cycle.Sessions[i], nap: order.Nap, cycle: order.Cycle.Number}
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s.play(ctx)
			mu.Lock()
			defer mu.Unlock()
			done.Sent += len(s.plan.Inputs)
			done.Accepted += int(s.accepted.Load())
		})
	}
	all.Wait()
	return done
}

// pause waits, and says whether ctx still holds.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
