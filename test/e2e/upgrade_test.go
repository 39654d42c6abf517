package e2e

import (
	"bytes"
	"context"
	little "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// mostGap is the most that may be missing of what is heard.
const mostGap = 100 * time.Millisecond

// Upgrades in a row: no listener of Icecast, HLS or /stream is disconnected or misses a
// moment, every event is heard once, no program is started again, and every role is the new
// version. The same of a SIGHUP, by which new settings are in force. TestSoakNobodyNoticesTenUpgrades is the same with more of them.
func TestNobodyNoticesAnUpgrade(t *testing.T) {
	t.Parallel()
	upgradeUnder(t, 3, 12)
}

// upgradeUnder upgrades a station so often under so many listeners of each kind.
func upgradeUnder(t *testing.T, upgrades, listeners int) {
	t.Helper()
	s := newStation(t, withKeys, steady).start()
	s.whole()
	s.hlsReady()
	before := s.pids("liquidsoap", "icecast", "bridge", "control", "relay", "player", "chat", "desk", "whip")
	programs := []string{copyOf(t, binary, "one"), copyOf(t, binary, "two")}
	audience := s.seat(listeners)
	c := newCrowd(s, s.url("control", ""), s.url("chat", ""))
	stop := c.begin(2)
	s.eventually("every client of events hears comments", func() bool {
		return !slices.ContainsFunc(audience.clients, func(c *socketed) bool { return c.count() == 0 })
	})
	for i := range upgrades {
		s.upgrade(programs[i%2])
	}
	s.reload()
	if after := s.pids("liquidsoap", "icecast", "bridge", "control", "relay", "player", "chat", "desk", "whip"); !slices.Equal(before, after) {
		t.Errorf("processes %v became %v", before, after)
	}
	stop()
	c.judge()
	var comments []string
	for _, m := range c.pages(func(last string) string { return "/api/comments?limit=100&after=" + last }, "comments") {
		comments = append(comments, m.ID)
	}
	audience.leave(t, comments)
	for i, c := range audience.clients {
		if c.breaks < 2 {
			t.Errorf("client %d of events was never disconnected: the upgrades are not seen", i)
		}
	}
}

// copyOf is another executable of the same program.
func copyOf(t *testing.T, program, name string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	data, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// upgrade has the station go on as a program, every role of it.
func (s *station) upgrade(program string) {
	s.t.Helper()
	cmd := exec.Command(program, "upgrade", "--data", s.data, "--json")
	cmd.Env = append(os.Environ(), s.env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("athir upgrade: %v: %s%s", err, out, said.String())
	}
	roles := 0
	for line := range strings.Lines(string(out)) {
		var step struct {
			Role, Outcome, Detail string
			Seconds               float64
		}
		if err := json.Unmarshal([]byte(line), &step); err != nil || step.Outcome != "upgraded" {
			s.t.Errorf("a step of the upgrade: %s", line)
		}
		roles++
	}
	if roles != 7 {
		s.t.Errorf("%d roles were upgraded, want 7:\n%s", roles, out)
	}
}

// seated are listeners of a station.
type seated struct {
	s       *station
	end     context.CancelFunc
	running sync.WaitGroup
	streams []*streamed // of Icecast and /stream
	hls     []*segmented
	clients []*socketed // of events
}

// streamed is a listener of an Ogg stream.
type streamed struct {
	name string
	mu   sync.Mutex
	body bytes.Buffer
	err  error
}

// Write implements io.Writer.
func (l *streamed) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body.Write(b)
}

func (l *streamed) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.body.Len()
}

func (l *streamed) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *streamed) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}

// segmented is a listener of HLS.
type segmented struct {
	*hlsListener
	media    string
	segments []string     // fetched, in order
	count    atomic.Int64 // of them
	audio    bytes.Buffer
	errs     []error
}

