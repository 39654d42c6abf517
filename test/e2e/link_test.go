package e2e

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/test/aircheck"
)

// link is a way between two machines that can be cut: as where a cable is pulled, nothing
// is refused and nothing ends, but nothing comes through until it is mended.
type link struct {
	port int
	mu   sync.Mutex
	open chan struct{} // closed while something comes through
}

// newLink leads to a port of this machine, until the test ends.
func newLink(t *testing.T, to int) *link {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{port: in.Addr().(*net.TCPAddr).Port, open: make(chan struct{})}
	l.mend()
	var all sync.WaitGroup
	var mu sync.Mutex
	ended, conns := false, []net.Conn(nil)
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		if conns = append(conns, c); ended {
			_ = c.Close()
		}
	}
	carry := func(from, to net.Conn) {
		defer to.Close()   //nolint:errcheck // whoever is left notices
		defer from.Close() //nolint:errcheck // as above
		block := make([]byte, 32<<10)
		for {
			n, err := from.Read(block)
			<-l.way()
			if _, wrong := to.Write(block[:n]); err != nil || wrong != nil {
				return
			}
		}
	}
	all.Go(func() {
		for {
			near, err := in.Accept()
			if err != nil {
				return
			}
			keep(near)
			all.Go(func() {
				<-l.way()
				far, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", to))
				if err != nil {
					_ = near.Close()
					return
				}
				keep(far)
				all.Go(func() { carry(near, far) })
				carry(far, near)
			})
		}
	})
	t.Cleanup(func() {
		l.mend()
		mu.Lock()
		ended = true
		_ = in.Close()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return l
}

func (l *link) way() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = make(chan struct{})
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}

// The link between the control plane and the node is cut: that to the bus, then that to
// the streaming server. The music plays on for who hears it from the node, no program is
// restarted for it, and the station says what it does not know instead of "off". Without
// the bus orders are refused.
func TestALinkThatIsCutStopsNoMusic(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys, withGuard)
	record(t, s.media, sample())
	s.configure(programmeRules(40, []rotation.Daypart{}))
	s.showLog()
	far := &machine{data: filepath.Join(t.TempDir(), "node")}
	t.Cleanup(far.forget)
	s.env = append(s.env, "ATHIR_NODE_REMOTE=true", "ATHIR_NODE_HOST=127.0.0.1", "ATHIR_NODE_CACHE="+filepath.Join(far.data, "air"),
		fmt.Sprintf("ATHIR_BUS_CONTROL=127.0.0.1:%d", s.ports["control"]))
	s.bus()
	bus, audio := newLink(t, s.busPort()), newLink(t, s.ports["icecast"])
	s.part("control", binary, []string{"control", "--data", s.data, "--media", s.media},
		fmt.Sprintf("ATHIR_BUS_URL=nats://athir:sesame@127.0.0.1:%d", bus.port), fmt.Sprintf("ATHIR_PORTS_ICECAST=%d", audio.port))
	s.part("node", binary, []string{"node", "--data", far.data, "--media", filepath.Join(far.data, "none")})
	s.eventually("music from the node", func() bool {
		st, err := s.status()
		return err == nil && st.State == "music" && len(st.Processes) > 0 && st.Track != nil
	})
	s.calm("at the start")
	s.eventually("the metric of a node that answers", s.metric("athir_node_reachable 1"))
	running := func() (out []string) {
		var st status
		s.eventually("the node tells its programs", func() (ok bool) {
			var err error
			st, err = s.status()
			return err == nil && len(st.Processes) > 0
		})
		for _, p := range st.Processes {
			out = append(out, fmt.Sprintf("%s %d, restarted %d times", p.Name, p.PID, p.Restarts))
		}
		return out
	}
	programs := running()
	ear, listener := s.listen(), listen(t, "icecast", s.url("icecast", "/main"))
	s.eventually("the listener hears", func() bool { return listener.rec.PCM().Duration() > 0 })

	var watching sync.WaitGroup
	var over atomic.Bool
	watching.Go(func() {
		for !over.Load() {
			if st, err := s.status(); err == nil && (st.State != "music" || !st.OnAir) {
				t.Errorf("the status says %q, on air %t (%s) while the music plays", st.State, st.OnAir, st.Reason)
				return
			}
		}
	})
	defer watching.Wait()
	defer over.Store(true)

	bus.cut()
	s.eventually("the status names the node that does not answer", func() bool {
		st, err := s.status()
		return err == nil && st.Reason == "node_unreachable"
	})
	s.eventually("the metric of a node that does not answer", s.metric("athir_node_reachable 0"))
	s.eventually("an alarm", func() bool {
		a := s.alarms()
		return len(a) > 0 && a[0].Kind == "unreachable" && a[0].Cleared == 0
	})
	// Not a skip: one in the moment in which a song ends by itself needs no node.
	for path, body := range map[string]string{"/api/station/play": `{"category":"english"}`, "/api/station/rotation/rebuild": ""} {
		a, err := s.order(testStationKey, path, body)
		if err != nil || a.code != http.StatusServiceUnavailable || !strings.Contains(a.text, `"detail"`) {
			t.Errorf("%s during the cut: %d %s, %v", path, a.code, a.text, err)
		}
	}
	listener.goesOn(s)
	bus.mend()
	s.eventually("the node answers again", func() bool {
		st, err := s.status()
		return err == nil && st.Reason == "" && s.metric("athir_node_reachable 1")()
	})
	s.calm("after the bus is back")

	lost := s.logged("control:", "stream upstream lost")
	audio.cut()
	s.eventually("/stream has nothing", func() bool { return s.logged("control:", "stream upstream lost") > lost })
	s.eventually("a skip without the audio", func() bool {
		a, err := s.skip()
		return err == nil && a.code == http.StatusOK
	})
	listener.goesOn(s)
	audio.mend()
	listen(t, "stream", s.url("control", "/stream")).goesOn(s)
	s.calm("at the end")
	over.Store(true)
	watching.Wait()
	if now := running(); !slices.Equal(now, programs) {
		t.Errorf("processes %v became %v", programs, now)
	}
	for _, a := range s.alarms() {
		if a.Kind != "unreachable" || len(a.Steps) > 0 {
			t.Errorf("an alarm %q, with the steps %v", a.Kind, a.Steps)
		}
	}
	ear.stop()
	if gap := aircheck.Fine.Analyse(ear.PCM()).Gap; gap.Length() > maxGap {
		t.Errorf("a gap of %s at %s", gap.Length(), gap.Start)
	}
}

// metric is a condition: the metrics have a line.
func (s *station) metric(line string) func() bool {
	want := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(line) + `$`)
	return func() bool {
		body, err := s.get("control", "/metrics")
		return err == nil && want.Match(body)
	}
}

// busPort is where the bus that was started last listens.
func (s *station) busPort() (port int) {
	for _, kv := range s.env {
		if _, err := fmt.Sscanf(kv, "ATHIR_BUS_URL=nats://athir:sesame@127.0.0.1:%d", &port); err == nil && port > 0 {
			return port
		}
	}
	s.t.Fatal("there is no bus")
	return 0
}
