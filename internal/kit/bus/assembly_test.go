package bus

import (
	"fmt"
	"testing"
	"time"
)

// On a slow line or a starved machine a long request takes as long as it takes: it is given up
// once no part of it has come for a while, and frees its place.
func TestALongRequestMayTakeItsTime(t *testing.T) {
	whole := assembly{open: map[string]*request{}}
	const parts = 16
	now := time.Unix(1_800_000_000, 0)
	for n := range parts {
		now = now.Add(partsWait)
		got := whole.add("slow", fmt.Sprintf("%d %d", n, parts), []byte{byte(n)}, now)
		if n < parts-1 && got != nil || n == parts-1 && len(got) != parts {
			t.Fatalf("after part %d: %d bytes", n, len(got))
		}
	}
	for n := range mostOpen {
		whole.add(fmt.Sprint(n), "0 2", []byte("a"), now)
	}
	if whole.add("one more", "0 2", []byte("a"), now) != nil || len(whole.open) != mostOpen {
		t.Errorf("%d are open", len(whole.open))
	}
	now = now.Add(partsWait + time.Millisecond)
	whole.add("one more", "0 2", []byte("a"), now)
	if len(whole.open) != 1 || string(whole.add("one more", "1 2", []byte("b"), now)) != "ab" {
		t.Errorf("%d are open once the others are given up", len(whole.open))
	}
}