// seat has so many listeners of each kind listen until leave.
func (s *station) seat(each int) *seated {
	s.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	a := &seated{s: s, end: end}
	s.t.Cleanup(func() { end(); a.running.Wait() })
	for i := range each {
		for name, url := range map[string]string{"Icecast": s.url("icecast", "/main"), "/stream": s.url("control", "/stream")} {
			l := &streamed{name: fmt.Sprintf("listener %d of %s", i, name)}
			a.streams = append(a.streams, l)
			a.running.Go(func() { l.end(l.listen(ctx, url)) })
		}
		h := &segmented{hlsListener: newHLS(s)}
		a.hls = append(a.hls, h)
		a.running.Go(func() { h.listen(ctx) })
	}
	a.sockets(ctx, each)
	for _, l := range a.streams {
		s.eventually(l.name+" hears something", func() bool { return l.size() > 32<<10 })
	}
	return a
}

func (l *streamed) listen(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	_, err = io.Copy(l, resp.Body)
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(errors.New("disconnected"), err)
}

// listen fetches every segment once, as a player does, and notes each request that fails.
func (l *segmented) listen(ctx context.Context) {
	master, err := l.get("index.m3u8")
	l.note(ctx, err)
	l.media = mainMedia(master)
	for ctx.Err() == nil {
		list, err := l.get(l.media)
		l.note(ctx, err)
		joined, anew := len(l.segments) > 0, false
		if _, name, of := strings.Cut(list, `#EXT-X-MAP:URI="`); of && !joined { // a fragment says nothing of its format
			name, _, _ = strings.Cut(name, `"`)
			header, err := l.get(name)
			l.note(ctx, err)
			_, _ = l.audio.WriteString(header)
		}
		for line := range strings.Lines(list) {
			name := strings.TrimSpace(line)
			if name == "" || strings.HasPrefix(name, "#") {
				anew = anew || name == "#EXT-X-DISCONTINUITY"
				continue
			}
			broken := anew
			if anew = false; slices.Contains(l.segments, name) {
				continue
			}
			if joined && broken { // in the list that it joined with, one is of the station's start
				l.note(ctx, fmt.Errorf("a discontinuity:\n%s", list))
			}
			body, err := l.get(name)
			l.note(ctx, err)
			l.segments = append(l.segments, name)
			l.count.Add(1)
			_, _ = l.audio.WriteString(body)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (l *segmented) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		l.errs = append(l.errs, err)
	}
}

// leave ends the listening and judges what was heard.
func (a *seated) leave(t *testing.T, comments []string) {
	t.Helper()
	for i, c := range a.clients {
		a.s.eventually(fmt.Sprintf("client %d of events hears the last comment", i), func() bool { return c.has(comments[len(comments)-1]) })
	}
	// What came after the last upgrade is judged as well.
	var sizes []int
	for _, l := range a.streams {
		sizes = append(sizes, l.size())
	}
	var counts []int64
	for _, l := range a.hls {
		counts = append(counts, l.count.Load())
	}
	for i, l := range a.streams {
		a.s.eventually(l.name+" hears more", func() bool { return l.size() > sizes[i]+48<<10 || l.ended() })
	}
	for i, l := range a.hls {
		a.s.eventually(fmt.Sprintf("listener %d of HLS hears more", i), func() bool { return l.count.Load() > counts[i]+2 })
	}
	a.end()
	a.running.Wait()
	for _, l := range a.streams {
		if l.err != nil {
			t.Errorf("%s: %v", l.name, l.err)
		}
		if err := pagesInOrder(l.body.Bytes()); err != nil {
			t.Errorf("%s: %v", l.name, err)
		}
	}
	breaks, lost := 0, 0
	for i, c := range a.clients {
		c.judge(t, fmt.Sprintf("client %d of events", i), comments)
		breaks, lost = breaks+c.breaks-1, lost+c.lost
	}
	t.Logf("events: %d comments, each heard once; %d connections broke, of which %d were not taken up where they broke", len(comments), breaks, lost)
	for i, l := range a.hls {
		if err := errors.Join(l.errs...); err != nil {
			t.Errorf("listener %d of HLS: %v", i, err)
		}
		if err := numbersInOrder(l.segments); err != nil {
			t.Errorf("listener %d of HLS: %v", i, err)
		}
	}
	for name, heard := range map[string][]byte{"HLS": a.hls[0].audio.Bytes(), "/stream": a.streams[0].body.Bytes(), "Icecast": a.streams[1].body.Bytes()} {
		file := filepath.Join(t.TempDir(), "heard")
		if err := os.WriteFile(file, heard, 0o600); err != nil {
			t.Fatal(err)
		}
		pcm, err := aircheck.Capture(t.Context(), file, time.Hour)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		report := aircheck.Fine.Analyse(pcm)
		t.Logf("%s: %s heard, longest gap %s", name, pcm.Duration(), report.Gap.Length())
		if report.Gap.Length() > mostGap {
			t.Errorf("%s: a gap of %s", name, report.Gap.Length())
		}
	}
}

// pagesInOrder reports an Ogg page that is missing, or comes twice. Between the headers of
// the first link and its first page of audio there may be a hole: the listener joined there.
func pagesInOrder(ogg []byte) error {
	const fixed = 27
	last, pages := map[uint32]uint32{}, 0
	for len(ogg) >= fixed {
		if string(ogg[:4]) != "OggS" {
			return fmt.Errorf("after %d pages comes something else", pages)
		}
		segments := int(ogg[26])
		size := fixed + segments
		if len(ogg) < size {
			break
		}
		for _, n := range ogg[fixed:size] {
			size += int(n)
		}
		serial, number := little.LittleEndian.Uint32(ogg[14:]), little.LittleEndian.Uint32(ogg[18:])
		if before, known := last[serial]; known && number != before+1 && (len(last) > 1 || before > 2) {
			return fmt.Errorf("page %d of a link follows %d", number, before)
		}
		last[serial] = number
		pages++
		ogg = ogg[min(size, len(ogg)):]
	}
	return nil
}

// numbersInOrder reports a segment that was left out.
func numbersInOrder(names []string) error {
	last := 0
	for _, name := range names {
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, "seg"), ".m4s")
		n, err := strconv.Atoi(digits)
		if err != nil {
			return fmt.Errorf("segment %q has no number", name)
		}
		if last != 0 && n != last+1 {
			return fmt.Errorf("segment %d follows %d", n, last)
		}
		last = n
	}
	return nil
}

