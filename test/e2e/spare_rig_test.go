package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/app/doctor"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// network is a bridge with machines at it, each a network namespace with a link of its own.
type network struct {
	t    *testing.T
	name string
	net  string // its first three numbers
	at   map[string]int
}

// newNetwork needs root: the machines' links are real ones of the kernel, which are cut, slow
// and lossy as a cable is.
func newNetwork(t *testing.T, machines ...string) *network {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: network namespaces with links of their own need root")
	}
	n := &network{t: t, name: fmt.Sprintf("at%d", os.Getpid()%100_000), net: fmt.Sprintf("10.%d.%d", 64+os.Getpid()>>8%128, os.Getpid()%256), at: map[string]int{}}
	if out, err := exec.Command("ip", "netns", "add", n.name+"-try").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this machine lets us make no network namespace: %v: %s", err, out)
	}
	n.do("ip", "netns", "del", n.name+"-try")
	n.do("ip", "link", "add", n.name, "type", "bridge")
	t.Cleanup(func() { n.do("ip", "link", "del", n.name) })
	n.do("ip", "addr", "add", n.net+".1/24", "dev", n.name)
	n.do("ip", "link", "set", n.name, "up")
	for i, m := range machines {
		n.at[m] = i + 2
		n.do("ip", "netns", "add", n.space(m))
		t.Cleanup(func() { n.do("ip", "netns", "del", n.space(m)) })
		// The kernel lets go of a network before, of the same name, a moment after it was deleted.
		testkit.EventuallyNil(t, "a cable to "+m, func() error {
			out, err := exec.Command("ip", "link", "add", n.cable(m), "type", "veth", "peer", "name", "eth0", "netns", n.space(m)).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
		n.do("ip", "link", "set", n.cable(m), "master", n.name, "up")
		n.in(m, "ip", "addr", "add", n.address(m)+"/24", "dev", "eth0")
		n.in(m, "ip", "link", "set", "eth0", "up")
		n.in(m, "ip", "link", "set", "lo", "up")
	}
	return n
}

func (n *network) space(m string) string   { return n.name + "-" + m }
func (n *network) cable(m string) string   { return n.name + m }
func (n *network) address(m string) string { return fmt.Sprintf("%s.%d", n.net, n.at[m]) }

func (n *network) do(name string, args ...string) {
	n.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		n.t.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

func (n *network) in(m string, args ...string) {
	n.t.Helper()
	n.do("ip", append([]string{"netns", "exec", n.space(m)}, args...)...)
}

// deaf loses all that one machine sends to another, or no longer.
func (n *network) deaf(from, to string, lost bool) {
	n.t.Helper()
	n.in(from, "ip", "route", map[bool]string{true: "add", false: "del"}[lost], "blackhole", n.address(to)+"/32")
}

// narrow has a machine's link pass 150 kB/s each way, or no longer.
func (n *network) narrow(m string, is bool) {
	n.t.Helper()
	qdisc := func(dev string) []string {
		if !is {
			return []string{"tc", "qdisc", "del", "dev", dev, "root"}
		}
		return []string{"tc", "qdisc", "add", "dev", dev, "root", "tbf", "rate", "1200kbit", "burst", "16k", "latency", "1s"}
	}
	near := qdisc(n.cable(m))
	n.do(near[0], near[1:]...)
	n.in(m, qdisc("eth0")...)
}

// dies kills all processes of a machine at once, as a power cut does.
func (n *network) dies(m string) {
	n.t.Helper()
	out, err := exec.Command("ip", "netns", "pids", n.space(m)).Output()
	if err != nil {
		n.t.Error(err)
	}
	if pids := strings.Fields(string(out)); len(pids) > 0 {
		_ = exec.Command("kill", append([]string{"-9"}, pids...)...).Run() // some end with others
	}
}

// spared is a station of a control plane with an edge, and two nodes, on four machines.
type spared struct {
	*station
	net     *network
	of      func(m string) (program string, env []string) // that a machine runs
	control *part
	edge    *part
	homes   map[*part]string // their data directories
	nodes   map[string]*part
	air     map[string]string // the cache of each node, as it is found from here
	cache   string            // the name that all of them have
	stream  *listener
	hls     *segments
}

// withSpare starts it, and listens at the edge.
func withSpare(t *testing.T) *spared {
	t.Helper()
	return withSpareOf(t, everywhere)
}

// everywhere is the program under test, on every machine.
func everywhere(string) (program string, env []string) { return binary, nil }

// withSpareOf has each machine run a program of its own, in an environment of its own.
func withSpareOf(t *testing.T, of func(m string) (program string, env []string)) *spared {
	t.Helper()
	p := newSpared(t, sample(), 40, of)
	p.startEdge()
	for _, m := range []string{"a", "b"} {
		p.startNode(m)
		if m == "a" {
			p.eventually("the first node has the air", func() bool { return p.logged("control:", "broadcast node has the station", "fence=1") > 0 })
		}
	}
	p.ready("at first", "a")
	at := fmt.Sprintf("http://%s:%d", p.net.address("c"), p.ports["chat"])
	p.stream = listen(t, "stream", at+"/stream")
	p.hls = follow(t, at+"/hls/main/index.m3u8")
	p.heard("music at the edge", 2*time.Second)
	p.eventually("segments at the edge", func() bool { return p.hls.count() > 0 })
	return p
}

// newSpared starts the control plane alone, of a station with a list of so many entries.
func newSpared(t *testing.T, pieces []piece, entries int, of func(m string) (program string, env []string)) *spared {
	t.Helper()
	n := newNetwork(t, "c", "a", "b")
	s := newStation(t, withKeys)
	record(t, s.media, pieces)
	s.configure(programmeRules(entries, []rotation.Daypart{}))
	s.showLog()
	p := &spared{station: s, net: n, of: of, nodes: map[string]*part{}, homes: map[*part]string{}, air: map[string]string{}, cache: filepath.Join(t.TempDir(), "air")}
	if err := os.MkdirAll(p.cache, 0o755); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "ATHIR_NODE_REMOTE=true", "ATHIR_BIND=0.0.0.0", "ATHIR_NODE_CACHE="+p.cache, "ATHIR_STREAM_MAX_PER_ADDRESS=0")
	program, env := of("c")
	p.control = s.part("control", "ip", p.inside("c", `exec "$@"`, program, "control", "--data", s.data, "--media", s.media),
		slices.Concat(env, []string{"ATHIR_BUS_LISTEN=0.0.0.0", "ATHIR_NODE_HOST=" + n.address("a"), "ATHIR_NODE_SPARE=" + n.address("b")})...)
	p.homes[p.control] = s.data
	return p
}

func (p *spared) inside(m, script string, args ...string) []string {
	return append([]string{"netns", "exec", p.net.space(m), "sh", "-c", script, "sh"}, args...)
}

// far are the settings of whoever reaches the control plane from elsewhere.
func (p *spared) far() []string {
	c := p.net.address("c")
	return []string{fmt.Sprintf("ATHIR_BUS_URL=nats://%s:%d", c, p.ports["nats"]), fmt.Sprintf("ATHIR_BUS_CONTROL=%s:%d", c, p.ports["control"])}
}

func (p *spared) startEdge() {
	p.t.Helper()
	program, env := p.of("c")
	home := filepath.Join(p.t.TempDir(), "edge")
	p.edge = p.part("edge", "ip", p.inside("c", `exec "$@"`, program, "chat", "--data", home), append(slices.Concat(env, p.far()), "ATHIR_NODE_REMOTE=false",
		fmt.Sprintf("ATHIR_HLS_RELAY=%s:%d,%s:%d", p.net.address("a"), p.ports["hls"], p.net.address("b"), p.ports["hls"]))...)
	p.homes[p.edge] = home
}

// startNode starts one with a cache of its own, that all have under one name.
func (p *spared) startNode(m string) {
	p.t.Helper()
	far := &machine{data: filepath.Join(p.t.TempDir(), "node-"+m)}
	p.t.Cleanup(far.forget)
	p.air[m] = filepath.Join(far.data, "air")
	if err := os.MkdirAll(p.air[m], 0o755); err != nil {
		p.t.Fatal(err)
	}
	program, env := p.of(m)
	p.nodes[m] = p.part("node "+m, "ip",
		p.inside(m, `mount --bind "$1" "$2" && shift 2 && exec "$@"`, p.air[m], p.cache, program, "node", "--data", far.data, "--media", filepath.Join(far.data, "none")),
		append(slices.Concat(env, p.far()), "ATHIR_NODE_HOST="+p.net.address(m))...)
	p.homes[p.nodes[m]] = far.data
}

// seesWell asks the doctor on the machine of a process until each of these checks is well.
func (p *spared) seesWell(m string, of *part, checks ...string) {
	p.t.Helper()
	testkit.EventuallyNil(p.t, "well in the eyes of the doctor of "+of.name, func() (wrong error) { // as long as the machine is short it warns of that
		seen := p.doctor(m, of)
		for _, name := range checks {
			if r, looked := seen[name]; !looked || r.Verdict != doctor.OK {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %+v", name, r))
			}
		}
		return wrong
	})
}

func (p *spared) doctor(m string, of *part) map[string]doctor.Result {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "ip", "netns", "exec", p.net.space(m), binary, "doctor", "--offline", "--json", "--data", p.homes[of])
	cmd.Env = slices.Concat(os.Environ(), p.env, of.env)
	out, _ := cmd.Output() // a machine may be wrong in something else
	var got struct{ Checks []doctor.Result }
	if err := json.Unmarshal(out, &got); err != nil {
		p.t.Fatalf("doctor: %v: %s", err, out)
	}
	seen := map[string]doctor.Result{}
	for _, r := range got.Checks {
		seen[r.Name] = r
	}
	return seen
}

