package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/live/carts"
	"github.com/athir-radio/athir/internal/station"
)

// cartDesk is the live desk as the cart wall sees it.
type cartDesk struct{ *onAir }

func (d cartDesk) Carts(context.Context, live.Wall) (live.Report, error) { return live.Report{}, nil }

func (d cartDesk) Fire(_ context.Context, p live.CartPress) (live.CartPlaying, error) {
	d.Lock()
	defer d.Unlock()
	if d.noCarts {
		return live.CartPlaying{}, fmt.Errorf("the bus is closed: %w", station.ErrConflict)
	}
	out := live.CartPlaying{ID: "C1", Page: p.Page, Slot: p.Slot, StartedAt: 1_800_000_000_000, DurationMS: p.DurationMS, PositionMS: 500}
	d.playing = append(d.playing, out)
	return out, d.note("fire %s %+.0f dB %q", p.File, p.GainDB, p.Request)
}

func (d cartDesk) StopCarts(_ context.Context, id string) (int, error) {
	d.Lock()
	defer d.Unlock()
	n := len(d.playing)
	d.playing = nil
	return n, d.note("stop carts %q", id)
}

// openCarts opens the cart wall over the live half of the rig.
func (r *rig) openCarts(t *testing.T) *carts.Carts {
	t.Helper()
	wall, err := carts.Open(t.Context(), carts.Options{
		Log: r.log, DB: r.db, Desk: cartDesk{r.live}, Report: func() (live.Report, bool) { return live.Report{}, true },
		Find: func(file string) (carts.File, bool) {
			switch file {
			case "jingles/opening.mp3":
				return carts.File{Path: "/air/" + file, Title: "الافتتاح", DurationMS: 4000}, true
			case "music/long.mp3":
				return carts.File{Path: "/air/" + file, DurationMS: 200_000}, true
			}
			return carts.File{}, false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return wall
}

const cartsAt = "/api/station/carts"

func (r *rig) carts(t *testing.T, method, path, body string, want int) map[string]any {
	t.Helper()
	code, _, text := r.call(t, method, cartsAt+path, body)
	out := map[string]any{}
	if code != want {
		t.Fatalf("%s %s %s: %d, want %d\n%s", method, path, body, code, want, text)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return out
}

const oneCart = `{"version": %d, "pages": [{"name": "سهرة", "carts": [
	{"slot": 4, "file": "jingles/opening.mp3", "label": "افتتاح", "colour": "teal", "gainDb": -3, "key": "1", "loop": false},
	{"slot": 5, "file": "sfx/gone.mp3", "label": "", "colour": "", "gainDb": 0, "key": "", "loop": true}]}]}`

func TestTheCartWallIsSetFiredAndStopped(t *testing.T) {
	r := newRig(t)
	if s := r.carts(t, "GET", "", "", 200); s["version"] != 0.0 || len(s["pages"].([]any)) != 0 || s["live"] != true || s["desk"] != true {
		t.Errorf("before it was set: %v", s)
	}
	s := r.carts(t, "PUT", "", fmt.Sprintf(oneCart, 0), 200)
	all := at(s["pages"].([]any)[0], "carts").([]any)
	if s["version"] != 1.0 || at(all[0], "title") != "الافتتاح" || at(all[0], "durationMs") != 4000.0 || at(all[0], "missing") != nil || at(all[1], "missing") != true {
		t.Errorf("%v", s)
	}
	if s := r.carts(t, "PUT", "", fmt.Sprintf(oneCart, 0), 409); !strings.Contains(s["detail"].(string), "changed meanwhile") {
		t.Errorf("the second editor: %v", s)
	}
	fired := r.carts(t, "POST", "/fire", `{"page":0,"slot":4,"request":"k1"}`, 200)
	if fired["id"] != "C1" || fired["durationMs"] != 4000.0 || fired["startedAt"] != 1.8e12 {
		t.Errorf("%v", fired)
	}
	if s := r.carts(t, "GET", "", "", 200); len(s["playing"].([]any)) != 1 || at(s["playing"].([]any)[0], "slot") != 4.0 || at(s["playing"].([]any)[0], "positionMs") != 500.0 {
		t.Errorf("%v", s["playing"])
	}
	if s := r.carts(t, "POST", "/stop", `{"id":"C1"}`, 200); s["stopped"] != 1.0 {
		t.Errorf("%v", s)
	}
	r.carts(t, "POST", "/stop", "", 200)
	want := []string{`fire /air/jingles/opening.mp3 -3 dB "k1"`, `stop carts "C1"`, `stop carts ""`}
	if got := strings.Join(r.live.told, "; "); got != strings.Join(want, "; ") {
		t.Errorf("the desk was told %s", got)
	}
}

func TestTheCartWallRefusesWhatCannotBe(t *testing.T) {
	r := newRig(t)
	r.carts(t, "PUT", "", fmt.Sprintf(oneCart, 0), 200)
	for name, c := range map[string]struct {
		body string
		want string
	}{
		"a long file":   {strings.Replace(fmt.Sprintf(oneCart, 1), "sfx/gone.mp3", "music/long.mp3", 1), "body.pages[0].carts[1].file"},
		"a wrong key":   {strings.Replace(fmt.Sprintf(oneCart, 1), `"key": "1"`, `"key": "ض"`, 1), "body.pages[0].carts[0].key"},
		"a wrong gain":  {strings.Replace(fmt.Sprintf(oneCart, 1), `"gainDb": -3`, `"gainDb": 13`, 1), "body.pages[0].carts[0].gainDb"},
		"two in a slot": {strings.Replace(fmt.Sprintf(oneCart, 1), `"slot": 5`, `"slot": 4`, 1), "body.pages[0].carts"},
	} {
		if code, _, text := r.call(t, "PUT", cartsAt, c.body); code != 422 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	r.carts(t, "POST", "/fire", `{"page":0,"slot":0}`, 404)
	r.carts(t, "POST", "/fire", `{"page":8,"slot":0}`, 422)
	if s := r.carts(t, "POST", "/fire", `{"page":0,"slot":5}`, 409); !strings.Contains(s["detail"].(string), "not in the library") {
		t.Errorf("%v", s)
	}
	r.live.noCarts = true
	if s := r.carts(t, "POST", "/fire", `{"page":0,"slot":4}`, 409); !strings.Contains(s["detail"].(string), "put a source on the air first") {
		t.Errorf("%v", s)
	}
	if s := r.carts(t, "GET", "", "", 200); s["live"] != false {
		t.Errorf("%v", s)
	}
}
