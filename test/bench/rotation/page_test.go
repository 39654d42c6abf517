package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/simulate"
	"github.com/athir-radio/athir/internal/station"
)

func cairo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// hostile are tags that somebody might put into a file.
func hostile() []string {
	return []string{
		"plain", "أنا أحبك", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</svg></title><b>`, "tab\tnew\nline\rreturn",
		`back\slash \t \n`, "nul\x00 bell\x07 esc\x1b[2J", "next\u0085line\u2028sep\u2029", "bidi \u202e\u2066 text", "bad \xff\xfe utf-8 \xd8",
		"{{.}} ${x} `y` 'z'", "=cmd()", strings.Repeat("long ", 2000),
	}
}

// The page holds nothing but what we put there: no element, attribute or
// address comes from a tag, and nothing is loaded.
func TestPageEscapesEverything(t *testing.T) {
	lib, names := simulate.Synthetic(300, 1)
	for i := range lib {
		s := hostile()[i%len(hostile())]
		lib[i].Title, lib[i].Artist, lib[i].Album, lib[i].Genre = s, s+fmt.Sprint(i/7), s, s
	}
	cfg := rotation.DefaultConfig()
	cfg.Dayparts = []rotation.Daypart{{Name: `<i onclick="x">`, Start: 6 * 60, End: 12 * 60, Hard: station.English}}
	var reports []simulate.Report
	for _, p := range policies() {
		o := simulate.Options{Library: lib, Config: cfg, Policy: p, Days: 2, Seed: 1, Zone: cairo(t)}
		r, err := airDays(o)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, simulate.Assess(o, r, names))
	}
	var b bytes.Buffer
	if err := writeHTML(&b, reports, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(`!doctype html head meta title style body header p i span bdi h1 h2 h3 div b section table tbody tr th td br
		svg g text rect path line a small ul li code footer`)
	unsafe := regexp.MustCompile(`\b(on\w+|src|href|style)=`)
	for _, piece := range strings.Split(b.String(), "<")[1:] { // text and attributes hold no bare <
		tag, _, closed := strings.Cut(piece, ">")
		name, attributes, _ := strings.Cut(strings.Trim(tag, "/"), " ")
		if !closed || !slices.Contains(known, name) {
			t.Fatalf("element %.200s", piece)
		}
		for i, part := range strings.Split(attributes, `"`) {
			outside := i%2 == 0 // of quotes: names of attributes
			if name != "meta" && (outside && unsafe.MatchString(part) || !outside && strings.Contains(part, "url(")) {
				t.Fatalf("attributes of %s: %s", name, attributes)
			}
		}
	}
	if !strings.Contains(b.String(), "&lt;script&gt;alert(1)") {
		t.Error("the hostile titles are not on the page at all")
	}
}

// A page can be made of anything that airs, and a baseline alone.
func TestPageOfOddRuns(t *testing.T) {
	for _, n := range []int{1, 40} {
		for _, policy := range policies() {
			lib, names := simulate.Synthetic(n, 1)
			o := simulate.Options{Library: lib, Config: rotation.DefaultConfig(), Policy: policy, Days: 1, Seed: 1, Zone: cairo(t)}
			r, err := airDays(o)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := writeHTML(&b, []simulate.Report{simulate.Assess(o, r, names)}, time.Unix(0, 0)); err != nil || b.Len() == 0 {
				t.Errorf("%d tracks, %s: %d bytes, %v", n, policy, b.Len(), err)
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Errorf("%d tracks, %s: holds a number that is none", n, policy)
			}
		}
	}
}

// A published figure must come out again from the same seed.
func TestBaselinesFollowTheirSeed(t *testing.T) {
	for _, policy := range policies()[1:] {
		days := func(seed uint64) []simulate.Aired {
			lib, _ := simulate.Synthetic(120, 9)
			r, err := airDays(simulate.Options{Library: lib, Config: rotation.DefaultConfig(), Policy: policy, Days: 2, Seed: seed, Zone: cairo(t)})
			if err != nil {
				t.Fatal(err)
			}
			return r.Log
		}
		if d := cmp.Diff(days(9), days(9)); d != "" {
			t.Errorf("%s: the same seed differs:\n%.2000s", policy, d)
		}
		if cmp.Equal(days(9), days(10)) {
			t.Errorf("%s: another seed gives the same days", policy)
		}
	}
}
