package feedback_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/kit/client"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/station"
)

func react(t *testing.T, r *feedback.Reactions, emoji string, delta int, id string) feedback.Reacted {
	t.Helper()
	got, err := r.React(t.Context(), feedback.Client{}, feedback.ReactionIn{Emoji: emoji, Delta: delta, ID: id})
	if err != nil {
		t.Fatalf("%s %+d: %v", emoji, delta, err)
	}
	return got
}

func TestReactionsTakeOneEmojiAndOneToTenClicks(t *testing.T) {
	s := newStudio(t)
	r := s.all(t).Reactions
	react(t, r, "🔥", 1, "")
	react(t, r, "🔥", 10, "")
	react(t, r, "❤️", 2, "")
	if got := react(t, r, "❤", 1, ""); got != (feedback.Reacted{Emoji: "❤️", Count: 3}) {
		t.Errorf("without its selector: %+v", got)
	}
	react(t, r, "👨‍👩‍👧‍👦", 1, "")
	for _, c := range []feedback.ReactionIn{
		{Emoji: "", Delta: 1}, {Emoji: "a", Delta: 1}, {Emoji: "🔥🔥", Delta: 1}, {Emoji: "🔥 ", Delta: 1}, {Emoji: "1", Delta: 1},
		{Emoji: "\u202e🔥", Delta: 1}, {Emoji: strings.Repeat("🔥", 9999), Delta: 1}, {Emoji: "\xff", Delta: 1},
		{Emoji: "🔥", Delta: 0}, {Emoji: "🔥", Delta: -1}, {Emoji: "🔥", Delta: 11}, {Emoji: "🔥", Delta: 1 << 40},
		{Emoji: "🔥", Delta: 1, ID: "short"}, {Emoji: "🔥", Delta: 1, ID: "no spaces here"}, {Emoji: "🔥", Delta: 1, ID: strings.Repeat("x", 65)},
	} {
		if _, err := r.React(t.Context(), feedback.Client{}, c); !errors.Is(err, station.ErrInvalid) {
			t.Errorf("%.40q: %v", fmt.Sprint(c), err)
		}
	}
	want := map[string]int64{"🔥": 11, "❤️": 3, "👨‍👩‍👧‍👦": 1}
	for name, got := range map[string]map[string]int64{"at once": r.Counts(), "after a restart": s.all(t).Reactions.Counts()} {
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheSameIDCountsOnceForADayWhateverRestarts(t *testing.T) {
	s := newStudio(t)
	f := s.all(t)
	const id = "a-client_s-own-id-1"
	first := react(t, f.Reactions, "🎉", 3, id)
	react(t, f.Reactions, "🎉", 1, "")
	for range 3 {
		f = s.all(t)
		if again := react(t, f.Reactions, "🎉", 3, id); again != first {
			t.Errorf("again %+v, first %+v", again, first)
		}
	}
	// The kinds of writes are kept apart.
	vibed, err := f.Vibes.Vote(t.Context(), feedback.Client{}, feedback.VibeIn{Vibe: "tarab", ID: id})
	if err != nil || vibed.Vibe != "tarab" || vibed.Counts["tarab"] != 1 {
		t.Fatalf("%+v %v", vibed, err)
	}
	if _, err := f.Vibes.Vote(t.Context(), feedback.Client{}, feedback.VibeIn{Vibe: "focus"}); err != nil {
		t.Fatal(err)
	}
	// A retry that comes late does not take a newer vote back.
	again, err := s.all(t).Vibes.Vote(t.Context(), feedback.Client{}, feedback.VibeIn{Vibe: "tarab", ID: id})
	if err != nil || !maps.Equal(again.Counts, vibed.Counts) || s.all(t).Vibes.Mine(feedback.Client{}) != "focus" {
		t.Errorf("again %+v %v, and the vote is %q", again, err, s.all(t).Vibes.Mine(feedback.Client{}))
	}
	// Remembered for a day, and not for ever.
	s.later(23*time.Hour + 59*time.Minute)
	if again := react(t, f.Reactions, "🎉", 3, id); again != first {
		t.Errorf("after a day %+v, first %+v", again, first)
	}
	s.later(2 * time.Minute)
	react(t, f.Reactions, "🎉", 1, "another-id-of-a-client")
	var rows int
	if err := s.db.Read().QueryRow(`SELECT count(*) FROM feedback_answers`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d ids are remembered: %v", rows, err)
	}
}

// Programs that count their writes from 1 do not answer for one another, and no
// write is answered with another's success.
func TestAnIDIsOneDevicesAndForOneWrite(t *testing.T) {
	s := newStudio(t)
	f := s.all(t)
	const id = "00000001"
	one, other := feedback.Client{Device: "one-device"}, feedback.Client{Device: "another-device"}
	for _, from := range []feedback.Client{one, other, one, other} {
		if _, err := f.Reactions.React(t.Context(), from, feedback.ReactionIn{Emoji: "🔥", Delta: 2, ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.Reactions.Counts()["🔥"]; n != 4 {
		t.Errorf("%d counted", n)
	}
	if got, err := f.Reactions.React(t.Context(), one, feedback.ReactionIn{Emoji: "🎉", Delta: 1, ID: id}); !errors.Is(err, station.ErrConflict) {
		t.Errorf("another emoji under the same id: %+v %v", got, err)
	}
	for _, from := range []feedback.Client{one, other, one} {
		if _, err := f.Vibes.Vote(t.Context(), from, feedback.VibeIn{Vibe: "tarab", ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.Vibes.Counts()["tarab"]; n != 2 {
		t.Errorf("%d votes", n)
	}
	if got, err := f.Vibes.Vote(t.Context(), one, feedback.VibeIn{Vibe: "focus", ID: id}); !errors.Is(err, station.ErrConflict) {
		t.Errorf("another vibe under the same id: %+v %v", got, err)
	}
}

func TestReactionsHaveABudgetPerDeviceAndPerAddress(t *testing.T) {
	s := newStudio(t)
	r := s.all(t).Reactions
	tries := func(n int, from func(i int) feedback.Client) (taken int, last *client.LimitError) {
		for i := range n {
			_, err := r.React(t.Context(), from(i), feedback.ReactionIn{Emoji: "🔥", Delta: 10})
			if err == nil {
				taken++
			} else if !errors.As(err, &last) {
				t.Fatal(err)
			}
		}
		return taken, last
	}
	taken, limit := tries(20, func(int) feedback.Client {
		return feedback.Client{Address: "198.51.100.1", Device: "one-device"}
	})
	if taken != 10 || limit.Seconds() != 1 {
		t.Errorf("a device: %d, then come again in %d s", taken, limit.Seconds())
	}
	taken, limit = tries(120, func(i int) feedback.Client {
		return feedback.Client{Address: "198.51.100.1", Device: fmt.Sprint("device-", i)}
	})
	if taken != 90 || limit.Seconds() != 1 {
		t.Errorf("devices of one address: %d, then come again in %d s", taken, limit.Seconds())
	}
	if taken, _ = tries(1, func(int) feedback.Client { return feedback.Client{Address: "198.51.100.2"} }); taken != 1 {
		t.Error("another address has to wait as well")
	}
	if n := r.Counts()["🔥"]; n != 10*(10+90+1) {
		t.Errorf("%d counted", n)
	}
}

// Others at its address had used it up: that costs a device nothing.
func TestAClickRefusedForItsAddressCostsItsDeviceNothing(t *testing.T) {
	s := newStudio(t)
	f := s.all(t)
	var limit *client.LimitError
	for what, click := range map[string]func(from feedback.Client) error{
		"a reaction": func(from feedback.Client) error {
			_, err := f.Reactions.React(t.Context(), from, feedback.ReactionIn{Emoji: "🔥", Delta: 1})
			return err
		},
		"a vote": func(from feedback.Client) error { return f.Votes.Cast(t.Context(), from, "a.mp3", 0) },
	} {
		var err error
		for n := 0; err == nil; n++ {
			err = click(feedback.Client{Address: "192.0.2.9", Device: fmt.Sprint("device-", n)})
		}
		one := feedback.Client{Address: "192.0.2.9", Device: "one-device"}
		for range 40 {
			if err := click(one); !errors.As(err, &limit) {
				t.Errorf("%s of that address: %v", what, err)
			}
		}
		one.Address = "192.0.2.10" // the phone has found another network
		if err := click(one); err != nil {
			t.Errorf("%s: the device itself has had none yet: %v", what, err)
		}
	}
}

// What listeners are told adds up to what was counted, in few events.
func TestListenersAreToldOfEveryReactionInFewEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStudio(t)
		f := s.all(t)
		react(t, f.Reactions, "👏", 5, "")
		stop := testkit.Background(t, f.Run)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				for range 10 {
					react(t, f.Reactions, []string{"🔥", "😂"}[i%2], 2, "")
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		all.Wait()
		if err := f.Votes.Cast(t.Context(), at("x"), "b\xff.mp3", 1); err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{"tarab", "party", "tarab"} {
			if _, err := f.Vibes.Vote(t.Context(), feedback.Client{}, feedback.VibeIn{Vibe: v}); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		events := s.events("reactions")
		if len(events) < 4 || len(events) > 6 { // four a second, the first at once, the last at the end
			t.Errorf("%d events in a second", len(events))
		}
		sums := map[string]int64{}
		for _, e := range events {
			for emoji, n := range e.(feedback.ReactionsTold).Changed {
				sums[emoji] += n
			}
		}
		last := events[len(events)-1].(feedback.ReactionsTold)
		want := map[string]int64{"👏": 5, "🔥": 200, "😂": 200}
		if !maps.Equal(sums, want) || !maps.Equal(last.Counts, want) {
			t.Errorf("told %v, in the end %v", sums, last.Counts)
		}
		votes := s.events("votes")
		if got := votes[len(votes)-1].(feedback.VotesTold).Votes; !maps.Equal(got, map[string]int{"b\ufffd.mp3": 1}) {
			t.Errorf("votes %v", got)
		}
		vibes := s.events("interaction")
		if got := vibes[len(vibes)-1].(feedback.VibeTold); got.Type != "vibe_vote" || got.Vibe != "tarab" && got.Vibe != "party" ||
			got.Counts["tarab"] != 1 || got.Counts["party"] != 0 || len(got.Counts) != 6 {
			t.Errorf("vibe %+v", got)
		}
	})
}

func TestReactionsThatCouldNotBeKeptDoNotCount(t *testing.T) {
	s := newStudio(t)
	f := s.all(t)
	react(t, f.Reactions, "🔥", 1, "")
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Reactions.React(t.Context(), feedback.Client{}, feedback.ReactionIn{Emoji: "🔥", Delta: 1}); err == nil {
		t.Error("a reaction without a database is answered")
	}
	if _, err := f.Vibes.Vote(t.Context(), feedback.Client{}, feedback.VibeIn{Vibe: "party"}); err == nil {
		t.Error("a vote without a database is answered")
	}
	if f.Reactions.Counts()["🔥"] != 1 || f.Vibes.Counts()["party"] != 0 {
		t.Errorf("%v %v", f.Reactions.Counts(), f.Vibes.Counts())
	}
}

func TestReactionsDataFileIsTakenOverOnceAndThenKept(t *testing.T) {
	s := newStudio(t)
	s.file = filepath.Join(t.TempDir(), "reactions.json")
	if err := os.WriteFile(s.file, []byte(`{"🔥": 7, "❤": 2, "x": 9, "😂": -3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f := s.all(t)
	react(t, f.Reactions, "🔥", 1, "")
	want := map[string]int64{"🔥": 8, "❤️": 2}
	for _, got := range []map[string]int64{f.Reactions.Counts(), s.all(t).Reactions.Counts()} {
		if !maps.Equal(got, want) {
			t.Errorf("%v", got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Run(ctx); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]int64
	if err := json.Unmarshal(text, &kept); err != nil || !maps.Equal(kept, want) {
		t.Errorf("%s: %v", text, err)
	}

	// One that cannot be read is set aside before its name is used.
	s = newStudio(t)
	s.file = filepath.Join(t.TempDir(), "reactions.json")
	if err := os.WriteFile(s.file, []byte("🔥: 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.all(t).Reactions.Counts(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if text, err := os.ReadFile(s.file + ".unread"); err != nil || string(text) != "🔥: 7" {
		t.Errorf("%q %v", text, err)
	}
}

// writers is how many react at once in the child that is killed.
const writers = 50

// nth is the reaction number i of a writer: an id of its own, and some clicks.
func nth(writer, i int) feedback.ReactionIn {
	return feedback.ReactionIn{Emoji: []string{"🔥", "😂", "❤️"}[i%3], Delta: i%10 + 1, ID: fmt.Sprintf("writer-%02d-%06d", writer, i)}
}

// reactForEver is the child: each writer goes on where it was not answered yet,
// and says so once it is.
func reactForEver(r *feedback.Reactions) {
	var answered [writers]int
	if err := json.Unmarshal([]byte(os.Getenv("FEEDBACK_TEST_ANSWERED")), &answered); err != nil {
		panic(err)
	}
	var say sync.Mutex
	for w := range writers {
		go func() {
			for i := answered[w]; ; i++ {
				if _, err := r.React(context.Background(), feedback.Client{}, nth(w, i)); err != nil {
					panic(err)
				}
				say.Lock()
				fmt.Println(w, i)
				say.Unlock()
			}
		}()
	}
	select {}
}

func TestNoReactionIsLostOrCountedTwiceAcrossKills(t *testing.T) { killedReactions(t, 2) }

// killedReactions kills so many children whose listeners react, each after more
// answers than the one before.
func killedReactions(t *testing.T, kills int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "killed.db")
	var answered [writers]int // the first number not answered
	for round := range kills {
		text, err := json.Marshal(answered)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "FEEDBACK_TEST_DB="+path, "FEEDBACK_TEST_ROLE=react", "FEEDBACK_TEST_ANSWERED="+string(text))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); n++ {
			if n == 100+37*round {
				_ = cmd.Process.Signal(syscall.SIGKILL)
			}
			var w, i int
			if _, err := fmt.Sscan(in.Text(), &w, &i); err != nil || i != answered[w] {
				t.Fatalf("the child said %q, writer %d was answered up to %d", in.Text(), w, answered[w])
			}
			answered[w]++
		}
		_ = cmd.Wait()
	}
	db, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	s := &studio{db: db, now: time.Now()}
	r := s.all(t).Reactions
	want, total := map[string]int64{}, 0
	for w, next := range answered {
		for i := range next + 1 { // the one under way at the last kill is sent again
			in := nth(w, i)
			want[in.Emoji] += int64(in.Delta)
			total++
			if i < next-3 {
				continue
			}
			if _, err := r.React(t.Context(), feedback.Client{}, in); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := r.Counts(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
	t.Logf("%d reactions of %d writers over %d kills: none lost, none twice", total, writers, kills)
}

// BenchmarkReactions is what one disk takes from many listeners at once, each
// answered once its reaction is on disk.
func BenchmarkReactions(b *testing.B) {
	for _, listeners := range []int{1, 50, 500} {
		b.Run(fmt.Sprintf("listeners=%d", listeners), func(b *testing.B) {
			db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "athir.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close() //nolint:errcheck // only measured
			f, err := feedback.Open(b.Context(), feedback.Options{
				Log: slog.New(slog.DiscardHandler), DB: db, Now: time.Now, Tell: func(string, any) {},
				Air: func() feedback.Air { return feedback.Air{} },
			})
			if err != nil {
				b.Fatal(err)
			}
			work := make(chan int)
			var all sync.WaitGroup
			for range listeners {
				all.Go(func() {
					for i := range work {
						if _, err := f.Reactions.React(b.Context(), feedback.Client{}, nth(0, i)); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ResetTimer()
			for i := range b.N {
				work <- i
			}
			close(work)
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reactions/s")
		})
	}
}
