package scheduler_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// handModel is what should be held, after edits, airings, rebuilds, losses and restarts.
type handModel struct {
	*newsroom
	rng    *rand.Rand
	held   []string
	past   []undoable
	heard  []string
	gone   map[string]bool
	places []string // what was done, for people
}

type undoable struct {
	id    string
	held  []string
	heard int
}

func (m *handModel) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter %s", fmt.Sprintf(format, args...), strings.Join(m.places, ", "))
}

func (m *handModel) did(format string, args ...any) {
	m.places = append(m.places, fmt.Sprintf(format, args...))
}

// order makes a random change, and carries it out on the model as its definition says.
func (m *handModel) order() {
	v := m.View()
	all, first := entryPaths(v.Coming()), v.Consumed
	at, to := m.rng.IntN(14), m.rng.IntN(14)
	held, order, path := len(m.held), slices.Clone(all), ""
	op := []scheduler.Op{scheduler.Move, scheduler.Remove, scheduler.Insert, scheduler.Lock, scheduler.Release}[m.rng.IntN(5)]
	switch op {
	case scheduler.Move:
		path := order[at]
		order = slices.Delete(order, at, at+1)
		place := to
		if to > at {
			place--
		}
		order = slices.Insert(order, place, path)
		held = max(held, at+1, place+1)
	case scheduler.Remove:
		order = slices.Delete(order, at, at+1)
		if at < held {
			held--
		}
		held = max(held, at)
	case scheduler.Insert:
		path = m.fresh()
		order = slices.Insert(order, to, path)
		if to < held {
			held++
		}
		held = max(held, to+1)
	case scheduler.Lock:
		held = max(held, at+1)
	case scheduler.Release:
		if at >= held {
			at = 0
		}
		held = min(held, at)
	}
	m.did("%s %d %d", op, at, to)
	d, err := m.edit(op, first+at, first+to, path)
	switch {
	case held > rotation.MostHeld || op == scheduler.Release && len(m.held) == 0:
		if !errors.Is(err, station.ErrConflict) {
			m.fail("not refused: %v", err)
		}
		return
	case err != nil:
		m.fail("%v", err)
	}
	m.past = append(m.past, undoable{d.ID, m.held, len(m.heard)})
	m.held = order[:held]
}

func (m *handModel) undo() {
	if len(m.past) == 0 {
		return
	}
	i := max(len(m.past)-1-m.rng.IntN(3), 0)
	was := m.past[i]
	m.did("undo of %d", len(m.past)-i)
	if err := m.Undo(m.t.Context(), was.id, "x"); err != nil {
		m.fail("%v", err)
	}
	m.held, m.past = slices.Clone(was.held), m.past[:i]
	for _, path := range m.heard[was.heard:] {
		if i := slices.Index(m.held, path); i >= 0 {
			m.held = slices.Delete(m.held, i, i+1)
		}
	}
	m.held = slices.DeleteFunc(m.held, func(path string) bool { return m.gone[path] })
}

// lose takes a track out of the library, mostly one that is held.
func (m *handModel) lose() {
	path := m.View().Coming()[m.rng.IntN(8)].Track.Path
	m.did("loss")
	m.gone[path] = true
	m.all = slices.DeleteFunc(slices.Clone(m.all), func(t station.Track) bool { return t.Path == path })
	m.shelf.set(m.all)
	time.Sleep(5 * time.Second)
	synctest.Wait()
	m.held = slices.DeleteFunc(slices.Clone(m.held), func(held string) bool { return held == path })
}

// hears has the next entry begin, which has to be the first that is held.
func (m *handModel) hears() {
	m.did("airing")
	m.ends()
	heard := m.next().Path
	if slices.Contains(m.heard[max(len(m.heard)-25, 0):], heard) {
		m.fail("%s is heard again", heard)
	}
	m.heard = append(m.heard, heard)
	if len(m.held) > 0 {
		if heard != m.held[0] {
			m.fail("heard %s, held first is %s", heard, m.held[0])
		}
		m.held = slices.Clone(m.held[1:])
	}
	time.Sleep(30 * time.Second) // nothing is in flight
	synctest.Wait()
}

// Whatever comes between changes by hand, what is held is what they say: in that order, nothing
// heard twice, nothing lost but what is gone, and undone exactly.
func TestHeldIsWhatTheEditsSay(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &handModel{newsroom: newNewsroom(t, songs(200)), rng: rand.New(rand.NewPCG(seed, 1)), gone: map[string]bool{}} //nolint:gosec // a test
				cfg := rotation.DefaultConfig()
				cfg.Rotation.BufferMax = 60 // a build is quick
				if _, err := m.Configure(t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
				if err := m.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
				m.heard = append(m.heard, m.View().OnAir.Track.Path)
				time.Sleep(30 * time.Second)
				for range 45 {
					switch m.rng.IntN(12) {
					case 0, 1, 2, 3, 4:
						m.order()
					case 5:
						m.undo()
					case 6:
						m.did("rebuild")
						if err := m.Rebuild(t.Context()); err != nil {
							m.fail("%v", err)
						}
					case 7:
						m.lose()
					case 8:
						m.did("restart")
						m.stop()
						m.open()
						m.past = nil
						time.Sleep(2 * time.Second)
						synctest.Wait()
					default:
						m.hears()
					}
					m.decided()
					if got := m.heldPaths(); !slices.Equal(got, append([]string{}, m.held...)) {
						m.fail("held are %v\nwant %v", got, m.held)
					}
				}
			})
		})
	}
}
