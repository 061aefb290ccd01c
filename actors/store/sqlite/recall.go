package sqlite

import (
	"bytes"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// recalled bounds the records that are kept for readers, recalledBytes the settings and
// bodies in them: there is a bound for callers' settings, but it is far above what most
// of them have.
const (
	recalled      = 4096
	recalledBytes = 16 << 20
)

// recall keeps records of sessions that were read or written lately: every request
// asks for one, and a look into the file costs a transaction. What it holds is what is
// committed: the writer brings it up to date before it answers a commit, and what a
// reader found in the file is taken in only if nothing was committed meanwhile.
type recall struct {
	mu   sync.Mutex
	recs map[event.ID]*store.Session
	// bytes are those of the records, as recalledBytes has them.
	bytes int
	// rounds count the commits that touched a session of a shard.
	rounds [256]uint64
}

// touch is a session that a transaction changed, with what it wrote beside the entry.
type touch struct {
	id         event.ID
	spec, body []byte
}

// get returns a copy, and the round for put.
func (r *recall) get(id event.ID) (*store.Session, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.recs[id]; rec != nil {
		out := *rec
		return &out, 0
	}
	return nil, r.rounds[id[0]]
}

// put takes in what was found in the file since round.
func (r *recall) put(rec *store.Session, round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rounds[rec.ID[0]] == round {
		own := *rec
		r.keep(&own)
	}
}

func (r *recall) keep(rec *store.Session) {
	if r.recs == nil {
		r.recs = map[event.ID]*store.Session{}
	}
	r.drop(rec.ID)
	r.recs[rec.ID] = rec
	r.bytes += weight(rec)
	if len(r.recs) <= recalled && r.bytes <= recalledBytes {
		return
	}
	for id := range r.recs { // which ones does not matter
		if len(r.recs) <= recalled*3/4 && r.bytes <= recalledBytes*3/4 {
			return
		}
		r.drop(id)
	}
}

func (r *recall) drop(id event.ID) {
	if rec := r.recs[id]; rec != nil {
		r.bytes -= weight(rec)
		delete(r.recs, id)
	}
}

func weight(rec *store.Session) int { return len(rec.Spec) + len(rec.Body) }

// committed brings the records up to date with what a transaction has made of them.
func (r *recall) committed(touched []touch, entries map[event.ID]*entry, era int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range touched {
		r.rounds[t.id[0]]++
		e, rec := entries[t.id], r.recs[t.id]
		if e == nil || e.state == store.Deleted || rec == nil && (t.spec == nil || t.body == nil) {
			r.drop(t.id)
			continue
		}
		now := store.Session{
			ID: e.id, Owner: e.owner, Created: e.created, State: e.state, Host: e.host, Epoch: e.epoch, Head: e.head,
			Trimmed: e.trimmed, Bytes: e.bytes, Reserved: e.reserved, Uncertain: e.era < era, Active: e.active,
		}
		if rec != nil {
			now.Spec, now.Body = rec.Spec, rec.Body
		}
		if t.spec != nil {
			now.Spec = bytes.Clone(t.spec)
		}
		if t.body != nil {
			now.Body = bytes.Clone(t.body)
		}
		r.keep(&now)
	}
}
