package pages

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/athir-radio/athir/internal/face"
)

func filled(side int, c color.Color) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(out, out.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return out
}

// drawnIcon is a picture as it is kept.
func drawnIcon(t *testing.T, c color.Color) []byte {
	t.Helper()
	out, err := face.Encode(filled(512, c))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// control is a control plane that may be away, or answer with anything.
type control struct {
	state atomic.Pointer[face.State]
	worn  *Wardrobe
	wrong atomic.Pointer[http.HandlerFunc]
	asked atomic.Int32
	next  atomic.Pointer[face.State] // comes while files are asked for
}

func (c *control) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	w := httptest.NewRecorder()
	switch wrong := c.wrong.Load(); {
	case wrong != nil:
		(*wrong)(w, r)
	case !c.worn.Now().serve(w, r):
		http.NotFound(w, r)
	}
	if next := c.next.Swap(nil); next != nil {
		c.state.Store(next)
	}
	return w.Result(), nil
}

func newControl(s *face.State) *control {
	c := &control{}
	c.state.Store(s)
	c.worn = &Wardrobe{state: c.state.Load, built: fstest.MapFS{}}
	return c
}

// A front has the whole face, and has it on while the control plane is away or talks nonsense.
func TestAFrontKeepsTheFace(t *testing.T) {
	s := nile()
	s.Icon = drawnIcon(t, color.RGBA{200, 0, 0, 255})
	c := newControl(s)
	away := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "away", http.StatusServiceUnavailable)
	})
	c.wrong.Store(&away)
	plain, err := newDress(face.Plain(face.Defaults{Name: "Athir", Language: "en"}), fstest.MapFS{})
	if err != nil {
		t.Fatal(err)
	}
	f := newFollower(slog.New(slog.DiscardHandler), "control", c, plain)
	h := New(Options{Dress: f.Now, Built: builtPages()}, Player, Chat)
	if err := f.Pull(t.Context()); err == nil || f.Now().Name() != "Athir" {
		t.Errorf("before it was ever told: %v, %s", err, f.Now().Name())
	}
	if body := bodyOf(t, ask(t, h, "GET", "/")); !strings.Contains(body, "<title>Athir</title>") || !strings.Contains(body, `lang="en"`) {
		t.Errorf("the settings' own face: %s", body)
	}
	c.wrong.Store(nil)
	if err := f.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	own := New(Options{Dress: c.worn.Now, Built: builtPages()}, Player, Chat)
	same := func(path string) {
		t.Helper()
		a, b := ask(t, h, "GET", path), ask(t, own, "GET", path)
		if x, y := bodyOf(t, a), bodyOf(t, b); a.StatusCode != b.StatusCode || x != y || a.Header.Get("Content-Type") != b.Header.Get("Content-Type") {
			t.Errorf("%s: %d %q, the control plane says %d %q", path, a.StatusCode, x, b.StatusCode, y)
		}
	}
	for _, path := range append(paths(), facePath, "/face/nothing.png") {
		same(path)
	}
	n := c.asked.Load()
	if err := f.Pull(t.Context()); err != nil || c.asked.Load() != n+1 {
		t.Errorf("an unchanged face: %v, asked %d times", err, c.asked.Load()-n)
	}

	for name, wrong := range map[string]http.HandlerFunc{
		"away":             away,
		"no JSON":          func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"no language":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"languages":[]}`)) },
		"another language": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"languages":["<script>"]}`)) },
		"too much":         func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte(" "), mostFace+2)) },
		"files are missing": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != facePath {
				http.Error(w, "disk full", http.StatusInternalServerError)
				return
			}
			w.Header().Set("ETag", `"x"`)
			_ = json.NewEncoder(w).Encode(s.Face())
		},
		"an older build": http.NotFound,
	} {
		c.wrong.Store(&wrong)
		if err := f.Pull(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
		same("/")
	}
	c.wrong.Store(nil)

	// A change while the files are asked for: not half of the one and half of the other.
	second, third := *s, *s
	second.Version, third.Version = 8, 9
	second.Own.Name, third.Own.Name = face.Both{AR: "ثانية"}, face.Both{AR: "ثالثة"}
	third.Icon = drawnIcon(t, color.RGBA{0, 0, 200, 255})
	c.state.Store(&second)
	c.next.Store(&third)
	if err := f.Pull(t.Context()); err == nil || f.Now().face.Version != 7 {
		t.Errorf("changed meanwhile: %v, version %d", err, f.Now().face.Version)
	}
	if err := f.Pull(t.Context()); err != nil || f.Now().Name() != "ثالثة" {
		t.Errorf("after it: %v, %s", err, f.Now().Name())
	}
	same(face.IconPath(192))
}

