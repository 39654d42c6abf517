//go:build soak

package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

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
		return h.links[name].port
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
