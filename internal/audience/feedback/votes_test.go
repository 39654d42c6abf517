package feedback_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

// TestMain doubles as the child that a test kills.
func TestMain(m *testing.M) {
	if path := os.Getenv("FEEDBACK_TEST_DB"); path != "" {
		voteForEver(path)
		return
	}
	testkit.Main(m)
}

// studio is a station whose air a test sets.
type studio struct {
	mu    sync.Mutex
	heard []feedback.Airing
	queue []string
	now   time.Time
	told  []told
	db    *store.DB
	file  string
}

type told struct {
	event   string
	payload any
}

func (s *studio) tell(event string, payload any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, told{event, payload})
}

// events are those of one name, in order.
func (s *studio) events(name string) (out []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.told {
		if t.event == name {
			out = append(out, t.payload)
		}
	}
	return out
}

func (s *studio) air() feedback.Air {
	s.mu.Lock()
	defer s.mu.Unlock()
	return feedback.Air{Heard: s.heard, Queue: s.queue}
}

func (s *studio) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// play airs the head of the queue and puts it at its end again.
func (s *studio) play() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := s.queue[0]
	s.queue = append(append([]string{}, s.queue[1:]...), path)
	s.now = s.now.Add(3 * time.Minute)
	s.heard = append([]feedback.Airing{{ID: "boot/" + s.now.String(), Path: path}}, s.heard...)
	s.heard = s.heard[:min(4, len(s.heard))]
	return path
}

func (s *studio) open(t *testing.T) *feedback.Votes {
	t.Helper()
	return s.all(t).Votes
}

func (s *studio) options() feedback.Options {
	return feedback.Options{
		Log: slog.New(slog.DiscardHandler), DB: s.db, Air: s.air, Now: s.clock, Tell: s.tell, DataFile: s.file,
	}
}

func (s *studio) all(t *testing.T) *feedback.Feedback {
	t.Helper()
	f, err := feedback.Open(t.Context(), s.options())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "athir.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &studio{queue: []string{"a.mp3", "b\xff.mp3", "أغنية.mp3", "d.mp3", "e.mp3", "f.mp3"}, now: time.Unix(1_700_000_000, 0), db: db}
}

// at is who shows an address alone.
func at(address string) feedback.Client { return feedback.Client{Address: address} }

func same(t *testing.T, v *feedback.Votes, want map[string]int) {
	t.Helper()
	if got := v.Counts(); !maps.Equal(got, want) {
		t.Errorf("votes %v, want %v", got, want)
	}
}

