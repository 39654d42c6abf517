package intake

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/station"
)

// crash is what a disk panics with in the place of a kill.
type crash struct{}

// faultyDisk does one operation wrong: the one that comes after so many.
type faultyDisk struct {
	disk
	left  int    // operations until the fault; negative: none
	how   string // error, crash (before it), halfway (a crash in the midst of a copy)
	apart string // folder on a disk of its own; empty: all on one
	// race is called with the path of the next file that is placed, the moment before; nil:
	// no other program is as fast.
	race func(to string)
}

var errFault = errors.New("the disk has failed")

func (d *faultyDisk) step() error {
	if d.left--; d.left != -1 {
		return nil
	}
	switch d.how {
	case "halfway":
		d.left = 0 // until there is a copy
		return nil
	case "crash":
		panic(crash{})
	}
	return errFault
}

// kill is step for others than the disk: they cannot fail.
func (d *faultyDisk) kill() {
	if err := d.step(); err != nil {
		d.left = 0 // the next operation of the disk fails
	}
}

func (d *faultyDisk) Lstat(p string) (fs.FileInfo, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	return d.disk.Lstat(p)
}

func (d *faultyDisk) Mkdir(p string) error { return errors.Join(d.step(), d.disk.Mkdir(p)) }

func (d *faultyDisk) Settle(p string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.disk.Settle(p)
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	if d.apart != "" && strings.HasPrefix(from, d.apart) != strings.HasPrefix(to, d.apart) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: unix.EXDEV}
	}
	if race := d.race; race != nil && strings.Contains(to, "/media/") && !strings.HasSuffix(to, ".part") {
		d.race = nil
		race(to)
	}
	return d.disk.Rename(from, to)
}

func (d *faultyDisk) Copy(ctx context.Context, from, to string) error {
	if d.how == "halfway" && d.left == 0 {
		d.left = -1
		data, _ := os.ReadFile(from)
		_ = os.WriteFile(to, data[:len(data)/2], 0o600)
		panic(crash{})
	}
	if err := d.step(); err != nil {
		return err
	}
	return d.disk.Copy(ctx, from, to)
}

func (d *faultyDisk) Remove(p string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.disk.Remove(p)
}

func (d *faultyDisk) SyncDir(p string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.disk.SyncDir(p)
}

// machine is a station whose staff, listeners, disk and other programs do as they please. The
// model is simple: every file there ever was is whole at one place, unless staff dropped it.
type machine struct {
	dir     string
	db      *store.DB
	in      *Intake
	shelf   *shelf
	disk    *faultyDisk
	now     time.Time
	pending []resume.Finished // uploads that are whole and not taken
	alive   map[string]bool   // texts of the files there must be
	may     map[string]bool   // that a crash in a drop left or took
	texts   map[string]string // of the arrivals, by id
	n       int
}

func (m *machine) open() {
	in, err := Open(context.Background(), m.db, Options{
		Dir: filepath.Join(m.dir, "arrivals"), Media: m.shelf.media, Library: m.shelf, Prints: m.shelf, Archive: m.shelf,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return m.now },
		Space: func(string) (uint64, uint64, error) { return 1 << 40, 1 << 41, nil },
	})
	if err != nil {
		panic(err)
	}
	in.examine, in.listen, in.disk = quickEar, quickPrint, m.disk
	m.in = in
}

// survive does something that a crash may end; then a new process begins.
func (m *machine) survive(do func()) {
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(crash); !ours {
				panic(p)
			}
			m.open()
		}
	}()
	do()
}

func (m *machine) next() time.Time {
	m.now = m.now.Add(time.Second)
	return m.now
}

// upload makes a whole upload of a text that there never was.
func (m *machine) upload(t *rapid.T) {
	m.n++
	m.next()
	text := fmt.Sprintf("%d|%s|%s|%d", rapid.SampledFrom([]int{20, 200}).Draw(t, "length"), "Dido",
		rapid.SampledFrom([]string{"Thank You", "White Flag"}).Draw(t, "title"), m.n)
	meta := map[string]string{
		"filename": rapid.SampledFrom([]string{"a.mp3", "b.flac"}).Draw(t, "name"),
		"category": rapid.SampledFrom([]string{"", "english", "jingles"}).Draw(t, "category"),
	}
	if tracks := m.tracks(); len(tracks) > 0 && rapid.Bool().Draw(t, "replaces") {
		meta["replace"] = rapid.SampledFrom(tracks).Draw(t, "replaced")
	}
	f := resume.Finished{ID: fmt.Sprintf("%026d", m.n), Path: filepath.Join(m.dir, "tus", fmt.Sprintf("%d.part", m.n)), Size: int64(len(text)), Meta: meta}
	if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.alive[text], m.texts[idOf(f.ID)] = true, text
	m.pending = append(m.pending, f)
}

