package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/athir-radio/athir/internal/onair/scheduler"
)

// newMetrics serves a registry whose values are read each time: that costs queries of the
// database and a question to the node.
func (s *Server) newMetrics() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, m := range slices.Concat(s.airFigures(), s.audienceFigures(), s.liveFigures(), s.peopleFigures(), s.opt.Metrics) {
		reg.MustRegister(m.collector())
	}
	for _, g := range s.opt.Groups {
		reg.MustRegister(g.collector())
	}
	if s.opt.DeadAir != nil {
		reg.MustRegister(newGuardMetrics(s.opt.DeadAir))
	}
	reg.MustRegister(&nodeMetrics{
		node: s.node, air: s.opt.Air,
		onAir:     prometheus.NewDesc("athir_on_air", "1 while something is on air and the programs to the listeners run, as far as is known.", nil, nil),
		reachable: prometheus.NewDesc("athir_node_reachable", "1 while the broadcast node answers the control plane.", nil, nil),
		up:        prometheus.NewDesc("athir_program_up", "1 while the program runs.", []string{"program"}, nil),
		version:   prometheus.NewDesc("athir_role_version_info", "1 for the version that a process of Athir is, as it tells itself.", []string{"role", "version"}, nil),
		restarts:  prometheus.NewDesc("athir_program_restarts_total", "Restarts since the node started.", []string{"program"}, nil),
	})
	return promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
}

// Metric is one name of /metrics with its values, read at each scrape.
type Metric struct {
	Name    string // without athir_
	Help    string
	Counter bool   // else a gauge
	Label   string // name of the label that tells values apart; empty for a single value
	Read    func(add func(value float64, label string))
}

// Group is metrics that one reading fills, such as a query of the database: it is done
// once for each scrape. Read names each value's metric; those of Of have no Read.
type Group struct {
	Of   []Metric
	Read func(add func(name string, value float64, label string))
}

// value reads a metric with a single value.
func value(read func() float64) func(func(float64, string)) {
	return func(add func(float64, string)) { add(read(), "") }
}

// airFigures returns the metrics of the air and its sources.
func (s *Server) airFigures() []Metric {
	return []Metric{
		{Name: "build_info", Help: "1; the label is the version.", Label: "version", Read: func(add func(float64, string)) { add(1, s.opt.Version) }},
		{Name: "track_age_seconds", Help: "Time since the last track marker.", Read: value(func() float64 {
			at := s.opt.Air().OnAir.StartedAt
			if at.IsZero() {
				return 0
			}
			return time.Since(at).Seconds()
		})},
		{Name: "rotation_entries", Help: "Length of the rotation on air.", Read: value(func() float64 { return float64(len(s.opt.Air().Rotation.Entries)) })},
		{Name: "rotation_consumed", Help: "Entries of it that were heard or passed over.", Read: value(func() float64 { return float64(s.opt.Air().Consumed) })},
		{Name: "rotation_problem", Help: "1 while the rotation cannot be renewed.", Read: value(func() float64 { return one(s.opt.Air().Problem != "") })},
		{Name: "library_tracks", Help: "Playable tracks.", Read: value(func() float64 { return float64(len(s.opt.Library().Tracks)) })},
		{Name: "library_quarantined", Help: "Files that cannot be aired.", Read: value(func() float64 { return float64(len(s.opt.Library().Quarantined)) })},
		{Name: "library_problem", Help: "1 while the media folder cannot be read.", Read: value(func() float64 { return one(s.opt.Library().Problem != "") })},
		{Name: "mastering_waiting", Help: "Files that are not mastered yet.", Read: value(func() float64 { return float64(s.opt.Mastering().Waiting) })},
		{Name: "mastering_silent", Help: "Of them, those of which nothing airs meanwhile.", Read: value(func() float64 { return float64(s.opt.Mastering().Silent) })},
		{Name: "mastering_problem", Help: "1 while something keeps files from being mastered.", Read: value(func() float64 { return one(s.opt.Mastering().Problem != "") })},
	}
}

