package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/test/aircheck"
)

// Control plane and node share nothing but an external bus, HTTP and two keys:
// separate data directories, the music only with the control plane. What it
// orders is heard from the node's Icecast, and each of bus, node and control
// plane may be killed and come back.
func TestNodeOnAnotherMachineIsHeard(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	pieces := sample()
	record(t, s.media, pieces)
	s.configure(programmeRules(40, []rotation.Daypart{}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the station:\n%s", s.tail(200))
		}
	})
	far := &machine{data: filepath.Join(t.TempDir(), "node")}
	t.Cleanup(far.forget)
	cache := filepath.Join(far.data, "air")
	s.env = append(s.env, "SYNC_TOKEN=shared-by-both", "ATHIR_NODE_REMOTE=true", "ATHIR_NODE_HOST=127.0.0.1", "ATHIR_NODE_CACHE="+cache,
		fmt.Sprintf("ATHIR_BUS_CONTROL=127.0.0.1:%d", s.ports["control"]))
	bus := s.bus()
	control := s.part("control", binary, []string{"control", "--data", s.data, "--media", s.media})
	node := s.part("node", binary, []string{"node", "--data", far.data, "--media", filepath.Join(far.data, "none")})
	music := func(what string) {
		t.Helper()
		s.eventually(what, func() bool {
			st, err := s.status()
			return err == nil && st.State == "music" && len(st.Processes) > 0 && st.Track != nil
		})
	}
	var pressed []int // what each press was to bring
	skipped := func(e *ear, when string) {
		t.Helper()
		var a answer
		var sent time.Time
		s.eventually("a skip is taken "+when, func() bool {
			var err error
			sent = time.Now()
			a, err = s.skip()
			return err == nil && a.code == http.StatusOK && len(a.Next) > 0
		})
		named := s.brings(a)
		pressed = append(pressed, named)
		t.Logf("SKIP %s: heard after %s", when, e.hears(s, named, sent).Round(time.Millisecond))
	}

	music("music from the node")
	s.eventually("the push is verified", func() bool { return s.logged("control:", "Rotation verified on remote") > 0 })
	s.eventually("all of the library", func() bool { st, err := s.status(); return err == nil && st.Library.Tracks == len(pieces) })
	first := s.listen()
	skipped(first, "at first")
	st, err := s.status()
	if err != nil || st.Track == nil || strings.HasPrefix(st.Track.File, "/") || toneOf(st.Track.File) < 0 {
		t.Errorf("the track on air is not one of the library: %+v, %v", st.Track, err)
	}
	s.eventually("five files of the node's own", func() bool { // the first song plays as soon as it is there
		files := map[string]int{}
		_ = filepath.WalkDir(cache, func(path string, d os.DirEntry, _ error) error {
			if d != nil && d.Type().IsRegular() {
				files[filepath.Base(path)]++
			}
			return nil
		})
		return len(files) >= 5
	})
	for _, door := range []string{"player", "control"} {
		s.eventually("HLS by way of "+door, func() bool {
			body, err := s.get(door, "/hls/main/index.m3u8")
			return err == nil && strings.Contains(string(body), "#EXTM3U")
		})
	}
	if _, err := firstAudio(t.Context(), s.url("control", "/stream"), time.Now()); err != nil {
		t.Errorf("/stream of the control plane: %v", err)
	}
	s.eventually("the relay's list counts", func() bool { st, err := s.status(); return err == nil && st.Source == "athir" })

	// Without a control plane the node goes on, and it finds what is on air again.
	control.killed()
	first.until(s, "two entries begin by themselves", first.Position(time.Now()), func(heard []aircheck.Segment) bool { return len(heard) > 2 })
	select {
	case <-node.ended:
		t.Fatal("the node ended with the control plane")
	default:
	}
	control.start()
	music("music again under a new control plane")
	skipped(first, "after the control plane was killed")

	// Without the bus an order is refused, and the air goes on.
	bus.killed()
	s.eventually("an order without a bus is refused", func() bool {
		a, err := s.skip()
		return err == nil && a.code == http.StatusServiceUnavailable && strings.Contains(a.text, "detail")
	})
	bus.start()
	skipped(first, "after the bus was killed")
	first.until(s, "all that was pressed is heard in order", 0, func(heard []aircheck.Segment) bool {
		return within(pressed, aircheck.Report{Segments: heard}.Order()) < 0
	})
	report := aircheck.Fine.Analyse(first.PCM())
	if gap := report.Gap.Length(); gap > maxGap {
		t.Errorf("a gap of %s at %s, and the node was well all the time", gap, report.Gap.Start)
	}
	first.stop()

	node.killed() // and all its programs with it
	node.start()
	s.eventually("the node takes orders again", func() bool { p, err := s.process("liquidsoap"); return err == nil && p.PID > 0 })
	music("music from the node again")
	s.eventually("Icecast has the stream", func() bool {
		_, err := firstAudio(t.Context(), s.url("icecast", "/main"), time.Now())
		return err == nil
	})
	second := s.listen()
	s.eventually("the new ear hears", func() bool { return second.PCM().Duration() > time.Second })
	skipped(second, "after the node was killed")
	second.stop()
	for _, p := range []*part{node, control} {
		p.signal(os.Interrupt)
	}
}