func (m *machine) tracks() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.shelf.tracks)), func(p string) bool {
		_, err := os.Stat(filepath.Join(m.shelf.media, p))
		return err != nil
	})
}

// deliver hands uploads on, as their store does again and again.
func (m *machine) deliver() {
	for len(m.pending) > 0 {
		before := len(m.pending)
		m.survive(func() {
			if _, err := (door{m.in}).Take(context.Background(), m.pending[0]); err == nil {
				_ = os.Remove(m.pending[0].Path)
				m.pending = m.pending[1:]
			}
		})
		if len(m.pending) == before {
			return
		}
	}
}

// work does what workers do, for a while.
func (m *machine) work() {
	m.survive(func() {
		for n := 0; n < 200 && (m.in.lookNext(context.Background()) || m.in.placeNext(context.Background())); n++ {
		}
	})
}

// stranger is another program that writes into the media folder where nothing is.
func (m *machine) stranger(t *rapid.T) {
	m.n++
	rel := rapid.SampledFrom([]string{"english/Dido - Thank You.mp3", "english/Dido - White Flag.flac", "jingles/Dido - Thank You (2).mp3"}).Draw(t, "path")
	abs := filepath.Join(m.shelf.media, rel)
	if err := os.MkdirAll(filepath.Dir(abs), 0o750); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("200|Dido|Thank You|stranger %d", m.n)
	if _, err := os.Lstat(abs); err == nil || os.WriteFile(abs, []byte(text), 0o600) != nil {
		return
	}
	m.alive[text] = true
	m.survive(func() { _ = m.shelf.Register(context.Background(), rel) })
}

func (m *machine) someone(t *rapid.T) (string, bool) {
	all, _ := m.in.List(context.Background())
	if len(all) == 0 {
		return "", false
	}
	return rapid.SampledFrom(all).Draw(t, "arrival").ID, true
}

func (m *machine) dropOne(t *rapid.T) {
	id, ok := m.someone(t)
	if !ok {
		return
	}
	text := m.texts[id]
	a, err := m.in.Find(id)
	if err != nil || a.State == Taken {
		m.survive(func() { _ = m.in.Drop(context.Background(), id) })
		return
	}
	delete(m.alive, text)
	m.may[text] = true
	m.survive(func() {
		if err := m.in.Drop(context.Background(), id); errors.Is(err, station.ErrConflict) {
			m.alive[text] = true
			delete(m.may, text)
		}
	})
}

func (m *machine) changeOne(t *rapid.T) {
	id, ok := m.someone(t)
	if !ok {
		return
	}
	var c Change
	if rapid.Bool().Draw(t, "category") {
		c.Category = ptr(rapid.SampledFrom([]station.Category{station.English, station.Jingles, station.Shorts}).Draw(t, "to"))
	}
	if rapid.Bool().Draw(t, "title") {
		c.Title = ptr(rapid.SampledFrom([]string{"", "Thank You", "Life"}).Draw(t, "called"))
	}
	if tracks := m.tracks(); rapid.Bool().Draw(t, "replace") {
		c.Replace = ptr(rapid.SampledFrom(append(tracks, "")).Draw(t, "which"))
	}
	m.survive(func() { _, _ = m.in.Change(context.Background(), id, c) })
}

