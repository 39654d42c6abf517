package social_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/sound/fingerprint"
)

// manyPosts is a station that has taken posts for years.
const manyPosts = 10_000

func busy(b *testing.B) *rig {
	b.Helper()
	r := open(b, nil)
	if err := r.PlantMany(b.Context(), manyPosts, 20, 5); err != nil {
		b.Fatal(err)
	}
	return r
}

// One vote, and the list that a page shows after it.
func BenchmarkVoteAndList(b *testing.B) {
	r := busy(b)
	n := 0
	for b.Loop() {
		n++
		if _, err := r.Vote(b.Context(), listener(n%50_000), int64(1+n%manyPosts), 1); err != nil {
			b.Fatal(err)
		}
		if _, err := r.List(b.Context(), social.Query{Sort: social.ByTop, Limit: 20}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearchPosts(b *testing.B) {
	r := busy(b)
	for b.Loop() {
		if page, err := r.List(b.Context(), social.Query{Text: "المساء رقم 77", Limit: 20}); err != nil || page.Total == 0 {
			b.Fatal(page.Total, err)
		}
	}
}

// What is done once a minute.
func BenchmarkPublish(b *testing.B) {
	r := busy(b)
	for b.Loop() {
		if err := r.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
		r.Overlay()
	}
}

// A vote that comes while the posts are published.
func BenchmarkVoteWhilePublishing(b *testing.B) {
	r := busy(b)
	n := 0
	for b.Loop() {
		n++
		b.StopTimer()
		reading, done := make(chan struct{}), make(chan error)
		r.counting = func() { close(reading) }
		go func() { done <- r.Refresh(b.Context()) }()
		<-reading
		b.StartTimer()
		if _, err := r.Vote(b.Context(), listener(n%50_000), int64(1+n%manyPosts), 1); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// A listener who has not voted before, where many are remembered.
func BenchmarkNewVoter(b *testing.B) {
	r := open(b, nil)
	if err := r.opt.DB.Write(b.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(b.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
			INSERT INTO social_voters (voter, address, network, since, seen) SELECT randomblob(32), randomblob(32), randomblob(32), 0, 0 FROM n`)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	r.again(b)
	n := 0
	for b.Loop() {
		n++
		if err := r.Met(b.Context(), listener(n)); err != nil {
			b.Fatal(err)
		}
	}
}

// A post as it is shown, and as one range of its audio needs it.
func BenchmarkGet(b *testing.B)   { r := busy(b); benchRead(b, r.Get) }
func BenchmarkBrief(b *testing.B) { r := busy(b); benchRead(b, r.Brief) }

func benchRead(b *testing.B, read func(context.Context, int64) (social.Post, error)) {
	b.Helper()
	n := 0
	for b.Loop() {
		n++
		if _, err := read(b.Context(), int64(1+n%manyPosts)); err != nil {
			b.Fatal(err)
		}
	}
}

// What each page of the platform and each scrape asks for.
func BenchmarkCountPosts(b *testing.B) {
	r := busy(b)
	for b.Loop() {
		if s, err := r.Waiting(b.Context()); err != nil || s.Approved != manyPosts {
			b.Fatal(s, err)
		}
	}
}

// A short sound compared with those of 5000 posts, from 0.2 to 3 s.
func BenchmarkAlikeShort(b *testing.B) {
	r := open(b, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	for id := range int64(5000) {
		if err := r.PlantShort(b.Context(), id+1, effect(rng, 20+rng.IntN(280)).Bytes()); err != nil {
			b.Fatal(err)
		}
	}
	r.again(b)
	short := effect(rng, 100)
	for b.Loop() {
		if _, err := r.AlikeShort(b.Context(), 0, short); err != nil {
			b.Fatal(err)
		}
	}
}

// effect is a made-up sound of so many frames: a noise of a spectrum of its own that swells
// and decays.
func effect(rng *rand.Rand, frames int) fingerprint.Short {
	b := make([]byte, 33, 35+16*frames)
	b[0] = 1
	for i := range 32 {
		b[1+i] = byte(rng.Uint32())
	}
	b = append(b, byte(frames), byte(frames>>8))
	var spectrum [16]float64
	level := 200 + 40*rng.Float64()
	for k := range spectrum {
		level += 40 * (rng.Float64() - 0.5)
		spectrum[k] = level
	}
	attack, decay := 1+rng.Float64()*float64(frames)/2, rng.Float64()*150
	for i := range frames {
		swell := min(0, 60*(float64(i)/attack-1)) - decay*float64(i)/float64(frames)
		for k := range spectrum {
			b = append(b, byte(min(240, max(80, spectrum[k]+swell+20*(rng.Float64()-0.5)))))
		}
	}
	s, err := fingerprint.ShortFromBytes(b)
	if err != nil {
		panic(err)
	}
	return s
}

// The start of the station: no file of a post is without its post.
func BenchmarkOpen(b *testing.B) {
	r := busy(b)
	mastered := filepath.Join(r.dir, "media", "social", "song")
	if err := os.MkdirAll(mastered, 0o700); err != nil {
		b.Fatal(err)
	}
	for id := 1; id <= manyPosts; id++ {
		for _, path := range []string{filepath.Join(mastered, fmt.Sprintf("SOC_%d_x.mp3", id)), filepath.Join(r.dir, "social", "incoming", fmt.Sprintf("%032x", id))} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		r.again(b)
	}
}
