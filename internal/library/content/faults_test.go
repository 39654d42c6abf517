package content

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/athir-radio/athir/internal/kit/store"
)

// crash is what a disk panics with in the place of a kill.
type crash struct{}

// faultyDisk does one operation wrong: the one that comes after so many. Before
// each, it has a look at the promise that what is planned is there.
type faultyDisk struct {
	disk
	left    int    // operations until the fault; negative: none
	how     string // error, crash (before it), halfway (a crash in the midst of a copy)
	apart   string // folder on another disk; empty: all on one
	air     *onAir
	happens int
	moved   int
}

var errFault = errors.New("the disk has failed")

func (d *faultyDisk) step() error {
	d.air.look()
	d.happens++
	if d.left--; d.left != -1 {
		return nil
	}
	if d.how == "halfway" {
		d.left = 0 // until there is a copy
		return nil
	}
	if d.how == "crash" {
		panic(crash{})
	}
	return errFault
}

func (d *faultyDisk) Lstat(p string) (fs.FileInfo, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	return d.disk.Lstat(p)
}

func (d *faultyDisk) MkdirAll(p string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.disk.MkdirAll(p)
}

func (d *faultyDisk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	if d.apart != "" && strings.HasPrefix(from, d.apart) != strings.HasPrefix(to, d.apart) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: unix.EXDEV}
	}
	err := d.disk.Rename(from, to)
	if err == nil {
		d.moved++
	}
	return err
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

// machine is a station whose operator, listeners and disk do as they please. The
// model is simple: every file there ever was is whole at one place, unless the
// operator took it away.
type machine struct {
	dir   string
	db    *store.DB
	air   *onAir
	c     *Content
	disk  *faultyDisk
	alive map[string]bool // texts of the files there must be
	n     int
}

func (m *machine) open() {
	c, err := Open(context.Background(), m.db, Options{
		Media: filepath.Join(m.dir, "media"), Archive: filepath.Join(m.dir, "archive"), Work: filepath.Join(m.dir, "work"),
		Registry: m.air, OnAir: m.air, Master: stampMaster{}, Prints: bytePrints{}, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { m.n++; return time.UnixMilli(1_800_000_000_000 + int64(m.n)) },
	})
	if err != nil {
		panic(err)
	}
	c.disk = m.disk
	m.c, m.air.hidden = c, c.Hidden
}

// survive does something that a crash may end; then a new process begins, and it
// too may crash while it recovers.
func (m *machine) survive(t *rapid.T, do func() error) {
	crashed := func(f func() error) (err error, down bool) {
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(crash); !ok {
					panic(p)
				}
				down = true
			}
		}()
		return f(), false
	}
	err, down := crashed(do)
	for range 5 {
		if !down {
			break
		}
		m.disk.left = rapid.IntRange(-4, 10).Draw(t, "operations until the next crash")
		m.open()
		err, down = crashed(func() error { return m.c.Recover(context.Background()) })
	}
	m.disk.left = -1
	if down {
		m.open()
	}
	if err != nil && !errors.Is(err, errFault) && !errors.Is(err, context.Canceled) {
		t.Fatalf("an error that is not the disk's: %v", err)
	}
	if err := m.c.Recover(context.Background()); err != nil {
		t.Fatalf("recover: %v", err)
	}
	m.check(t)
}

func (m *machine) check(t *rapid.T) {
	if len(m.air.dangling) > 0 {
		t.Fatalf("planned and not there: %q", m.air.dangling)
	}
	at := map[string][]string{}
	for _, folder := range []string{"media", "archive"} {
		_ = filepath.WalkDir(filepath.Join(m.dir, folder), func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				data, _ := os.ReadFile(p)
				at[string(data)] = append(at[string(data)], p)
			}
			return nil
		})
	}
	for text, places := range at {
		if !m.alive[text] {
			t.Fatalf("%q at %q was never whole there", text, places)
		}
		if len(places) != 1 {
			t.Fatalf("%q is at %q", text, places)
		}
	}
	for text := range m.alive {
		if len(at[text]) == 0 {
			t.Fatalf("%q is nowhere", text)
		}
	}
	all, err := m.c.entries(context.Background(), "1")
	if err != nil {
		t.Fatal(err)
	}
	inArchive := map[string]bool{}
	for _, e := range all {
		switch e.state {
		case archived:
			if inArchive[e.keptAs] || !exists(filepath.Join(m.dir, "archive", e.keptAs)) {
				t.Fatalf("%s is not in the archive as %s, or twice", e.path, e.keptAs)
			}
			inArchive[e.keptAs] = true
		case retiring, restoring, purging:
			t.Fatalf("%s is still %s", e.path, e.state)
		case kept:
			if !m.c.Hidden()[e.path] {
				t.Fatalf("%s is to leave and would be planned", e.path)
			}
		}
	}
	for _, p := range walk(filepath.Join(m.dir, "archive")) {
		if !inArchive[p] {
			t.Fatalf("the journal does not know %s", p)
		}
	}
}