// reload changes a setting under the listeners, and with it one that Icecast has read:
// SIGHUP puts the first in force, and the other waits for a restart until it is taken back.
func (s *station) reload() {
	s.t.Helper()
	file := filepath.Join(s.data, "athir.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	const origin = "https://elsewhere.example"
	allowed := func() bool {
		req, err := http.NewRequest(http.MethodGet, s.url("control", "/api/status"), nil) //nolint:noctx // the client has a time limit
		if err != nil {
			s.t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		resp, err := (&http.Client{Timeout: patience}).Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.Header.Get("Access-Control-Allow-Origin") == origin
	}
	listed := strings.Replace(string(text), "cors_origins: []", "cors_origins: ["+origin+"]", 1)
	hup := func(settings string) {
		write(s.t, file, settings)
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			s.t.Fatal(err)
		}
	}
	waiting := func() (names []string) {
		body, err := s.getAs("control", "/api/status", testStationKey)
		var status struct{ Restart []string }
		if err != nil || json.Unmarshal(body, &status) != nil {
			return []string{"unknown"}
		}
		return status.Restart
	}
	begun := s.logged("took over", "role=station")
	hup(strings.Replace(listed, "max_clients: 5000", "max_clients: 123", 1))
	s.eventually("the new setting", allowed)
	s.eventually("a word of the other", func() bool { return s.logged("settings wait for a restart", "icecast.max_clients (node)") > 0 })
	s.eventually("a supervisor that has read it too", func() bool { return s.logged("took over", "role=station") > begun })
	s.eventually("a status that does not forget the other", func() bool { return slices.Equal(waiting(), []string{"icecast.max_clients (node)"}) })
	hup(listed)
	s.eventually("nothing that waits", func() bool { return len(waiting()) == 0 })
	// The supervisor begins anew last: what it orders afterwards it orders for ever.
	if n := s.logged("a role follows the upgrade", "of=station"); n > 0 {
		s.t.Errorf("the supervisor began anew by itself %d times after it read its settings", n)
	}
}