func TestOneVotePerAddressAndTrackWhichMayChange(t *testing.T) {
	s := newStudio(t)
	v := s.open(t)
	for _, c := range []struct {
		from, path string
		delta      int
		want       map[string]int
	}{
		{"x", "a.mp3", 1, map[string]int{"a.mp3": 1}},
		{"x", "a.mp3", 1, map[string]int{"a.mp3": 1}},
		{"y", "a.mp3", 1, map[string]int{"a.mp3": 2}},
		{"x", "a.mp3", -1, map[string]int{}},
		{"x", "b\xff.mp3", -1, map[string]int{"b\xff.mp3": -1}},
		{"x", "a.mp3", 0, map[string]int{"a.mp3": 1, "b\xff.mp3": -1}},
		{"x", "a.mp3", 0, map[string]int{"a.mp3": 1, "b\xff.mp3": -1}},
		{"", "أغنية.mp3", 1, map[string]int{"a.mp3": 1, "b\xff.mp3": -1, "أغنية.mp3": 1}},
		{"", "أغنية.mp3", 1, map[string]int{"a.mp3": 1, "b\xff.mp3": -1, "أغنية.mp3": 1}},
	} {
		if err := v.Cast(t.Context(), at(c.from), c.path, c.delta); err != nil {
			t.Fatal(err)
		}
		same(t, v, c.want)
	}
	for _, path := range []string{"", "z.mp3", "../a.mp3", "A.mp3"} {
		if err := v.Cast(t.Context(), at("x"), path, 1); !errors.Is(err, station.ErrNotFound) {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, delta := range []int{2, -2, 1000} {
		if err := v.Cast(t.Context(), at("x"), "a.mp3", delta); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%d votes at once: %v", delta, err)
		}
	}
	// The same address is the same voter after a restart, and no table tells which.
	again := s.open(t)
	same(t, again, v.Counts())
	if err := again.Cast(t.Context(), at("y"), "a.mp3", 1); err != nil {
		t.Fatal(err)
	}
	same(t, again, v.Counts())
	var shown int
	if err := s.db.Read().QueryRow(`SELECT count(*) FROM votes WHERE voter = CAST('y' AS BLOB)`).Scan(&shown); err != nil || shown != 0 {
		t.Errorf("%d addresses stand in the table: %v", shown, err)
	}
}

func TestVotesEndWhenTheTrackAirs(t *testing.T) {
	s := newStudio(t)
	v := s.open(t)
	vote := func(v *feedback.Votes, from, path string) {
		t.Helper()
		if err := v.Cast(t.Context(), at(from), path, 1); err != nil {
			t.Fatal(err)
		}
	}
	vote(v, "x", "a.mp3")
	vote(v, "x", "d.mp3")
	s.play()
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, v, map[string]int{"d.mp3": 1})
	vote(v, "x", "a.mp3") // it is in the queue again: a new turn
	for range 3 {
		if err := v.Settle(t.Context()); err != nil { // the same airing again changes nothing
			t.Fatal(err)
		}
	}
	same(t, s.open(t), map[string]int{"a.mp3": 1, "d.mp3": 1})

	// The control plane ends between the marker and the clearing.
	for s.play() != "d.mp3" {
	}
	v = s.open(t)
	same(t, v, map[string]int{"a.mp3": 1})
	vote(v, "y", "d.mp3")

	// More airs than is remembered: what is known is cleared, nothing comes twice.
	for range 10 {
		s.play()
	}
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	vote(v, "z", "d.mp3")
	if n := s.open(t).Counts()["d.mp3"]; n < 1 || n > 2 {
		t.Errorf("%d votes", n)
	}

	// A vote that was cast while the marker was on its way is cleared with the rest.
	s = newStudio(t)
	v = s.open(t)
	vote(v, "x", "b\xff.mp3")
	s.play()
	s.play()
	if err := v.Cast(t.Context(), at("y"), "e.mp3", 1); err != nil { // clears on its way
		t.Fatal(err)
	}
	same(t, v, map[string]int{"e.mp3": 1})

	// Tracks that air while nobody votes take no vote that comes after them.
	s = newStudio(t)
	v = s.open(t)
	for range 3 {
		s.play()
		if err := v.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	vote(v, "x", "a.mp3")
	same(t, s.open(t), map[string]int{"a.mp3": 1})

	// What never airs is not kept for ever.
	vote(v, "y", "e.mp3")
	s.mu.Lock()
	s.now = s.now.Add(25 * time.Hour)
	s.queue = s.queue[:1]
	s.mu.Unlock()
	s.play()
	if err := v.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, v, map[string]int{})
}

func TestVotesAreFewPerDeviceAndAddressAtATime(t *testing.T) {
	s := newStudio(t)
	v := s.open(t)
	until := func(from func(i int) feedback.Client, turns, seconds int) {
		t.Helper()
		var limit *client.LimitError
		for i := range turns + 1 {
			err := v.Cast(t.Context(), from(i), "a.mp3", 0)
			if errors.As(err, &limit) != (i == turns) {
				t.Fatalf("vote %d: %v", i, err)
			}
		}
		if limit.Seconds() != seconds {
			t.Errorf("come again in %d s, want %d", limit.Seconds(), seconds)
		}
	}
	until(func(int) feedback.Client { return at("x") }, 30, 2)
	until(func(int) feedback.Client { return feedback.Client{Address: "y", Device: "device-one"} }, 30, 2)
	if err := v.Cast(t.Context(), feedback.Client{Address: "y", Device: "device-two"}, "a.mp3", 1); err != nil {
		t.Errorf("a neighbour: %v", err)
	}
	until(func(i int) feedback.Client { return feedback.Client{Address: "z", Device: fmt.Sprint("device-", i)} }, 120, 1)
	if err := v.Cast(t.Context(), at("w"), "a.mp3", 1); err != nil {
		t.Errorf("another address: %v", err)
	}
}

// neighbour is who votes under a number: some with a device, four to an address.
func neighbour(i int) feedback.Client {
	from := at(fmt.Sprint("address-", i/4))
	if i%4 > 0 {
		from.Device = fmt.Sprint("device-", i)
	}
	return from
}