func (m *machine) write(rel string) {
	m.n++
	text := fmt.Sprintf("%s, file %d", rel, m.n)
	full := filepath.Join(m.dir, "media", rel)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o750), os.WriteFile(full, []byte(text), 0o600)); err != nil {
		panic(err)
	}
	m.alive[text] = true
}

func (m *machine) arm(t *rapid.T) {
	m.disk.left = rapid.IntRange(-10, 40).Draw(t, "operations until the fault")
	m.disk.how = rapid.SampledFrom([]string{"error", "crash", "halfway"}).Draw(t, "how")
	m.disk.apart = rapid.SampledFrom([]string{"", filepath.Join(m.dir, "archive")}).Draw(t, "apart")
}

func (m *machine) some(t *rapid.T) []string {
	all := walk(filepath.Join(m.dir, "media"))
	if len(all) == 0 {
		return nil
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, min(6, len(all)), rapid.ID).Draw(t, "files")
}

// TestEveryFaultLeavesEveryFileAtOnePlace runs archive, restore, scans, turns and
// what operators do in any order, with a failure or a crash before any operation
// of the disk, a recovery's own included.
func TestEveryFaultLeavesEveryFileAtOnePlace(t *testing.T) {
	base := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(base, "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // test
	cases, operations, moves := 0, 0, 0
	if runs := flag.Lookup("rapid.checks").Value; runs.String() == "40" {
		defer runs.Set("40") //nolint:errcheck // a number
		_ = runs.Set(faultRuns)
	}
	rapid.Check(t, func(t *rapid.T) {
		cases++
		m := &machine{dir: filepath.Join(base, fmt.Sprint(cases)), db: db, alive: map[string]bool{}}
		m.air = &onAir{root: filepath.Join(m.dir, "media"), ahead: 2, rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))}
		m.disk = &faultyDisk{disk: realDisk{}, left: -1, air: m.air}
		m.open()
		defer os.RemoveAll(m.dir) //nolint:errcheck // test
		_ = db.Write(context.Background(), func(tx *sql.Tx) error {
			_, err := tx.Exec("DELETE FROM content_archive")
			return err
		})
		m.open()
		ctx := context.Background()
		for i := range 12 {
			m.write(fmt.Sprintf("music/ads/%c.mp3", 'a'+i))
		}
		_ = m.air.Scan(ctx)
		_ = m.air.Rebuild(ctx)
		t.Repeat(map[string]func(*rapid.T){
			"archive": func(t *rapid.T) {
				files := m.some(t)
				m.arm(t)
				m.survive(t, func() error { _, err := m.c.Archive(ctx, files, "retired"); return err })
			},
			"archive until cancelled": func(t *rapid.T) {
				files := m.some(t)
				m.arm(t)
				cancelled, cancel := context.WithCancelCause(ctx)
				cancel(errFault)
				m.survive(t, func() error { _, err := m.c.Archive(cancelled, files, "retired"); return err })
			},
			"restore": func(t *rapid.T) {
				m.arm(t)
				m.survive(t, func() error { _, err := m.c.Restore(ctx, RestoreRequest{All: true}, nil); return err })
			},
			"the station goes on": func(t *rapid.T) {
				for range rapid.IntRange(1, 6).Draw(t, "turns") {
					m.air.turn()
				}
				if rapid.Bool().Draw(t, "scan") {
					_ = m.air.Scan(ctx)
				}
				if rapid.Bool().Draw(t, "rebuild") {
					_ = m.air.Rebuild(ctx)
				}
				m.check(t)
			},
			"a file in the place of an archived one": func(t *rapid.T) {
				rel := fmt.Sprintf("music/ads/%c.mp3", 'a'+rapid.IntRange(0, 13).Draw(t, "file"))
				if !exists(filepath.Join(m.dir, "media", rel)) {
					m.write(rel)
				}
			},
			"somebody takes a file out of the archive": func(t *rapid.T) {
				all := walk(filepath.Join(m.dir, "archive"))
				if len(all) == 0 || !rapid.Bool().Draw(t, "really") {
					return
				}
				rel := rapid.SampledFrom(all).Draw(t, "file")
				full := filepath.Join(m.dir, "archive", rel)
				data, _ := os.ReadFile(full)
				delete(m.alive, string(data))
				_ = os.Remove(full)
				_ = db.Write(ctx, func(tx *sql.Tx) error { // as its next restore would find
					_, err := tx.Exec("UPDATE content_archive SET state = 'lost' WHERE kept_as = ? AND state = 'archived'", []byte(rel))
					return err
				})
			},
		})
		operations += m.disk.happens
		moves += m.disk.moved
	})
	t.Logf("%d runs, %d disk operations, %d moves", cases, operations, moves)
	if moves < cases {
		t.Errorf("only %d moves in %d runs: what is this a test of?", moves, cases)
	}
}