// ready waits until a node has the air and the other one all that comes.
func (p *spared) ready(when, holder string) {
	p.t.Helper()
	p.eventually("a spare with the list, "+when, func() bool {
		st := p.stood()
		return st.Host == p.net.address(holder) && st.Spare != nil && st.Spare.InPlace && st.Spare.Missing == 0 && st.Spare.Entries > 0
	})
}

// heard waits until so much more has come from /stream at the edge: the audio is the clock.
func (p *spared) heard(what string, long time.Duration) {
	p.t.Helper()
	from := p.stream.rec.PCM().Duration()
	p.eventually(what, func() bool {
		select {
		case err := <-p.stream.ended:
			p.t.Fatalf("/stream ended: %v", err)
		default:
		}
		return p.stream.rec.PCM().Duration() > from+long
	})
}

// takeover has the air go to the other node, by what happens, and tells how long listeners at
// the edge had nothing new. It returns which song was cut: it had been on for so long that
// the spare knew.
func (p *spared) takeover(what, to string, happens func()) (cut int) {
	p.t.Helper()
	p.eventually("a song that the spare knows of: "+what, func() bool {
		st := p.told()
		on := time.Duration(st.ServerTime-st.Track.StartedAt) * time.Millisecond
		cut = toneOf(st.Track.File)
		return cut >= 0 && cut < 100 && on > 2*time.Second && on < 3*time.Second && st.Node.Spare != nil && st.Node.Spare.InPlace
	})
	before := p.logged("control:", "the spare took the air")
	began := time.Now()
	happens()
	p.eventually("the other node has the air: "+what, func() bool {
		return p.logged("control:", "the spare took the air") > before && p.stood().Host == p.net.address(to)
	})
	took := time.Since(began)
	p.heard("music after it: "+what, 8*time.Second)
	segments := p.hls.count()
	p.eventually("HLS after it: "+what, func() bool { return p.hls.count() > segments+2 })
	p.t.Logf("%s: the lease went to the other node after %s; without audio: /stream %s, HLS %s between two segments", what,
		took.Round(10*time.Millisecond), longest(p.stream.rec.ArrivedAt, p.stream.rec.Position(began), p.stream.rec.PCM().Duration()).Round(10*time.Millisecond), p.hls.pause(began).Round(10*time.Millisecond))
	return cut
}

