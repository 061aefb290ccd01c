package queue

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func (c *crowd) ask(principal string) {
	c.number++
	c.tell(c.a.Ask(Entry{Session: id(c.number), Turn: wide(c.number), Number: int64(c.number), Principal: principal}))
}

// crowd plays turns that hold their slot for a time.
type crowd struct {
	a      *Admission
	number int
	now    int64
	ends   []held
	took   func(principal string) int64 // how long the next turn takes
	slots  map[string]int64             // slot time by principal
	order  []string
}

type held struct {
	at int64
	of Grant
}

func newCrowd(r Rules, took func(string) int64) *crowd {
	return &crowd{a: NewAdmission(r), took: took, slots: map[string]int64{}}
}

func (c *crowd) tell(gs []Grant) {
	for _, g := range gs {
		d := c.took(g.Principal)
		c.slots[g.Principal] += d
		c.order = append(c.order, g.Principal)
		c.ends = append(c.ends, held{c.now + d, g})
	}
}

// next ends the turn whose time is over first.
func (c *crowd) next() {
	first := 0
	for i, e := range c.ends {
		if e.at < c.ends[first].at {
			first = i
		}
	}
	e := c.ends[first]
	c.ends = slices.Delete(c.ends, first, first+1)
	c.now = max(c.now, e.at)
	c.a.At(c.now)
	c.tell(c.a.Return(e.of.Turn))
}

func second(string) int64 { return 1000 }

func TestNobodyStandsBehindAnothersBacklog(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 2}, second)
	for range 100 {
		c.ask("heavy")
	}
	c.ask("light")
	c.next()
	if c.order[len(c.order)-1] != "light" {
		t.Fatalf("the next slot went to %v", c.order)
	}
	if line := c.a.Line(1000); len(line) != 98 || line[0].Number != 3 {
		t.Errorf("the line is %d long, %+v first", len(line), line[0])
	}
}

func TestPrincipalsTakeTurns(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 1}, func(string) int64 { return 10 })
	for _, p := range []string{"a", "b", "c"} {
		for range 4 {
			c.ask(p)
		}
	}
	for c.a.Waiting() > 0 {
		c.next()
	}
	if got := fmt.Sprint(c.order); got != "[a b c a b c a b c a b c]" {
		t.Error(got)
	}
}

// The line says in what order turns are granted.
func TestLineIsTheOrderOfGrants(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 1, Shares: map[string]Share{"a": {Weight: 3}}}, second)
	for n := range 24 {
		c.ask([]string{"a", "a", "b", "c"}[n%4])
	}
	c.next()
	var want []string
	for _, e := range c.a.Line(1000) {
		want = append(want, e.Principal)
	}
	at := len(c.order)
	for c.a.Waiting() > 0 {
		c.next()
	}
	if !slices.Equal(c.order[at:], want) {
		t.Errorf("granted %v, the line said %v", c.order[at:], want)
	}
}

// Of two that always have work each gets slots by its weight, however long its turns
// are.
func TestSlotTimeIsSharedByWeight(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 2, 5, 8} {
		for _, long := range []int64{2_000, 60_000} {
			c := newCrowd(Rules{Slots: slots, Shares: map[string]Share{"a": {Weight: 1}, "b": {Weight: 2}, "c": {Weight: 4}}},
				func(p string) int64 {
					if p == "a" {
						return long
					}
					return 2_000
				})
			for range 4000 {
				for _, p := range []string{"a", "b", "c"} {
					c.ask(p)
				}
			}
			for range 4000 {
				c.next()
			}
			// The cost of a start counts too, so shorter turns get a little less.
			got := [2]float64{float64(c.slots["b"]) / float64(c.slots["a"]), float64(c.slots["c"]) / float64(c.slots["b"])}
			if got[0] < 1.2 || got[0] > 2.4 || got[1] < 1.7 || got[1] > 2.3 {
				t.Errorf("%d slots, turns of a take %d: b/a %.2f, c/b %.2f", slots, long, got[0], got[1])
			}
		}
	}
}

func TestWhoWasAwayHasNotSaved(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 1}, second)
	for range 300 {
		c.ask("here")
	}
	for range 100 {
		c.next()
	}
	for range 100 {
		c.ask("back")
	}
	at := len(c.order)
	for range 100 {
		c.next()
	}
	n := 0
	for _, p := range c.order[at:] {
		if p == "back" {
			n++
		}
	}
	if n < 49 || n > 52 {
		t.Errorf("who came back got %d of 100 slots", n)
	}
}

// Who comes and goes, one turn at a time, gets no more than its weight.
func TestLeavingIsNoWayAhead(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 1, Shares: map[string]Share{"heavy": {Weight: 4}}}, second)
	for range 1000 {
		c.ask("heavy")
	}
	c.ask("guest")
	for range 500 {
		c.next()
		if last := c.order[len(c.order)-1]; last == "guest" {
			c.next() // it comes back only now that it has gone
			c.ask("guest")
		}
	}
	if n := c.slots["guest"]; n > c.slots["heavy"]/3 {
		t.Errorf("the guest held %d, heavy %d", n, c.slots["heavy"])
	}
}

