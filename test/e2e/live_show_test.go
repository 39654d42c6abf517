package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// Somebody talks over the music: both are heard, the music 12 dB lower, and to listeners it
// is still the song. Then a show of two, with a bed between them, and no song of the
// rotation before it is over.
func TestTalkOverAndAShow(t *testing.T) {
	t.Parallel()
	const bed = bedTone
	var file string
	s := liveStation(t, func(s *station) { file = placeBed(t, s.media) })
	air := s.listen()
	air.rotates(s, "the rotation before")
	one, two := freeTone, freeTone+4
	firstID, firstKey := s.publisher("نور", false)
	secondID, secondKey := s.publisher("ليلى", false)
	endOne := s.icecastSource(firstID, firstKey, "/nour", one)
	first := s.streamOf("نور")
	alone := s.musicLevel(air, air.Position(time.Now()), -1)

	if code, text := s.liveOrder("start", `{"id":"`+first+`","mode":"over"}`); code != http.StatusOK {
		t.Fatalf("start over the music: %d %s", code, text)
	}
	air.airs(s, "the voice over the music", one)
	under := s.musicLevel(air, air.Position(time.Now()), one)
	if down := alone - under; down < 9 || down > 15 {
		t.Errorf("the music is %.1f dB lower under the voice (%.1f and %.1f dBFS), want 12", down, alone, under)
	}
	st, err := s.status()
	if err != nil || st.State != "music" || toneOf(st.NowPlaying.File) < 0 || toneOf(st.NowPlaying.File) >= freeTone {
		t.Errorf("a talk-over is told as %q %+v, %v", st.State, st.NowPlaying, err)
	}
	s.eventually("live is told", func() bool { // the desk may be later than what it is heard by
		now, err := s.live()
		return err == nil && now.Active != nil && now.Active.Mode == "over" && now.OnAir
	})
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Errorf("stop: %d %s", code, text)
	}
	air.rotates(s, "the music alone")
	s.eventually("nothing is over the music", func() bool {
		all := air.PCM()
		for _, seg := range aircheck.Fine.Analyse(all.Cut(all.Duration()-2*time.Second, all.Duration())).Segments {
			if seg.ID == one {
				return false
			}
		}
		return true
	})
	if back := s.musicLevel(air, air.Position(time.Now()), -1); back < alone-2 || back > alone+2 {
		t.Errorf("the music comes back at %.1f dBFS, was at %.1f", back, alone)
	}

	if n := s.logged("now playing", "kind=live"); n != 0 {
		t.Errorf("the engine told %d times that live took the air from the music", n)
	}

	// A show with a bed, and two who are connected in turn.
	body := `{"title":"سهرة","minutes":60,"bed":"` + file + `"}`
	if code, text := s.liveOrder("show", body); code != http.StatusOK {
		t.Fatalf("show: %d %s", code, text)
	}
	if code, text := s.liveOrder("start", `{"id":"`+first+`"}`); code != http.StatusOK {
		t.Fatalf("start: %d %s", code, text)
	}
	air.airs(s, "the first of the show", one)
	from := air.Position(time.Now())
	endOne()
	air.airs(s, "the bed while nobody speaks", bed)
	endTwo := s.icecastSource(secondID, secondKey, "/laila", two)
	second := s.streamOf("ليلى")
	s.eventually("the second of the show is started", func() bool {
		code, _ := s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, `{"id":"`+second+`"}`)
		return code == http.StatusOK
	})
	air.airs(s, "the second of the show", two)
	endTwo()
	air.airs(s, "the bed again", bed)
	s.only(air, from, one, two, bed)
	if st, err := s.status(); err != nil || st.State != "live" {
		t.Errorf("in the show the station is %q, %v", st.State, err)
	}
	if code, text := s.liveOrder("show/end", ""); code != http.StatusOK {
		t.Errorf("the end of the show: %d %s", code, text)
	}
	air.rotates(s, "the rotation after the show")
	s.eventually("all is over", func() bool {
		now, err := s.live()
		return err == nil && now.Active == nil && now.Recording == nil && !now.OnAir
	})
}

// streamOf waits for the stream of a creator, and returns its id.
func (s *station) streamOf(creator string) (id string) {
	s.t.Helper()
	s.eventually(creator+" is registered", func() bool {
		now, err := s.live()
		if err != nil {
			return false
		}
		for _, stream := range now.Registry {
			if stream.Creator == creator {
				id = stream.ID
			}
		}
		return id != ""
	})
	return id
}

// musicLevel is the level of a song of the rotation from a position on, in dBFS, while a
// tone is heard beside it; -1: none is.
func (s *station) musicLevel(e *ear, from time.Duration, beside int) (level float64) {
	s.t.Helper()
	songs := make([]int, 14) // of the coarse scale
	for i := range songs {
		songs[i] = i
	}
	s.eventually("three seconds of one song", func() bool {
		all := e.PCM()
		heard := all.Cut(max(from, all.Duration()-6*time.Second), all.Duration())
		for _, seg := range aircheck.Analyse(heard, songs...).Segments {
			if seg.Length() < 3*time.Second {
				continue
			}
			with := aircheck.Fine.Analyse(heard.Cut(seg.Start, seg.End)).Segments
			if beside >= 0 && !slices.ContainsFunc(with, func(other aircheck.Segment) bool { return other.ID == beside && other.Length() > seg.Length()*3/4 }) {
				continue
			}
			level = seg.Level
			return true
		}
		time.Sleep(200 * time.Millisecond) // an analysis takes its time
		return false
	})
	return level
}
