package config

import (
	"slices"
	"strings"
	"testing"
)

// One relay as a text, which files from before there could be several have, or a list; each
// that is wrong is named.
func TestTheRelaysOfAnEdge(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"hls:\n  relay: \"\"":               "",
		"hls:\n  relay: []":                 "",
		"hls:\n  relay: node.example:19351": "node.example:19351",
		"hls:\n  relay: [a:1, \"[2001:db8::1]:2\"]": "a:1 [2001:db8::1]:2",
	} {
		cfg, err := Parse([]byte(keysOnly+"\n"+text), nil, nil)
		if err != nil || strings.Join(cfg.HLS.Relay, " ") != want {
			t.Errorf("%q: %v, %v", text, cfg.HLS.Relay, err)
		}
	}
	cfg, err := Parse([]byte(keysOnly), nil, []string{"ATHIR_HLS_RELAY=a:1,b:2"})
	if err != nil || !slices.Equal(cfg.HLS.Relay, []string{"a:1", "b:2"}) {
		t.Errorf("from the environment: %v, %v", cfg.HLS.Relay, err)
	}
	for text, want := range map[string]string{
		"[a:1, b]":                              `hls.relay: "b" must be host:port`,
		"http://a:1":                            `hls.relay: "http://a:1" must be host:port`,
		"[a:1, a:0]":                            `hls.relay: "a:0" must be host:port`,
		"[a:1, b:1, a:1]":                       `hls.relay: "a:1" is named twice`,
		"[a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9]": "hls.relay: must name 8 relays at most",
	} {
		if _, err := Parse([]byte(keysOnly+"\nhls:\n  relay: "+text), nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
