package secret_test

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/secret"
	"github.com/agenthost/agenthost/actors/spec"
)

func one(value string) secret.Values {
	v := secret.Values{}
	v.Set("docs", "X-Key", spec.NewSecret(value))
	return v
}

func has(b *secret.Bag, id event.ID) bool {
	_, ok := b.Get(id, "docs", "X-Key")
	return ok
}

func TestBundlesGoWithTheirOwner(t *testing.T) {
	t.Parallel()
	b := secret.NewBag(1 << 20)
	mine, other := event.NewID(), event.NewID()
	first, second, foreign := b.Put(mine, one("a-value")), b.Put(mine, one("b-value")), b.Put(other, one("c-value"))
	if v, ok := b.Get(second, "docs", "X-Key"); !ok || v.Reveal() != "b-value" {
		t.Errorf("got %v", ok)
	}
	if _, ok := b.Get(first, "docs", "Other"); ok || !b.Put(mine, nil).IsZero() {
		t.Error("a value that nobody kept was found")
	}
	b.Drop(first)
	if has(b, first) || !has(b, second) {
		t.Error("Drop forgot the wrong bundle")
	}
	b.DropOwner(mine)
	if has(b, second) || !has(b, foreign) || b.Len() != 1 {
		t.Errorf("%d bundles are left", b.Len())
	}
}

func TestTheBagIsBounded(t *testing.T) {
	t.Parallel()
	b := secret.NewBag(64 << 10)
	owner := event.NewID()
	first := b.Put(owner, one(strings.Repeat("x", 8<<10)))
	for range 100 {
		b.Put(event.NewID(), one(strings.Repeat("x", 8<<10)))
		if !has(b, first) {
			t.Fatal("a bundle in use went before others")
		}
	}
	if n := b.Len(); n > 8 {
		t.Errorf("%d bundles of 8 KiB are in a bag of 64", n)
	}
	for range 100 {
		b.Put(event.NewID(), one(strings.Repeat("x", 8<<10)))
	}
	if has(b, first) {
		t.Error("the oldest bundle outlived a full bag")
	}
	b.DropOwner(owner) // nothing is left of it
}

func TestARetiredBundleLivesUntilTheNext(t *testing.T) {
	t.Parallel()
	b := secret.NewBag(1 << 20)
	owner := event.NewID()
	var ids []event.ID
	for range 4 {
		ids = append(ids, b.Put(owner, one("value")))
	}
	b.Retire(ids[0])
	if !has(b, ids[0]) {
		t.Error("it went at once")
	}
	b.Retire(ids[1])
	b.Retire(ids[1])
	b.Retire(event.NewID())
	if has(b, ids[0]) || !has(b, ids[1]) || !has(b, ids[2]) {
		t.Error("the wrong bundle is left")
	}
}