// longest is the longest time between two arrivals of audio.
func longest(arrived func(time.Duration) (time.Time, bool), from, until time.Duration) (most time.Duration) {
	last, ok := arrived(from)
	for at := from; ok && at < until; at += 20 * time.Millisecond {
		var now time.Time
		if now, ok = arrived(at); ok {
			most, last = max(most, now.Sub(last)), now
		}
	}
	return most
}

func (p *spared) port(name string) string { return fmt.Sprintf(":%d", p.ports[name]) }

// standing is what the status says of the nodes.
type standing struct {
	Host  string `json:"host"`
	Fence uint64 `json:"fence"`
	Spare *struct {
		Name    string `json:"name"`
		Entries int    `json:"entries"`
		Missing int    `json:"missing"`
		InPlace bool   `json:"inPlace"`
	} `json:"spare"`
}

func (p *spared) stood() standing { return p.told().Node }

// sparedStatus is the part of the status that these tests look at.
type sparedStatus struct {
	Node       standing `json:"node"`
	Track      onAir    `json:"track"`
	ServerTime int64    `json:"serverTime"`
}

func (p *spared) told() (out sparedStatus) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s:%d/api/status", p.net.address("c"), p.ports["control"]), http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("X-Station-Key", testStationKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return out // it starts
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	_ = json.NewDecoder(resp.Body).Decode(&out)
	return out
}

