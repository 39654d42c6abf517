package icecast

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// One address with many connections loses its newest, and only beyond the bound; nobody
// else does, and no part of ours.
func TestWhoHasManyConnectionsLosesTheNewest(t *testing.T) {
	var all []Listener
	add := func(n int, address, agent string) {
		for range n {
			all = append(all, Listener{ID: fmt.Sprint(len(all) + 1), Address: address, UserAgent: agent})
		}
	}
	add(3, "127.0.0.1", "athir-output")
	add(5, "203.0.113.1", "player")
	add(50, "203.0.113.9", "flood")
	add(5, "203.0.113.2", "player")
	add(40, "127.0.0.1", "a proxy's")
	var ended []string
	for _, l := range surplus(all, 1000, 10, Listener.key) {
		ended = append(ended, l.ID)
		if l.Address != "203.0.113.9" {
			t.Errorf("ended %+v", l)
		}
	}
	if len(ended) != 40 || ended[0] != "58" || ended[39] != "19" {
		t.Errorf("ended %v", ended)
	}
	if got := surplus(all, 1000, 0, Listener.key); len(got) != 0 {
		t.Errorf("without a bound %v are ended", got)
	}
	// A mount beyond its places loses the newest of all.
	if got := surplus(all, 60, 10, Listener.key); len(got) != 43 || !slices.ContainsFunc(got, func(l Listener) bool { return l.Address == "203.0.113.2" }) {
		t.Errorf("%d are ended beyond 60 places", len(got))
	}
}

func TestSurplusKeepsWhoCameFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Listener
		for id := range rapid.IntRange(0, 60).Draw(t, "listeners") {
			all = append(all, Listener{ID: fmt.Sprint(id + 8), Address: rapid.SampledFrom([]string{"127.0.0.1", "::1", "203.0.113.1", "203.0.113.2", "2001:db8::1"}).Draw(t, "address")})
		}
		most, each := rapid.IntRange(0, 60).Draw(t, "most"), rapid.IntRange(0, 20).Draw(t, "each")
		left := map[string][]uint64{}
		end := surplus(all, most, each, Listener.key)
		for _, l := range all {
			if !slices.Contains(end, l) {
				left[l.Address] = append(left[l.Address], number(l))
			}
		}
		for _, l := range end {
			if l.Address == "127.0.0.1" || l.Address == "::1" {
				t.Fatalf("ended %+v", l)
			}
			for _, kept := range left[l.Address] {
				if kept > number(l) {
					t.Fatalf("%s is ended before %d of the same address, which came later", l.ID, kept)
				}
			}
		}
		for address, kept := range left {
			if each > 0 && len(kept) > each && address != "127.0.0.1" && address != "::1" {
				t.Fatalf("%s keeps %d", address, len(kept))
			}
		}
	})
}