// found counts where each text is, whole; what is half a file, and not hidden, is an error.
func (m *machine) found() (map[string]int, error) {
	out := map[string]int{}
	for _, folder := range []string{"tus", "arrivals", "media", "archive"} {
		err := filepath.WalkDir(filepath.Join(m.dir, folder), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".athir-intake-") {
				return err
			}
			data, err := os.ReadFile(p)
			if text := string(data); !m.alive[text] && !m.may[text] {
				return fmt.Errorf("%s holds %q, which is no whole file", p, text)
			}
			out[string(data)]++
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for text := range m.alive {
		if out[text] == 0 {
			return nil, fmt.Errorf("%q is lost", text)
		}
	}
	return out, nil
}

// settled lets everything come to rest, without faults, and looks for what is there twice.
func (m *machine) settled(t *rapid.T) {
	m.disk.left, m.disk.race = -1, nil
	clear(m.shelf.onAir)
	m.open()
	m.deliver()
	for range 8 {
		m.now = m.now.Add(2 * time.Hour)
		m.work()
	}
	if len(m.pending) > 0 {
		t.Fatalf("%d uploads are never taken", len(m.pending))
	}
	out, err := m.found()
	if err != nil {
		t.Fatal(err)
	}
	for text, n := range out {
		if n != 1 {
			t.Fatalf("%q is at %d places", text, n)
		}
	}
	all, taking := m.in.List(context.Background())
	if taking {
		t.Fatalf("something is being taken for ever: %+v", all)
	}
	for _, a := range all {
		abs, err := m.in.File(a.ID)
		data, rerr := os.ReadFile(abs)
		if a.State != Taken && (err != nil || rerr != nil || string(data) != m.texts[a.ID]) {
			t.Fatalf("%s is %s, and its file holds %q: %v, %v", a.ID, a.State, data, err, rerr)
		}
	}
	for _, p := range m.shelf.archived {
		stem := strings.TrimSuffix(p, filepath.Ext(p))
		if there, _ := filepath.Glob(filepath.Join(m.shelf.media, stem) + ".*"); len(there) == 0 {
			t.Fatalf("%s was archived, and nothing is in its place", p)
		}
	}
	err = filepath.WalkDir(m.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".athir-intake-") {
			err = fmt.Errorf("%s is left", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever arrives, is changed, taken and dropped, and wherever the disk fails or the station
// dies: no file is lost, none is overwritten, none is there twice.
func TestEveryFaultLeavesEveryFileAtOnePlace(t *testing.T) {
	root := t.TempDir()
	if runs := flag.Lookup("rapid.checks").Value; runs.String() == "40" || runs.String() == "100" { // not asked for by hand
		before := runs.String()
		defer runs.Set(before) //nolint:errcheck // a number
		_ = runs.Set(faultRuns)
	}
	db, err := store.Open(t.Context(), filepath.Join(root, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := &machine{
			dir: filepath.Join(root, fmt.Sprint(n)), now: time.Unix(1_800_000_000, 0), disk: &faultyDisk{disk: realDisk{}, left: -1},
			alive: map[string]bool{}, may: map[string]bool{}, texts: map[string]string{},
		}
		m.shelf = newShelf(m.dir)
		m.shelf.step = m.disk.kill
		for _, folder := range []string{"tus", "media/english"} {
			if err := os.MkdirAll(filepath.Join(m.dir, folder), 0o750); err != nil {
				t.Fatal(err)
			}
		}
		if apart := rapid.SampledFrom([]string{"", "media", "tus"}).Draw(t, "apart"); apart != "" {
			m.disk.apart = filepath.Join(m.dir, apart) + "/"
		}
		defer os.RemoveAll(m.dir) //nolint:errcheck // a test's
		m.db = db
		m.open()
		for id := range m.in.entries { // of the run before
			if err := forget(context.Background(), db, id); err != nil {
				t.Fatal(err)
			}
		}
		m.open()
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if _, err := m.found(); err != nil {
					t.Fatal(err)
				}
			},
			"upload":   m.upload,
			"deliver":  func(*rapid.T) { m.deliver() },
			"work":     func(*rapid.T) { m.work() },
			"wait":     func(*rapid.T) { m.now = m.now.Add(2 * time.Hour); m.work() },
			"stranger": m.stranger,
			"take":     func(*rapid.T) { m.survive(func() { _, _ = m.in.Take(context.Background(), nil) }) },
			"change":   m.changeOne,
			"drop":     m.dropOne,
			"again": func(t *rapid.T) {
				if id, ok := m.someone(t); ok {
					m.survive(func() { _, _ = m.in.Again(context.Background(), id) })
				}
			},
			"restart": func(*rapid.T) { m.open() },
			"on the air": func(t *rapid.T) {
				if tracks := m.tracks(); len(tracks) > 0 {
					p := rapid.SampledFrom(tracks).Draw(t, "track")
					m.shelf.onAir[p] = !m.shelf.onAir[p]
				}
			},
			"fault": func(t *rapid.T) {
				m.upload(t)
				if rapid.Bool().Draw(t, "of the uploads") {
					m.disk.how = rapid.SampledFrom([]string{"error", "crash", "halfway"}).Draw(t, "how")
					m.disk.left = rapid.IntRange(0, 7).Draw(t, "after")
				}
				m.deliver()
				m.survive(func() {
					for m.in.lookNext(context.Background()) {
					}
					_, _ = m.in.Take(context.Background(), nil)
				})
				if m.disk.left < 0 {
					m.disk.how = rapid.SampledFrom([]string{"error", "crash", "halfway"}).Draw(t, "how")
					m.disk.left = rapid.IntRange(0, 24).Draw(t, "after")
				}
				m.work()
			},
			"race": func(*rapid.T) {
				m.disk.race = func(to string) {
					m.n++
					text := fmt.Sprintf("200|Dido|Thank You|faster %d", m.n)
					if _, err := os.Lstat(to); err == nil || os.WriteFile(to, []byte(text), 0o600) != nil {
						return
					}
					m.alive[text] = true
				}
			},
		})
		m.settled(t)
	})
}