func TestBoundOfAPrincipalLeavesSlotsToOthers(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 4, PrincipalSlots: 2, Shares: map[string]Share{"one": {Slots: 1}}}, second)
	for range 5 {
		c.ask("one")
		c.ask("two")
	}
	if got := fmt.Sprint(c.order); got != "[one two two]" || c.a.Running() != 3 {
		t.Fatal(got)
	}
	c.ask("three")
	if got := fmt.Sprint(c.order); got != "[one two two three]" {
		t.Error(got)
	}
	if c.a.SlotsOf("one") != 1 || c.a.SlotsOf("two") != 2 {
		t.Errorf("%d, %d", c.a.SlotsOf("one"), c.a.SlotsOf("two"))
	}
}

func TestBoundOfAnAgentIsPassedOver(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 4, AgentSlots: 1})
	entry := func(n int, agent string) Entry {
		return Entry{Session: id(n), Turn: id(n), Number: int64(n), Principal: "p", Agent: agent}
	}
	got := turns(a.Ask(entry(1, "x")))
	got = append(got, turns(a.Ask(entry(2, "x")))...)
	got = append(got, turns(a.Ask(entry(3, "y")))...)
	if !slices.Equal(got, []int{1, 3}) {
		t.Fatalf("granted %v", got)
	}
	if got := turns(a.Return(id(1))); !slices.Equal(got, []int{2}) {
		t.Errorf("granted %v", got)
	}
}

func TestRoomIsUsedUp(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 9})
	a.SetRoom(2)
	for n := range 6 {
		ask(a, n+1)
	}
	if a.Running() != 2 || a.Room() {
		t.Fatalf("%d run", a.Running())
	}
	if got := turns(a.Return(id(1))); !slices.Equal(got, []int{3}) {
		t.Fatalf("in the place of one that has ended: %v", got)
	}
	a.At(5000)
	if got := a.SetRoom(1); len(got) != 1 || a.Younger(5000) != 1 {
		t.Errorf("%d granted, %d are young", len(got), a.Younger(5000))
	}
	// Whose memory the last word counted already leaves no place.
	if got := a.Return(id(2)); len(got) != 0 {
		t.Errorf("granted %v", got)
	}
}

// TestNobodyStarves: with everybody's turns alike, an input is granted before each
// other principal has got its share as often as there are inputs before it, and once
// more.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.IntRange(1, 4).Draw(rt, "slots")
		weights := rapid.SliceOfN(rapid.IntRange(1, 4), 2, 4).Draw(rt, "weights")
		shares := map[string]Share{}
		sum := 0
		for i, w := range weights {
			shares[fmt.Sprint(i)] = Share{Weight: w}
			sum += w
		}
		c := newCrowd(Rules{Slots: slots, Shares: shares}, second)
		for i := range weights {
			for range rapid.IntRange(1, 30).Draw(rt, "backlog") {
				c.ask(fmt.Sprint(i))
			}
		}
		// The newcomer has three inputs, and the others go on for ever.
		shares["new"] = Share{Weight: 1}
		from := len(c.order)
		for range 3 {
			c.ask("new")
		}
		for n := 0; ; n++ {
			got := 0
			for _, p := range c.order[from:] {
				if p == "new" {
					got++
				}
			}
			if got == 3 {
				break
			}
			if most := (3+slots)*(sum+1) + slots; n > most {
				rt.Fatalf("%d of 3 after %d turns of others", got, n)
			}
			c.ask(fmt.Sprint(n % len(weights)))
			c.next()
		}
	})
}

func TestPrincipalsAreForgotten(t *testing.T) {
	t.Parallel()
	c := newCrowd(Rules{Slots: 2}, second)
	for n := range 5000 {
		c.ask(fmt.Sprint("stranger ", n))
		if len(c.ends) == 2 {
			c.next()
		}
	}
	if n := len(c.a.principals); n > strangers+8 {
		t.Errorf("%d principals are remembered", n)
	}
}

func BenchmarkManyPrincipals(b *testing.B) {
	a := NewAdmission(Rules{Slots: 1})
	name := func(i int) string { return fmt.Sprint(i % 1000) }
	for i := range 100_000 {
		a.Ask(Entry{Turn: wide(i), Number: int64(i), Principal: name(i)})
	}
	last, next := wide(0), 100_000
	b.ReportAllocs()
	for b.Loop() {
		a.Ask(Entry{Turn: wide(next), Number: int64(next), Principal: name(next)})
		last = a.Return(last)[0].Turn
		next++
	}
}