// Voters, markers and readers at once: the sums are those of the last votes.
func TestNoVoteIsLostOrCountedTwiceAmongMany(t *testing.T) {
	s := newStudio(t)
	v := s.open(t)
	const voters = 24
	last := make([]map[string]int, voters)
	var all sync.WaitGroup
	for i := range voters {
		all.Go(func() {
			last[i] = map[string]int{}
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 12 {
				path, delta := []string{"d.mp3", "e.mp3", "f.mp3"}[rng.IntN(3)], rng.IntN(3)-1
				if err := v.Cast(context.Background(), neighbour(i), path, delta); err != nil {
					t.Error(err)
				}
				last[i][path] = delta
				_ = v.Counts()["d.mp3"]
			}
		})
	}
	all.Go(func() {
		for range 2 {
			s.play()
			if err := v.Settle(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	want := map[string]int{}
	for _, of := range last {
		for path, delta := range of {
			if want[path] += delta; want[path] == 0 {
				delete(want, path)
			}
		}
	}
	same(t, v, want)
	same(t, s.open(t), want)
}

// A commit that fails answers every vote of it, and what is on disk counts.
func TestVotesThatCouldNotBeKeptDoNotCount(t *testing.T) {
	s := newStudio(t)
	v := s.open(t)
	if err := v.Cast(t.Context(), at("x"), "a.mp3", 1); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := v.Cast(t.Context(), at("y"), "a.mp3", 1); err == nil {
		t.Error("a vote without a database is answered")
	}
	same(t, v, map[string]int{"a.mp3": 1})
}

// named is the voter of that name: ten of them share an address.
func named(voter string) feedback.Client {
	return feedback.Client{Address: voter[:len(voter)-1], Device: "device-" + voter}
}

// voteForEver is the child: each voter votes once, and says so once it is kept.
func voteForEver(path string) {
	db, err := store.Open(context.Background(), path)
	if err != nil {
		panic(err)
	}
	air := func() feedback.Air { return feedback.Air{Queue: []string{"a.mp3"}} }
	f, err := feedback.Open(context.Background(), feedback.Options{
		Log: slog.New(slog.DiscardHandler), DB: db, Air: air, Now: time.Now, Tell: func(string, any) {},
	})
	if err != nil {
		panic(err)
	}
	if os.Getenv("FEEDBACK_TEST_ROLE") == "react" {
		reactForEver(f.Reactions)
		return
	}
	v := f.Votes
	var say sync.Mutex
	for worker := range 4 {
		go func() {
			for i := 0; ; i++ {
				voter := fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, i)
				if err := v.Cast(context.Background(), named(voter), "a.mp3", 1); err != nil {
					panic(err)
				}
				say.Lock()
				fmt.Println(voter)
				say.Unlock()
			}
		}()
	}
	select {}
}

func TestNoVoteIsLostOrCountedTwiceAcrossKills(t *testing.T) { killedVotes(t, 2) }

// killedVotes kills so many children whose voters vote, each after more answers
// than the one before.
func killedVotes(t *testing.T, kills int) {
	t.Helper()
	s := newStudio(t)
	path := filepath.Join(t.TempDir(), "killed.db")
	var answered []string
	for round := range kills {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "FEEDBACK_TEST_DB="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; n < 20+7*round && in.Scan(); n++ {
			answered = append(answered, in.Text())
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		for in.Scan() {
			if strings.Count(in.Text(), "-") == 2 {
				answered = append(answered, in.Text())
			}
		}
		_ = cmd.Wait()
	}
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	s.db = db
	v := s.open(t)
	before := v.Counts()["a.mp3"]
	// Each round may have kept what it could not say any more: one a worker.
	if before < len(answered) || before > len(answered)+kills*4 {
		t.Errorf("%d votes are kept, %d were answered", before, len(answered))
	}
	// Who was answered has voted: voting again changes nothing.
	for _, voter := range answered {
		if err := v.Cast(t.Context(), named(voter), "a.mp3", 1); err != nil {
			t.Fatal(err)
		}
	}
	if after := v.Counts()["a.mp3"]; after != before {
		t.Errorf("%d votes, %d after all voted again", before, after)
	}
}
