package imaging

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/synth"
)

// Cut is where a bed was taken from a song.
type Cut struct {
	Song
	From   time.Duration // in the song, where the asset begins
	BeatBy BeatSource
	Late   bool // the tracker was not done in time, so that BeatBy is a second choice
}

const (
	songTries = 3
	// leastSong is the shortest song worth cutting: others have no middle.
	leastSong = 25 * time.Second
	// listen is how much of a song is looked at, from its start.
	listen = 8 * time.Minute
	// context either side of a cut, in seconds, for the beat tracker to settle.
	around = 11.0

	lookRate = 11025 // Hz; enough to tell a lively part
	lookHop  = 0.1   // seconds
)

// worthCutting leaves out songs known to be too short, in an order that does
// not depend on who listed them.
func worthCutting(songs []Song) []Song {
	out := slices.DeleteFunc(slices.Clone(songs), func(s Song) bool { return s.Duration > 0 && s.Duration < leastSong })
	slices.SortFunc(out, func(a, b Song) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return out
}

// fromSong cuts a bed out of one of the songs. One that cannot be cut leaves its
// turn to another, and so does a part without a steady beat, if one can be found
// that has it.
func (s *session) fromSong(ctx context.Context, it item, seconds float64) (backing, error) {
	if len(s.songs) == 0 {
		return backing{}, errors.New("there is no song to cut: name a folder of music, or wait for the library")
	}
	rng := it.chance(ofSong)
	turns := rng.Perm(len(s.songs))
	var second backing
	var failed error
	for n := range songTries {
		song := s.songs[turns[n%len(turns)]]
		b, err := cut(ctx, song, s.places[it.deck()].path, seconds, rng.Float64())
		switch {
		case ctx.Err() != nil:
			return backing{}, context.Cause(ctx)
		case err != nil:
			failed = fmt.Errorf("cut %q: %w", song.Path, err)
		case b.cut.BeatBy == FromTracker:
			return b, nil
		case second.cut == nil:
			second = b
		}
	}
	if second.cut != nil {
		if second.cut.Late {
			s.m.o.Log.Warn("beat tracker not done in time: the strongest onsets stand in", "song", second.cut.Path, "limit", trackTime)
		}
		return second, nil
	}
	return backing{}, failed
}

// cut takes a lively part of a song that begins on a beat. Which of its lively
// parts it is, share decides, from 0 to 1.
func cut(ctx context.Context, song Song, dir string, seconds, share float64) (backing, error) {
	energies, err := look(ctx, song.Path)
	if err != nil {
		return backing{}, err
	}
	about, err := lively(energies, seconds, share)
	if err != nil {
		return backing{}, err
	}
	from := max(0, about-around)
	part, err := read(ctx, song.Path, from, about+seconds+around)
	if err != nil {
		return backing{}, err
	}
	if part.Seconds() < about-from+seconds {
		return backing{}, errors.New("it is shorter than the library says")
	}
	beats, by, err := findBeats(ctx, part.Mono(), dir, trackTime)
	late := errors.Is(err, errLate)
	if err != nil && !late {
		return backing{}, err
	}
	start := nearest(beats, about-from)
	if start < 0 || start+seconds > part.Seconds() {
		return backing{}, errors.New("no beat was found in its lively part")
	}
	b := backing{sound: synth.Silence(seconds), cut: &Cut{Song: song, From: duration(from + start - preBeat), BeatBy: by, Late: late}}
	end := preBeat
	for _, at := range beats {
		if t := at - start + preBeat; t > preBeat-0.001 && t <= seconds-lastHit+0.25 {
			b.beats, end = append(b.beats, t), t
		}
	}
	if len(b.beats) < 2 {
		return backing{}, errors.New("its beats are too far apart")
	}
	b.sound.Mix(preBeat-start, part, 1)
	b.ringOut(end)
	return b, nil
}

// preBeat is what stands before the first beat of a cut, in seconds, so that
// its attack is whole.
const preBeat = 0.03

// ringOut ends a cut on a beat: the music stops there, and what a room has kept
// of it goes on.
func (b *backing) ringOut(end float64) {
	b.sound.Fade(0.012, 0)
	for _, plane := range b.sound {
		last := synth.Frames(end + 0.06)
		over := synth.Frames(0.12)
		for i := range plane {
			if i > last {
				plane[i] *= float32(max(0, 1-float64(i-last)/float64(over)))
			}
		}
	}
	room := synth.Room{Size: 1, Decay: 1.9, Damp: 5000, Predelay: 0.01}.Of(b.sound)
	room.Shape(synth.Line(0.05, 0.5, end))
	b.sound.Mix(0, room, 1)
}

func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1e6)) * time.Microsecond
}

// look measures a song's energy and movement, one value each lookHop seconds.
func look(ctx context.Context, path string) ([]float64, error) {
	const hop = lookRate / 10
	var out []float64
	var sum, diff, last float64
	n := 0
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: lookRate, Channels: 1, First: listen, Nice: 10}, func(s []float32) error {
		for _, v := range s {
			x := float64(v)
			sum += x * x
			diff += (x - last) * (x - last) // weighs what is bright
			last = x
			if n++; n == hop {
				out = append(out, math.Sqrt(sum/hop)+math.Sqrt(diff/hop))
				sum, diff, n = 0, 0, 0
			}
		}
		return nil
	})
	return out, err
}

// lively picks where a part of so many seconds should begin: among the parts
// that are loudest and move most, the one that share says. A song's opening and
// end are left alone.
func lively(energies []float64, seconds, share float64) (float64, error) {
	window := int(math.Ceil(seconds / lookHop))
	from := min(100, len(energies)/8)
	to := len(energies) - window - min(120, len(energies)/8)
	if to <= from {
		return 0, errors.New("it is too short to cut")
	}
	type part struct {
		at   int
		live float64
	}
	var parts []part
	for at := from; at < to; at += 5 {
		var sum, moved float64
		for i, e := range energies[at : at+window] {
			sum += e
			if i > 0 {
				moved += math.Abs(e - energies[at+i-1])
			}
		}
		parts = append(parts, part{at, sum + moved})
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		switch {
		case a.live > b.live:
			return -1
		case a.live < b.live:
			return 1
		}
		return a.at - b.at
	})
	if parts[0].live < 1e-3*float64(window) {
		return 0, errors.New("it is silent")
	}
	best := parts[:max(1, len(parts)/6)]
	return float64(best[int(share*float64(len(best)-1)+0.5)].at) * lookHop, nil
}

// read decodes a part of a file, from and to in seconds.
func read(ctx context.Context, path string, from, to float64) (synth.Sound, error) {
	skip := synth.Frames(from)
	var out synth.Sound
	err := ffmpeg.Decode(ctx, path, ffmpeg.Decoding{Rate: synth.Rate, Channels: 2, First: duration(to), Nice: 10}, func(s []float32) error {
		drop := min(skip, len(s)/2)
		skip -= drop
		for i := 2 * drop; i+1 < len(s); i += 2 {
			out[0], out[1] = append(out[0], s[i]), append(out[1], s[i+1])
		}
		return nil
	})
	return out, err
}
