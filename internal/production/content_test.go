package production

import (
	"context"
	"errors"
	"testing"

	"github.com/athir-radio/athir/internal/library/imaging"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/station"
)

// broken neither speaks nor masters.
type broken struct{}

func (broken) Say(context.Context, string) (speech.Clip, error) {
	return speech.Clip{}, errors.New("no voice")
}

func (broken) Do(context.Context, mastering.Job, func(float64)) (mastering.Record, error) {
	return mastering.Record{}, errors.New("no mastering")
}

// A refresh makes its imaging file by file, and asks after each whether it may go on.
func TestTheImagingOfARefreshIsHeldUp(t *testing.T) {
	lib, _, root := shelf(t)
	maker, err := imaging.New(imaging.Options{Dir: root, Voice: broken{}, Master: broken{}, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done, held := 0, 0
	hold := func(context.Context) error {
		if held++; held != done {
			t.Errorf("asked %d times after %d files", held, done)
		}
		if held == 3 {
			cancel()
		}
		return nil
	}
	_, _, err = imagery{&Production{root: root, lib: lib, imaging: maker}}.Make(ctx, hold, func(now, _ int, _ string) { done = now })
	if !errors.Is(err, context.Canceled) || held != 3 {
		t.Errorf("asked %d times: %v", held, err)
	}
}

// A refresh reports each reason once, with how many files it cost.
func TestImagingThatFailedIsTold(t *testing.T) {
	voice, cut := errors.New("no voice is installed"), errors.New("song too short to cut")
	got := failures([]imaging.Failure{
		{Kind: imaging.Sweeper, Err: voice}, {Kind: imaging.SongDrop, Err: cut}, {Kind: imaging.Sweeper, Err: voice},
		{Kind: imaging.Sweeper, Err: cut}, {Kind: imaging.Stinger, Design: "RISER", Err: cut},
	})
	want := []string{
		"2 of " + string(imaging.Sweeper) + " not made: no voice is installed", "1 of " + string(imaging.SongDrop) + " not made: song too short to cut",
		"1 of " + string(imaging.Sweeper) + " not made: song too short to cut", "1 of RISER not made: song too short to cut",
	}
	if len(got) != len(want) || failures(nil) != nil {
		t.Fatalf("%v", got)
	}
	for i, err := range got {
		if err.Error() != want[i] {
			t.Errorf("%q, want %q", err, want[i])
		}
	}
	if !errors.Is(got[0], voice) {
		t.Error("the cause is lost")
	}
}

// A song that an operator has moved to another deck counts in that one.
func TestDecksAreCountedAsTheOperatorSays(t *testing.T) {
	lib, _, _ := shelf(t)
	moved := []station.Track{{Path: "english/x.mp3", Category: station.Mashups}}
	p := &Production{lib: lib, noted: func() []station.Track { return moved }}
	if got := (inventory{p}).Tracks(); len(got) != 1 || got[0].Category != station.Mashups {
		t.Errorf("%+v", got)
	}
	p.noted = nil
	if got := (inventory{p}).Tracks(); len(got) != len(lib.Snapshot().Tracks) {
		t.Errorf("%+v", got)
	}
}
