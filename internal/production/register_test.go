package production

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/station"
)

// slowRack is a library with some files to look at before ours, one after each
// pause, in quarters; it stands still from a number of files left on.
type slowRack struct {
	began   time.Time
	pause   time.Duration
	files   int
	stands  int
	problem string
}

func (s *slowRack) Snapshot() *aircopy.Snapshot {
	quarters := int(time.Since(s.began) / (s.pause / 4))
	waiting := max(s.files-quarters/4, s.stands)
	if waiting == s.stands {
		quarters = 0
	}
	return &aircopy.Snapshot{Problem: s.problem, Work: aircopy.Work{
		Waiting: waiting, Current: []aircopy.Current{{Path: "a song", Share: float64(quarters%4) / 4}},
		Left: time.Since(s.began), // an estimate moves by itself, and is no progress
	}}
}

// ours waits at the end of the library.
func (s *slowRack) ours() []string {
	if s.Snapshot().Work.Waiting > 0 {
		return []string{"sweepers/SWP_1.mp3", "sfx/SFX_1.mp3"}
	}
	return nil
}

func TestWhatIsMadeIsWaitedForAsLongAsTheLibraryComesAlong(t *testing.T) {
	for name, c := range map[string]struct {
		rack slowRack
		want string
		took time.Duration
	}{
		"a starved machine": {slowRack{pause: 5 * time.Minute, files: 12}, "", time.Hour},
		"a full disk": {
			slowRack{pause: time.Minute, files: 12, stands: 5, problem: "the disk is full"},
			"made, but not yet in the library (2 files, first sweepers/SWP_1.mp3): the disk is full", 9 * time.Minute,
		},
		"nobody knows why": {slowRack{pause: time.Minute, files: 3, stands: 3}, "no progress for 2m0s", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.rack.began = time.Now()
				err := comeAlong(t.Context(), nil, c.rack.ours, c.rack.Snapshot, func(int) {})
				if took := time.Since(c.rack.began); took != c.took {
					t.Errorf("after %s, want %s", took, c.took)
				}
				if (err != nil) != (c.want != "") || err != nil && (!errors.Is(err, station.ErrUnavailable) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestWaitingForTheLibraryEndsWithTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowRack{began: time.Now(), pause: time.Minute, files: 10}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		if err := comeAlong(ctx, nil, s.ours, s.Snapshot, func(int) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
