package command

import "github.com/agenthost/agenthost/adapters/internal/jsonl"

// quick reads lines that are a piece of the answer and nothing else.
type quick struct {
	text []string // the way to a piece, nil when there is no quick one
	// others are the other ways, of which a line that has anything there is left to
	// the general reading.
	others []other
}

type other struct {
	way     path
	session bool // what is there may be the session's id, which is known
	lax     bool // and false says as little as null
}

// mostNames is how long a way may be that is gone quickly: each name is noted in a bit.
const mostNames = 16

// quickly makes the quick reading for the paths.
func (l *lines) quickly() quick {
	var q quick
	if len(l.text) > mostNames {
		return q
	}
	for _, part := range l.text {
		name, ok := part.(string)
		if !ok {
			return quick{} // lists are not gone into
		}
		q.text = append(q.text, name)
	}
	for _, o := range []other{{way: l.message, lax: true}, {way: l.errs, lax: true}, {way: l.done, lax: true}, {way: l.usage}, {way: l.session, session: len(l.session) == 1}} {
		if len(o.way) > 0 {
			q.others = append(q.others, o)
		}
	}
	return q
}

// read gives the piece of a line in its usual shape; id is the session's, as far as it
// is known. If the line has another, the general reading, which would read the same, is
// to be asked.
func (q *quick) read(raw []byte, s *jsonl.Scanner, id string) (jsonl.Chunk, bool) {
	if len(q.text) == 0 {
		return jsonl.Chunk{}, false
	}
	s.Begin(raw)
	c := q.object(s, 0, id)
	return c, s.Ended() && s.Saw(1<<(len(q.text)-1))
}

// object reads the object that was entered, which lies depth names deep. What the
// other ways lead to is judged by the name at this depth alone, whatever is above it.
func (q *quick) object(s *jsonl.Scanner, depth int, id string) (c jsonl.Chunk) {
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		last := depth == len(q.text)-1
		if string(key) == q.text[depth] {
			s.Once(1 << depth)
			switch {
			case q.leads(string(key), depth):
				s.Leave()
			case !last:
				s.Enter()
				c = q.object(s, depth+1, id)
			case s.IsText():
				c = s.Chunk()
			default:
				s.Leave()
			}
			continue
		}
		if !q.passes(s, key, depth, id) {
			s.Leave()
		}
	}
	return c
}

// leads says that another way ends at the name.
func (q *quick) leads(name string, depth int) bool {
	for i := range q.others {
		if w := q.others[i].way; len(w) == depth+1 && w[depth] == name {
			return true
		}
	}
	return false
}

// passes reads the value of a name that does not lead to the piece; false when it may
// be what another way leads to.
func (q *quick) passes(s *jsonl.Scanner, key []byte, depth int, id string) bool {
	null, no := s.IsNull(), s.IsFalse()
	for i := range q.others {
		o := &q.others[i]
		if depth >= len(o.way) {
			continue
		}
		if name, ok := o.way[depth].(string); !ok || name != string(key) {
			continue
		}
		switch {
		case null, no && o.lax:
		case o.session && s.IsText():
			if word := s.Word(); len(word) == 0 || string(word) != id || q.shares(i, key) {
				return false
			}
			return true
		default:
			return false
		}
	}
	s.Skip()
	return true
}

// shares says that another way but the i-th begins with the name as well.
func (q *quick) shares(i int, key []byte) bool {
	for k := range q.others {
		if name, ok := q.others[k].way[0].(string); ok && k != i && name == string(key) {
			return true
		}
	}
	return false
}
