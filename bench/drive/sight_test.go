package drive

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func text(seq int) string { return fmt.Sprintf("ts:%d seq:%d xxxx", 1000+seq, seq) }

func TestRepeatedAndMissingTextsAreTold(t *testing.T) {
	t.Parallel()
	s := Sight{Keep: true}
	at := time.Unix(0, 5000)
	s.see(at, []byte(text(0)+text(1)))
	s.see(at, []byte(text(0)+text(1)+text(2))) // an item's end says everything again
	s.see(at, []byte(text(5)+"ts:7 other seq:9"))
	if s.Events != 4 || s.Lost != 2 {
		t.Errorf("%d events, %d lost", s.Events, s.Lost)
	}
	if want := []time.Duration{4000, 3999, 3998, 3995}; !slices.Equal(s.Delays, want) {
		t.Errorf("delays %v, want %v", s.Delays, want)
	}
}

func TestLinesAreLookedAtWhole(t *testing.T) {
	t.Parallel()
	all := text(0) + "\n" + text(1) + "\n" + text(2) + "\n"
	for step := 1; step <= len(all); step++ {
		var s Sight
		var held []byte
		for i := 0; i < len(all); i += step {
			held = s.lines(time.Now(), held, []byte(all[i:min(i+step, len(all))]))
		}
		if s.Events != 3 || s.Lost != 0 || s.Frames != 3 || s.Bytes != int64(len(all)) || len(held) != 0 {
			t.Fatalf("step %d: %+v, held %q", step, s, held)
		}
	}
}

func TestStreamIsFollowedToTheTurnsEnd(t *testing.T) {
	t.Parallel()
	body := ": ok\n\nevent: response.created\ndata: {}\n\nevent: response.output_text.delta\ndata: {\"delta\":\"" + text(0) + "\"}\n\n" +
		"event: response.completed\ndata: {" + strings.Repeat("x", 600<<10) + text(0) + "}\n\n"
	var s Sight
	if err := follow(strings.NewReader(body), &s, responsesEnd); err != nil || s.Ended != "completed" || s.Events != 1 || s.Frames != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := follow(strings.NewReader(body[:200]), &Sight{}, responsesEnd); err == nil {
		t.Error("a torn stream is no error")
	}
}
