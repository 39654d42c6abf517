package social_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/athir-radio/athir/internal/audience/social"
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

// What each page of the platform and each scrape asks for.
func BenchmarkCountPosts(b *testing.B) {
	r := busy(b)
	for b.Loop() {
		if s, err := r.Waiting(b.Context()); err != nil || s.Approved != manyPosts {
			b.Fatal(s, err)
		}
	}
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
