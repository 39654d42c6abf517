package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

const moderatorKey = "m0derat0r-key-of-the-tests"

// chimes is what a false microphone hears: four free tones in turn, over and over. One
// steady tone would be refused as noise.
func chimes(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "chimes.wav")
	var each []string
	for i := range chimeTones {
		each = append(each, fmt.Sprintf("%g*between(mod(t,%g),%g,%g)",
			aircheck.Fine.Frequency(freeTone+i), chimeLength.Seconds()*chimeTones, chimeLength.Seconds()*float64(i), chimeLength.Seconds()*float64(i+1)))
	}
	expr := "0.25*sin(2*PI*t*(" + strings.Join(each, "+") + "))"
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "aevalsrc='"+expr+"':s=48000:d=120", "-c:a", "pcm_s16le", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

const (
	chimeTones  = 4
	chimeLength = 500 * time.Millisecond
)

// A voice from one phone's microphone is checked, mastered, approved in the studio, voted
// for on another phone, and heard by listeners of the stream: the same tones, in their order.
func TestAVoiceFromAPhoneIsHeardOnTheAir(t *testing.T) {
	t.Parallel()
	inTurnOfBrowsers(t)
	s := newStation(t, withKeys, func(s *station) {
		s.env = append(s.env, "SOCIAL_ADMIN_KEY="+moderatorKey, "ATHIR_REQUESTS_REST_MINUTES=0")
	})
	var pieces []piece
	for _, p := range library() {
		if p.length != tooShort && (p.category.Music() || p.category == radio.Sweepers) && p.id < freeTone || p.category == radio.Sweepers {
			pieces = append(pieces, p)
		}
	}
	record(t, s.media, pieces)
	s.configure(programmeRules(40, nil))
	s.start().whole()
	air := s.listen()

	s.pages([]string{"ATHIR_MODERATOR=" + moderatorKey, "ATHIR_MICROPHONE=" + chimes(t)}, "posting.spec.ts")
	if t.Failed() {
		return
	}
	all := air.PCM()
	var heard []int
	for _, seg := range aircheck.Fine.Analyse(all).Segments {
		if seg.ID >= freeTone && seg.ID < freeTone+chimeTones {
			heard = append(heard, seg.ID-freeTone)
		}
	}
	t.Logf("chimes on the air: %v", heard)
	// The browser's noise suppression may swallow one, and a starved machine a few.
	if n := inTurn(heard); n < chimeTones || 3*n < 2*(len(heard)-1) {
		t.Errorf("of the voice's tones %d follow the one before, of %v", n, heard)
	}

	s.askedForIsHeard(air)
	code, text := s.call("GET", "control", "/api/social/posts/1", "", "")
	var post struct {
		Status string
		Plays  int
		Votes  struct{ Up int }
	}
	if err := json.Unmarshal([]byte(text), &post); err != nil || code != 200 {
		t.Fatalf("the post: %d %v %s", code, err, text)
	}
	if post.Status != "approved" || post.Plays < 1 || post.Votes.Up != 1 {
		t.Errorf("the post: %+v, want it approved, played and voted for", post)
	}
	if !slices.ContainsFunc(s.plays(), func(p played) bool { return strings.HasPrefix(p.file, "social/voice/SOC_1_") }) {
		t.Error("the play history does not have the post")
	}
}

// askedForIsHeard looks for the song that the second phone asked for: it was heard after it
// was asked for.
func (s *station) askedForIsHeard(air *ear) {
	s.t.Helper()
	_, text := s.call("GET", "control", "/api/requests", "", "")
	var out struct {
		Requests []struct {
			File, Status, Name string
			At                 int64
		}
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || len(out.Requests) != 1 || out.Requests[0].Status != "aired" || out.Requests[0].Name != "Omar" {
		s.t.Fatalf("requests: %v %s", err, text)
	}
	r := out.Requests[0]
	air.hears(s, toneOf(r.File), time.UnixMilli(r.At))
}

// inTurn is how many tones follow the one before in the order of the chimes.
func inTurn(heard []int) (n int) {
	for i := 1; i < len(heard); i++ {
		if heard[i] == (heard[i-1]+1)%chimeTones {
			n++
		}
	}
	return n
}