// Icons come of the operator's icon, else of the logo, else they are the program's own; the old
// addresses, at which notifications ask, have the same.
func TestIconsComeOfTheBestPictureThereIs(t *testing.T) {
	red, blue := color.RGBA{200, 0, 0, 255}, color.RGBA{0, 0, 200, 255}
	built := fstest.MapFS{"history.html": {}, "chat.html": {}}
	for _, size := range iconSizes() {
		icon, err := face.Encode(filled(size, color.Black))
		if err != nil {
			t.Fatal(err)
		}
		built[strings.TrimPrefix(oldIcon(size), "/")] = &fstest.MapFile{Data: icon}
	}
	for _, c := range []struct {
		name       string
		logo, icon []byte
		want       color.Color
	}{
		{"none", nil, nil, color.RGBA{0, 0, 0, 255}}, {"a logo", drawnIcon(t, red), nil, red}, {"both", drawnIcon(t, red), drawnIcon(t, blue), blue}, {"an icon", nil, drawnIcon(t, blue), blue},
	} {
		s := nile()
		s.Logo, s.Icon = c.logo, c.icon
		d, err := newDress(s, built)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{face.IconPath(180), face.IconPath(192), face.IconPath(512), face.MaskablePath, "/icon-180.png", "/icon-192.png", "/icon-512.png"} {
			if f := d.files[path]; f == nil {
				if !strings.HasPrefix(path, "/icon-") || c.name != "none" { // those are among the files that were built
					t.Errorf("%s: no %s", c.name, path)
				}
			} else if p, _, err := image.Decode(bytes.NewReader(f.plain)); err != nil || color.RGBAModel.Convert(p.At(p.Bounds().Dx()/2, p.Bounds().Dy()/2)) != c.want {
				t.Errorf("%s: %s is of %v, %v", c.name, path, p.At(90, 90), err)
			}
		}
		ico := d.files[face.FaviconPath]
		if ico == nil || !bytes.HasPrefix(ico.plain, []byte{0, 0, 1, 0, 2, 0, 16, 16}) || bytes.Count(ico.plain, []byte("\x89PNG")) != 2 {
			t.Errorf("%s: favicon %v", c.name, ico)
		}
		var m manifest
		if err := json.Unmarshal(d.files[face.ManifestPath].plain, &m); err != nil || m.Name != "إذاعة النيل" || m.Dir != "rtl" || m.Scope != "/" || len(m.Icons) != 3 || len(m.Shortcuts) != 2 || m.Icons[2].Purpose != "maskable" {
			t.Errorf("%s: manifest %v %+v", c.name, err, m)
		}
		for _, i := range m.Icons {
			if d.address(strings.TrimSuffix(i.Src, "?v=7")) == "" {
				t.Errorf("%s: the manifest names %s", c.name, i.Src)
			}
		}
	}
	for name, want := range map[string]string{"إذاعة النيل": "إذاعة النيل", "Nile Radio Cairo": "Nile Radio", "Constantinopolitan": "Constantinop", "": ""} {
		if got := shortened(name); got != want {
			t.Errorf("%q became %q", name, got)
		}
	}
}
