//go:build soak

package e2e

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// hammer presses every button of a station, as fast as it answers, while on.
type hammer struct {
	*station
	on    atomic.Bool
	mu    sync.Mutex
	codes map[int]int
}

func (h *hammer) run(ctx context.Context, order func() (answer, error)) {
	for ctx.Err() == nil {
		if h.on.Load() {
			if a, err := order(); err == nil {
				h.mu.Lock()
				h.codes[a.code]++
				h.mu.Unlock()
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(100+rand.IntN(700)) * time.Millisecond):
		}
	}
}

// lists records every playlist that is in place, and fails where there is none
// that is whole.
func (s *station) lists(ctx context.Context) (out []committed) {
	file := filepath.Join(s.data, "node", "main.m3u")
	node := delivery.NewLocal(file, slog.New(slog.DiscardHandler))
	var last string
	for ctx.Err() == nil {
		data, err := node.Current(ctx)
		var items []playlist.Item
		if err == nil {
			items, err = playlist.Decode(data)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Errorf("no whole playlist is in place: %v", err)
		}
		if now := string(data); now != last && len(items) > 0 {
			last = now
			list := committed{seen: time.Now()}
			for _, it := range items {
				list.entries = append(list.entries, entry{File: it.Path})
			}
			out = append(out, list)
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return out
}

// The control plane is killed at any instant of skips, plays and rebuilds that
// come as fast as they are answered. The engine lives through it, a whole list
// is in place at every moment, and the next control plane knows what is on air.
func TestSoakControlKilledBetweenPresses(t *testing.T) {
	t.Parallel() // most of it is listening
	s := newStation(t, withKeys)
	pieces := slow()
	record(t, s.media, pieces)
	s.configure(programmeRules(60, []rotation.Daypart{}))
	s.start().whole()
	engine, err := s.process("liquidsoap")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	inPlace := make(chan []committed, 1)
	go func() { inPlace <- s.lists(ctx) }()
	ear := s.listen()
	s.eventually("something heard", func() bool { return ear.last(aircheck.Fine) >= 0 })

	h := &hammer{station: s, codes: map[int]int{}}
	var hands sync.WaitGroup
	for _, order := range []func() (answer, error){
		s.skip,
		func() (answer, error) { return s.play(radio.Categories()[rand.IntN(6)], "") },
		func() (answer, error) { p := pieces[rand.IntN(100)]; return s.play(p.category, p.file()) },
		func() (answer, error) { return s.order(testStationKey, "/api/station/rotation/rebuild", "") },
	} {
		hands.Go(func() { h.run(ctx, order) })
	}
	for i := range 6 {
		h.on.Store(true)
		time.Sleep(time.Duration(500+rand.IntN(1500)) * time.Millisecond) // any instant
		old := s.kill("control")
		h.on.Store(false)
		killed := time.Now()
		s.eventually("the next control plane answers", func() bool {
			p, err := s.process("control")
			return err == nil && p.PID != old
		})
		back := time.Since(killed)
		s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Fine) })
		t.Logf("kill %d: answers again after %s, and names what is heard after %s", i, back.Round(time.Millisecond), time.Since(killed).Round(time.Millisecond))
	}
	s.whole()
	s.eventually("a last agreement", func() bool { return s.agrees(ear, aircheck.Fine) })
	cancel()
	hands.Wait()
	ear.stop() // what is heard was logged before
	plays := s.plays()
	lists := <-inPlace

	if now, err := s.process("liquidsoap"); err != nil || now.PID != engine.PID {
		t.Errorf("the playout engine did not live through it: %+v, %v", now, err)
	}
	t.Logf("answers by status: %v; %d lists were in place", h.codes, len(lists))
	for code := range h.codes {
		if code != http.StatusOK && code != http.StatusConflict && code != http.StatusServiceUnavailable {
			t.Errorf("an order was answered with status %d", code)
		}
	}
	if h.codes[http.StatusOK] < 10 {
		t.Error("hardly an order was carried out")
	}
	report := aircheck.Fine.Analyse(ear.PCM())
	if gap := report.Gap.Length(); gap > maxGap {
		t.Errorf("a gap of %s at %s", gap, report.Gap.Start)
	}
	// What is skipped at once is too short for the ear, but not for the log: that
	// holds all that is heard, and is made of the lists in their order.
	order := patched(report).Order()
	first := slices.IndexFunc(plays, func(p played) bool { return p.tone == order[0] })
	var logged []aircheck.Segment
	for _, p := range plays[max(first, 0):] {
		logged = append(logged, aircheck.Segment{ID: p.tone})
	}
	log := aircheck.Report{Segments: logged}
	if lost := within(order, log.Order()); lost >= 0 {
		t.Errorf("tone %d, the %dth heard, is not in the log of what aired\nheard  %v\nlogged %v", order[lost], lost, order, log.Order())
	}
	// A list that the next one replaced within some 20 ms may have been read by
	// the engine and not by the test.
	unseen := max(0, s.logged("Rotation verified on remote")-len(lists))
	if unseen > len(lists)/4 {
		t.Errorf("%d lists were seen, and %d not", len(lists), unseen)
	}
	mustExplain(t, log, lists, unseen)
}
