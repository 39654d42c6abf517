package rescue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// programme has one song on air.
type programme struct{ air scheduler.OnAir }

func (p programme) View() *scheduler.View         { return &scheduler.View{OnAir: p.air} }
func (p programme) Rebuild(context.Context) error { return nil }
func (p programme) Skip(context.Context) error    { return nil }

// playing returns an Air with a song of three minutes that began a while ago. There is no
// such file.
func playing(t *testing.T, ago time.Duration) *Air {
	song := station.Track{Path: "english/a.mp3", Duration: 3 * time.Minute}
	air := scheduler.OnAir{Kind: scheduler.Rotation, Track: song, StartedAt: time.Now().Add(-ago)}
	dir := t.TempDir()
	return New(Options{OnAir: programme{air}, File: func(rel string) string { return dir + "/" + rel }})
}

// What was not read in time is not known; what cannot be read is.
func TestARecordingThatIsNotReadInTimeIsNotJudged(t *testing.T) {
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, _, err := playing(t, time.Minute).Original(late); !errors.Is(err, guard.ErrUnanswered) {
		t.Errorf("not in time: %v", err)
	}
	if _, _, err := playing(t, time.Minute).Original(t.Context()); err == nil || errors.Is(err, guard.ErrUnanswered) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// A clock that was set makes the song on air begin an hour ago, or in an hour: what is at
// its end or its head says nothing of what is heard.
func TestARecordingIsNotJudgedAtAMomentThatItDoesNotHave(t *testing.T) {
	for ago, known := range map[time.Duration]bool{
		-time.Hour: false, -time.Second: true, time.Minute: true, 3*time.Minute + time.Second: true, time.Hour: false,
	} {
		if _, _, err := playing(t, ago).Original(t.Context()); err == nil || errors.Is(err, guard.ErrUnanswered) == known {
			t.Errorf("begun %s ago: %v", ago, err)
		}
	}
}
