package simulate

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

func zone(t testing.TB) *time.Location {
	t.Helper()
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	return cairo
}

func TestScratch(t *testing.T) {
	for _, n := range []int{300, 1000, 10000} {
		for _, p := range Policies() {
			lib, names := Synthetic(n, 1)
			o := Options{Library: lib, Config: rotation.DefaultConfig(), Policy: p, Days: 8, Seed: 1, Zone: zone(t), Clock: time.Now}
			began := time.Now()
			r, err := Run(o)
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			rep := Assess(o, r, names)
			b, _ := json.Marshal(rep)
			t.Log(n, p, took, time.Since(began), string(b))
			if p == Athir {
				for _, f := range rep.Verdict.Findings {
					t.Log(f)
				}
			}
		}
	}
}
