package azuracast

import (
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
)

// extra is what AzuraCast says of a track beside its tags, in seconds and dB.
type extra map[string]json.RawMessage

var figure = regexp.MustCompile(`[+-]?\d*\.?\d+`)

// number reads one of its values: a number, or text with one, as tags have it. Some versions
// wrote the names with liq_ before them.
func (e extra) number(name string) float64 {
	raw, ok := e[name]
	if !ok {
		raw = e["liq_"+name]
	}
	s := string(raw)
	if strings.Contains(s, ":") {
		return clockSeconds(strings.Trim(s, `"`))
	}
	f, err := strconv.ParseFloat(figure.FindString(s), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}

// clockSeconds are the seconds of h:mm:ss.
func clockSeconds(s string) (sum float64) {
	for part := range strings.SplitSeq(s, ":") {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return 0
		}
		sum = sum*60 + f
	}
	return sum
}

func seconds(f float64) time.Duration {
	if !(f > 0 && f < 1e6) {
		return 0
	}
	return time.Duration(math.Round(f*1000)) * time.Millisecond
}

// cues takes over where a track begins and ends, and how long it overlaps the next: from where
// that begins (cross_start_next), or from how long it was said to be (fade_overlap).
func cues(t *model.Track, e extra) {
	t.CueIn, t.CueOut, t.Gain = seconds(e.number("cue_in")), seconds(e.number("cue_out")), e.number("amplify")
	if t.Length > 0 && t.CueOut >= t.Length {
		t.CueOut = 0
	}
	end := t.CueOut
	if end == 0 {
		end = t.Length
	}
	if t.CueIn >= end && end > 0 {
		t.CueIn = 0
	}
	next := seconds(e.number("cross_start_next"))
	if next == 0 {
		next = seconds(e.number("fade_start_next"))
	}
	if next > t.CueIn && next < end {
		t.Cross = end - next
	} else {
		t.Cross = seconds(e.number("fade_overlap"))
	}
}

// hidden reports a file of a media folder that AzuraCast keeps for itself.
func hidden(p string) bool { return strings.HasPrefix(path.Base(p), ".") }

// mediaFolder finds files of a station in the backup, or in a folder beside it.
type mediaFolder struct {
	b      *bundle
	under  string // folder in the backup, with a slash at its end
	beside fs.FS
}

func newMediaFolder(b *bundle, under string, beside fs.FS) *mediaFolder {
	m := &mediaFolder{b: b, beside: beside, under: strings.Trim(under, "/") + "/"}
	if beside == nil && !m.any() {
		// Installations without containers had other folders: the one whose end is the same.
		parts := strings.Split(strings.TrimSuffix(m.under, "/"), "/")
		end := strings.Join(parts[max(0, len(parts)-2):], "/") + "/"
		for _, name := range b.names {
			if i := strings.Index(name, "/"+end); i >= 0 {
				m.under = name[:i+1] + end
				break
			}
		}
	}
	return m
}

func (m *mediaFolder) any() bool {
	for _, name := range m.b.names {
		if strings.HasPrefix(name, m.under) {
			return true
		}
	}
	return false
}

// find fills in a track's size and how to open its file, if there is one.
func (m *mediaFolder) find(t *model.Track) {
	if !fs.ValidPath(t.Path) || hidden(t.Path) {
		return
	}
	if m.beside != nil {
		if info, err := fs.Stat(m.beside, t.Path); err == nil && info.Mode().IsRegular() {
			beside, p := m.beside, t.Path
			t.Size = info.Size()
			t.Open = func() (io.ReadCloser, error) { return beside.Open(p) }
		}
		return
	}
	name := m.under + t.Path
	size, ok := m.b.sizes[name]
	if !ok {
		return
	}
	open := m.b.open
	t.Size = size
	t.Open = func() (io.ReadCloser, error) { return open(name) }
}

// sort brings tracks into the order in which the archive has their files, so that one pass
// reads them all.
func (m *mediaFolder) sort(tracks []model.Track) {
	if m.beside != nil {
		return
	}
	place := make(map[string]int, len(m.b.names))
	for i, name := range m.b.names {
		place[name] = i + 1
	}
	at := func(t model.Track) int {
		if i := place[m.under+t.Path]; i > 0 {
			return i
		}
		return len(m.b.names) + 1
	}
	slices.SortStableFunc(tracks, func(x, y model.Track) int { return cmp.Compare(at(x), at(y)) })
}
