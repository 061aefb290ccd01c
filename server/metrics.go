package server

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"github.com/agenthost/agenthost/actors/crash"
)

// metrics counts requests, and reads the host's and the streams' counts when it
// is asked. It has a registry of its own: the default one is not ours to fill.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	entries  *prometheus.CounterVec
	handler  fasthttp.RequestHandler
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "agenthost_requests_total", Help: "Requests by operation id and status.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "agenthost_request_seconds", Help: "Time to the answer, or to the start of a stream.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 5, 30, 300},
		}, []string{"operation"}),
	}
	m.entries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "agenthost_auth_failures_total", Help: "Requests that were not let in: without a token, with a wrong one, or not judged because too many wrong ones came from their address.",
	}, []string{"reason"})
	for _, reason := range []string{entryMissing, entryWrong, entrySlowed} {
		m.entries.WithLabelValues(reason)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(m.requests, m.seconds, m.entries, &hostCollector{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	return m
}

func (m *metrics) answered(operation string, status int, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}

// hostCollector reads counts that others keep.
type hostCollector struct{ s *Server }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("agenthost_"+name, help, labels, nil)
}

var (
	descRunning = desc("turns_running", "Turns that have a slot.")
	descWaiting = desc("turns_waiting", "Turns that wait for a slot or for the turn before them.")
	descTurns   = desc("turns_total", "Ended turns by outcome.", "outcome")
	descActive  = desc("sessions_active", "Sessions in memory.")
	descTrees   = desc("process_trees", "Process trees of CLIs that are alive.")
	descRunners = desc("runners", "CLI processes that serve many turns.")
	descActors  = desc("actors", "Actors that are alive: those of sessions, turns, processes and runners, and three of the host.")
	descReaped  = desc("orphans_reaped_total", "Processes that outlived their turn and were ended.")
	descEvicted = desc("sessions_evicted_total", "Idle sessions that went by session_ttl, max_sessions or store_max_bytes.")
	descCrashes = desc("actor_panics_total", "Actors that panicked.")
	descStuck   = desc("sessions_stuck_total", "Sessions that were in progress without a turn that lives, which a sampling found; never, unless the host has a fault.")
	descTurn    = desc("turn_seconds_average", "Moving average of the time that a turn holds its slot.")
	descWeight  = desc("turn_memory_bytes", "Moving average of the memory that a turn takes.")
	descConns   = desc("connections_open", "Open connections of clients.")
	descRefused = desc("connections_refused_total", "Connections refused at limits.max_connections.")
	descAudited = desc("audit_records_total", "Records of the audit, written or lost because its queue was full or its disk did not take them.", "fate")
	descCommit  = desc("store_commit_seconds", "Time from a commit to its durability.")
	descRoom    = desc("memory_room", "1 when there is memory for a further turn.")
	descStreams = desc("streams_open", "Open event streams.")
	descOpened  = desc("streams_opened_total", "Event streams opened.")
	descEnded   = desc("streams_lost_total", "Event streams that the client's side ended.", "reason")
	descBytes   = desc("stream_bytes_total", "Bytes written to event streams.")
)

// Describe lists nothing: the collector is unchecked.
func (c *hostCollector) Describe(chan<- *prometheus.Desc) {}

// Collect reads all counts once.
func (c *hostCollector) Collect(out chan<- prometheus.Metric) {
	defer crash.Guard()
	gauge := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	h := c.s.host.Stats()
	gauge(descRunning, h.Running)
	gauge(descWaiting, h.Waiting)
	counter(descTurns, h.Completed, "completed")
	counter(descTurns, h.Failed, "failed")
	counter(descTurns, h.Cancelled, "cancelled")
	gauge(descActive, h.Active)
	gauge(descTrees, h.Trees)
	gauge(descRunners, h.Runners)
	gauge(descActors, h.Actors)
	counter(descReaped, h.OrphansReaped)
	counter(descEvicted, h.Evicted)
	counter(descCrashes, h.Crashes)
	counter(descStuck, h.Stuck)
	out <- prometheus.MustNewConstMetric(descTurn, prometheus.GaugeValue, h.TurnTime.Seconds())
	gauge(descWeight, h.TurnMemory)
	gauge(descConns, c.s.crowd.open.Load())
	counter(descRefused, c.s.crowd.refused.Load())
	written, lost := c.s.cfg.Audit.Counts()
	counter(descAudited, written, "written")
	counter(descAudited, lost, "lost")
	out <- prometheus.MustNewConstSummary(descCommit, uint64(max(h.Commits, 0)), h.CommitTime.Seconds(), nil)
	room := int64(0)
	if h.Room {
		room = 1
	}
	gauge(descRoom, room)
	t := c.s.hub.Stats()
	gauge(descStreams, int64(t.Open))
	counter(descOpened, t.Opened)
	counter(descEnded, t.Slow, "slow")
	counter(descEnded, t.Gone, "gone")
	counter(descEnded, t.Panics, "panic")
	counter(descBytes, t.Bytes)
}
