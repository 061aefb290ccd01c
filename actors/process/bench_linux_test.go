package process

import (
	"context"
	"testing"
)

// BenchmarkLife is start, run, end and sweep of /bin/true, one after another.
func BenchmarkLife(b *testing.B) {
	for _, mode := range []bool{false, true} {
		b.Run(modeName(mode), func(b *testing.B) {
			benchMode(b, mode)
			done := make(chan struct{}, 1)
			spec := Spec{Path: "/bin/true", Marker: "bench/boot/turn", OnExit: func(Status) { done <- struct{}{} }}
			b.ReportAllocs()
			for b.Loop() {
				p, err := Start(spec)
				if err != nil {
					b.Fatal(err)
				}
				<-done
				p.Sweep(context.Background())
			}
		})
	}
}

// BenchmarkStart is Start alone, which ends when the child has executed.
func BenchmarkStart(b *testing.B) {
	done := make(chan struct{}, 1)
	spec := Spec{Path: "/bin/true", Marker: "bench/boot/turn", OnExit: func(Status) { done <- struct{}{} }}
	b.ReportAllocs()
	for b.Loop() {
		p, err := Start(spec)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		<-done
		p.Sweep(context.Background())
		b.StartTimer()
	}
}

// BenchmarkCleanSweep is Sweep after an end that left nothing.
func BenchmarkCleanSweep(b *testing.B) {
	for _, mode := range []bool{false, true} {
		b.Run(modeName(mode), func(b *testing.B) {
			benchMode(b, mode)
			done := make(chan struct{}, 1)
			p, err := Start(Spec{Path: "/bin/true", Marker: "bench/boot/turn", OnExit: func(Status) { done <- struct{}{} }})
			if err != nil {
				b.Fatal(err)
			}
			<-done
			b.ReportAllocs()
			for b.Loop() {
				p.Sweep(context.Background())
			}
		})
	}
}

// BenchmarkRecord is what the first signal costs beside the signal.
func BenchmarkRecord(b *testing.B) {
	r := start(b, sh("exec sleep 1000"))
	b.ReportAllocs()
	for b.Loop() {
		r.Record()
	}
	all, _ := scan()
	b.ReportMetric(float64(len(all)), "processes")
}

func modeName(on bool) string {
	if on {
		return "subreaper"
	}
	return "plain"
}

// benchMode is for children of this program that end in order only: nothing is
// really adopted.
func benchMode(b *testing.B, on bool) {
	b.Helper()
	was := subreaper.Swap(on)
	b.Cleanup(func() { subreaper.Store(was) })
}
