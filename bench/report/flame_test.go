package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

const stacks = `File: agenthost
Type: cpu
-----------+-------------------------------------------------------
             bytes:  40
      30ms   runtime.futex
             example.com/a/b.(*T[go.shape.int]).wait
             main.main
-----------+-------------------------------------------------------
     1.20s   encoding/json.Marshal (inline)
             main.main
-----------+-------------------------------------------------------
`

func TestFlameIsAsWideAsTheTime(t *testing.T) {
	t.Parallel()
	all, err := traces(strings.NewReader(stacks))
	if err != nil {
		t.Fatal(err)
	}
	top := all.calls["main.main"]
	if all.took.Milliseconds() != 1230 || top == nil || top.took != all.took || top.calls["encoding/json.Marshal"].took.Milliseconds() != 1200 {
		t.Errorf("%+v", top)
	}
	var out bytes.Buffer
	if err := Flame(&out, "before & after", strings.NewReader(stacks)); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"json.Marshal", "97.6%", "before &amp; after", "2.4%"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if err := Flame(&out, "", strings.NewReader("nothing")); err == nil {
		t.Error("an empty profile was drawn")
	}
}

// A graph of many frames leaves narrow ones out until it is small.
func TestFlameStaysSmall(t *testing.T) {
	t.Parallel()
	var in, out strings.Builder
	in.WriteString("-----------+----\n")
	for i := range 3000 {
		fmt.Fprintf(&in, "      10ms   example.com/a/long/path/b.function%d\n             main.main\n-----------+----\n", i)
	}
	fmt.Fprintf(&in, "    5s   example.com/a.wide\n             main.main\n-----------+----\n")
	if err := Flame(&out, "many", strings.NewReader(in.String())); err != nil || out.Len() > 150_000 || !strings.Contains(out.String(), "a.wide") {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}