// segments follows an HLS playlist as a player does, and notes when each segment first shows.
type segments struct {
	mu   sync.Mutex
	seen map[string]bool
	at   []time.Time
	lost int // playlists that did not come: a session anew
}

var segmentName = regexp.MustCompile(`(?m)^(seg\d+\.m4s)`)

func follow(t *testing.T, index string) *segments {
	s := &segments{seen: map[string]bool{}}
	client := &http.Client{Timeout: 10 * time.Second} // as hls.js waits for a playlist
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); all.Wait(); client.CloseIdleConnections() })
	get := func(url string) []byte {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return nil
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		if resp.StatusCode != http.StatusOK {
			return nil
		}
		body, _ := io.ReadAll(resp.Body) // what came of it
		return body
	}
	all.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		media := "" // with the session of this player
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if media == "" {
				if _, mark, ok := strings.Cut(string(get(index+"?cookieCheck=1")), "main_stream.m3u8"); ok {
					mark, _, _ = strings.Cut(mark, "\n")
					media = strings.Replace(index, "index.m3u8", "main_stream.m3u8", 1) + mark
				}
				continue
			}
			list := get(media)
			if list == nil && ctx.Err() == nil {
				media = ""
				s.mu.Lock()
				s.lost++
				s.mu.Unlock()
			}
			s.note(segmentName.FindAllString(string(list), -1))
		}
	})
	return s
}

func (s *segments) note(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := false
	for _, name := range names {
		fresh = fresh || !s.seen[name]
		s.seen[name] = true
	}
	if fresh {
		s.at = append(s.at, time.Now())
	}
}

func (s *segments) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

// losses is how often the playlist did not come.
func (s *segments) losses() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// pause is the longest time between two new segments since then.
func (s *segments) pause(since time.Time) (most time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 1; i < len(s.at); i++ {
		if s.at[i].After(since) {
			most = max(most, s.at[i].Sub(s.at[i-1]))
		}
	}
	return most
}