// audienceFigures returns the metrics of listeners and their messages. Those by device and
// country are not among them: whoever reaches the port reads these without a key, and of a small
// station would see the one listener of a country come and go.
func (s *Server) audienceFigures() []Metric {
	return []Metric{
		{Name: "listeners", Help: "Listeners by the way they listen; each stands in one.", Label: "way", Read: func(add func(float64, string)) {
			p := s.opt.Count().Parts
			add(float64(p.HLS), "hls")
			add(float64(p.Stream), "stream")
			add(float64(p.Icecast), "icecast")
		}},
		{Name: "listeners_source", Help: "1 for the server whose count stats_update has; absent while none answers.", Label: "source", Read: func(add func(float64, string)) {
			if source := s.opt.Count().Source; source != "" {
				add(1, source)
			}
		}},
		{Name: "bandwidth_bits_per_second", Help: "What listeners take, by the way they listen.", Label: "way", Read: func(add func(float64, string)) {
			b := s.opt.Count().Bandwidth
			add(b.HLS, "hls")
			add(b.Stream, "stream")
			add(b.Icecast, "icecast")
		}},
		{Name: "tune_ins_total", Help: "Listeners who came since the control plane started.", Counter: true, Read: value(func() float64 { return float64(s.opt.Count().TuneIns) })},
		{Name: "tune_outs_total", Help: "Listeners who left since the control plane started.", Counter: true, Read: value(func() float64 { return float64(s.opt.Count().TuneOuts) })},
		{Name: "stream_bytes_total", Help: "Audio bytes sent by /stream.", Counter: true, Read: value(func() float64 { return float64(s.opt.Stream.BytesOut()) })},
		{Name: "reactions_total", Help: "Reactions of all emoji, since the station's first day.", Counter: true, Read: value(func() float64 {
			sum := int64(0)
			for _, n := range s.opt.Reactions.Counts() {
				sum += n
			}
			return float64(sum)
		})},
		{Name: "vibe_votes", Help: "Votes on the vibe in the last half hour.", Label: "vibe", Read: func(add func(float64, string)) {
			for vibe, n := range s.opt.Vibes.Counts() {
				add(float64(n), vibe)
			}
		}},
		{Name: "upnext_voted_tracks", Help: "Tracks of the queue that more voted for than against, or against than for.", Label: "voted", Read: func(add func(float64, string)) {
			counts := map[bool]int{}
			for _, n := range s.opt.Votes.Counts() {
				counts[n > 0]++
			}
			add(float64(counts[true]), "for")
			add(float64(counts[false]), "against")
		}},
	}
}

// scraped is a Metric as a Prometheus collector.
type scraped struct {
	Metric
	desc *prometheus.Desc
}

func (m Metric) collector() *scraped {
	var labels []string
	if m.Label != "" {
		labels = []string{m.Label}
	}
	return &scraped{m, prometheus.NewDesc("athir_"+m.Name, m.Help, labels, nil)}
}

func (r *scraped) Describe(ch chan<- *prometheus.Desc) { ch <- r.desc }

func (r *scraped) Collect(ch chan<- prometheus.Metric) {
	r.Read(func(value float64, label string) { ch <- r.sample(value, label) })
}

func (r *scraped) sample(value float64, label string) prometheus.Metric {
	kind := prometheus.GaugeValue
	if r.Counter {
		kind = prometheus.CounterValue
	}
	if r.Label == "" {
		return prometheus.MustNewConstMetric(r.desc, kind, value)
	}
	return prometheus.MustNewConstMetric(r.desc, kind, value, label)
}

// scrapedGroup is a Group as a Prometheus collector.
type scrapedGroup struct {
	of   map[string]*scraped
	read func(add func(name string, value float64, label string))
}

func (g Group) collector() prometheus.Collector {
	out := &scrapedGroup{map[string]*scraped{}, g.Read}
	for _, m := range g.Of {
		out.of[m.Name] = m.collector()
	}
	return out
}

func (g *scrapedGroup) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range g.of {
		m.Describe(ch)
	}
}

func (g *scrapedGroup) Collect(ch chan<- prometheus.Metric) {
	g.read(func(name string, value float64, label string) { ch <- g.of[name].sample(value, label) })
}

// nodeMetrics asks the node once per scrape.
type nodeMetrics struct {
	node                                    func(context.Context) (node Node, sounding bool, err error)
	air                                     func() *scheduler.View
	onAir, reachable, up, version, restarts *prometheus.Desc
}

func (m *nodeMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.onAir
	ch <- m.reachable
	ch <- m.up
	ch <- m.version
	ch <- m.restarts
}

func (m *nodeMetrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	node, sounding, err := m.node(ctx) // one that does not answer shows no programs
	on := sounding && !m.air().OnAir.StartedAt.IsZero()
	ch <- prometheus.MustNewConstMetric(m.onAir, prometheus.GaugeValue, one(on))
	ch <- prometheus.MustNewConstMetric(m.reachable, prometheus.GaugeValue, one(err == nil))
	for role, version := range node.Versions {
		ch <- prometheus.MustNewConstMetric(m.version, prometheus.GaugeValue, 1, role, version)
	}
	for _, p := range node.Programs {
		ch <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, one(p.State == "running"), p.Name)
		ch <- prometheus.MustNewConstMetric(m.restarts, prometheus.CounterValue, float64(p.Restarts), p.Name)
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
