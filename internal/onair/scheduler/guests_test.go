package scheduler_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

// withPosts is a library of songs and n posts by as many listeners.
func withPosts(n int) (all, posts []station.Track) {
	for i := range n {
		posts = append(posts, station.Track{
			Path: fmt.Sprintf("social/song/SOC_%d_a.mp3", i+1), Category: station.English, Duration: 3 * time.Minute,
			Title: fmt.Sprint("post ", i), Artist: fmt.Sprint("guest ", i), Submitter: fmt.Sprint("listener ", i),
		})
	}
	return slices.Concat(songs(90), posts), posts
}

// What a listener's post names may be gone by the time a rotation is built.
func TestDeadOverlayPathsAreDropped(t *testing.T) {
	all, posts := withPosts(3)
	n := &node{gone: map[string]bool{root + posts[1].Path: true}} // not in place on the node
	r := newRigWith(t, n, newShelf(all), func(o *scheduler.Options) {
		o.Overlay = func() rotation.Overlay {
			return rotation.Overlay{
				Posts:    map[station.Category][]string{station.English: {"never/was.mp3", posts[1].Path, posts[0].Path, "gone.mp3", posts[2].Path}},
				Requests: []string{"gone.mp3"},
			}
		}
	})
	v := r.built()
	if len(v.Rotation.Entries) != 120 || v.Problem != "" {
		t.Errorf("%d entries, problem %q", len(v.Rotation.Entries), v.Problem)
	}
	var guests []string
	for _, it := range v.Items() {
		if it.Guest == rotation.GuestPost {
			guests = append(guests, it.Track.Path)
		}
		if it.Track.Path == posts[1].Path || it.Track.Path == "gone.mp3" {
			t.Errorf("planned: %s", it.Track.Path)
		}
	}
	if want := []string{posts[0].Path, posts[2].Path}; !slices.Equal(guests, want) {
		t.Errorf("planned are %v, want %v", guests, want)
	}
}

// A post that is heard, and the listener who submitted it, are known after a restart.
func TestGuestsAreRememberedOverARestart(t *testing.T) {
	all, posts := withPosts(2)
	posts[1].Submitter, all[91].Submitter = posts[0].Submitter, posts[0].Submitter
	r := newRigWith(t, &node{}, newShelf(all), func(o *scheduler.Options) {
		o.Overlay = func() rotation.Overlay {
			return rotation.Overlay{Posts: map[station.Category][]string{station.English: {posts[0].Path, posts[1].Path}}}
		}
	})
	planned := func() (out []string) {
		for _, it := range r.View().Upcoming() {
			if it.Guest != "" && it.ExpectedAt.Before(time.Now().Add(59*time.Minute)) {
				out = append(out, it.Track.Path)
			}
		}
		return out
	}
	r.built()
	if got := planned(); !slices.Equal(got, []string{posts[0].Path}) {
		t.Fatalf("planned are %v", got)
	}
	r.hear("e", 1, posts[0].Path)
	r.shelf.set(slices.DeleteFunc(slices.Clone(all), func(t station.Track) bool { return t.Path == posts[0].Path })) // withdrawn
	r.decided()
	r.stop()
	r.open()
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := planned(); len(got) > 0 {
		t.Errorf("within an hour of the first, %v are planned", got)
	}
}

// The engine had opened a request when the list was built again, and aired it all the same:
// it must not come a second time.
func TestARequestHeardEarlyDoesNotComeAgain(t *testing.T) {
	var asked atomic.Pointer[[]string]
	r := newRigWith(t, &node{}, newShelf(songs(200)), func(o *scheduler.Options) {
		o.Overlay = func() rotation.Overlay {
			if paths := asked.Load(); paths != nil {
				return rotation.Overlay{Requests: *paths}
			}
			return rotation.Overlay{}
		}
	})
	first := r.built().Rotation.Entries
	r.hear("e", 1, first[0].Track.Path)
	path := first[1].Track.Path
	asked.Store(&[]string{path})
	if err := r.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	comes := func() bool {
		return slices.ContainsFunc(r.View().Upcoming(), func(it scheduler.Item) bool {
			return it.Track.Path == path && it.ExpectedAt.Before(time.Now().Add(2*time.Hour))
		})
	}
	if !comes() {
		t.Fatal("the request that was dropped is not planned again")
	}
	if got := r.hear("e", 2, path); got != "unknown" {
		t.Errorf("heard after all: %s", got)
	}
	r.decided()
	if v := r.View(); comes() || v.Reason != "a listener's entry was heard early" {
		t.Errorf("it comes again, %t; reason %q", comes(), v.Reason)
	}
}
