//go:build soak

package e2e

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// link passes connections on, until it is cut: then nothing comes through, and nobody is
// told, as where a cable is pulled.
type link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	whole *sync.Cond
	cutBy bool
	over  bool
	open  map[net.Conn]bool
}

// newLink passes on to a port of this machine until the test ends.
func newLink(t *testing.T, target int) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{listener: l, target: fmt.Sprintf("127.0.0.1:%d", target), open: map[net.Conn]bool{}}
	k.whole = sync.NewCond(&k.mu)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { k.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		k.mu.Lock()
		k.over = true
		for c := range k.open {
			_ = c.Close()
		}
		k.mu.Unlock()
		k.whole.Broadcast()
		all.Wait()
	})
	return k
}

func (k *link) port() int { return k.listener.Addr().(*net.TCPAddr).Port }

// cut stops everything; mend lets it go on, those connections that both ends still have.
func (k *link) cut() { k.set(true) }

func (k *link) mend() { k.set(false) }

func (k *link) set(cut bool) {
	k.mu.Lock()
	k.cutBy = cut
	k.mu.Unlock()
	k.whole.Broadcast()
}

// passes waits while the link is cut; false when the test is over.
func (k *link) passes() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.cutBy && !k.over {
		k.whole.Wait()
	}
	return !k.over
}

func (k *link) hold(c net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		_ = c.Close()
		return false
	}
	k.open[c] = true
	return true
}

func (k *link) serve(c net.Conn) {
	if !k.hold(c) {
		return
	}
	defer k.end(c)
	if !k.passes() {
		return
	}
	far, err := (&net.Dialer{Timeout: 5 * time.Second}).Dial("tcp", k.target)
	if err != nil || !k.hold(far) {
		return
	}
	defer k.end(far)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, far}, {far, c}} {
		both.Go(func() {
			k.pass(way[0], way[1])
			for _, c := range way {
				_ = c.(*net.TCPConn).CloseWrite()
			}
			_ = way[0].SetReadDeadline(time.Now().Add(time.Minute))
		})
	}
	both.Wait()
}

func (k *link) pass(from io.Reader, to io.Writer) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if !k.passes() {
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (k *link) end(c net.Conn) {
	_ = c.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, c)
}

// startApart starts bus, control plane and node, each a process of its own, with a link
// between any two of them.
func (h *harmed) startApart() {
	s := h.station
	s.t.Helper()
	far := &machine{data: filepath.Join(h.keep.TempDir(), "node")}
	h.keep.Cleanup(far.forget)
	kept := &station{h.keep, s.machine} // whose processes outlive a cell
	h.links, h.parts = map[string]*link{}, map[string]*part{}
	to := func(name string, port int) int {
		h.links[name] = newLink(h.keep, port)
		return h.links[name].port()
	}
	h.parts["bus"] = kept.bus()
	url := s.env[len(s.env)-1]
	busPort, err := strconv.Atoi(url[strings.LastIndexByte(url, ':')+1:])
	if err != nil {
		s.t.Fatal(err)
	}
	at := "nats://athir:sesame@127.0.0.1:%d"
	s.env = append(s.env, "ATHIR_NODE_REMOTE=true", "ATHIR_NODE_HOST=127.0.0.1", "ATHIR_NODE_CACHE="+filepath.Join(far.data, "air"))
	env := []string{fmt.Sprintf("ATHIR_BUS_URL="+at, to("control–bus", busPort))}
	for name, port := range map[string]string{"control–Icecast": "icecast", "control–path list": "paths", "control–harbor": "harbor", "control–HLS": "hls"} {
		env = append(env, fmt.Sprintf("ATHIR_PORTS_%s=%d", strings.ToUpper(port), to(name, s.ports[port])))
	}
	h.parts["control"] = kept.part("control", binary, []string{"control", "--data", s.data, "--media", s.media}, env...)
	h.parts["node"] = kept.part("node", binary, []string{"node", "--data", far.data, "--media", filepath.Join(far.data, "none")},
		fmt.Sprintf("ATHIR_BUS_URL="+at, to("node–bus", busPort)),
		fmt.Sprintf("ATHIR_BUS_CONTROL=127.0.0.1:%d", to("node–control", s.ports["control"])))
	s.eventually("music from the node", func() bool {
		st, err := s.status()
		return err == nil && st.State == "music" && len(st.Processes) > 0 && st.Track != nil
	})
}
