package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/athir-radio/athir/internal/app/doctor"
	"github.com/athir-radio/athir/internal/kit/testkit"
)

// A station that runs is well in the eyes of the doctor, which has no key: its ports are
// its own, every door opens, its database and playlist are whole, bus and relay let it in.
func TestTheDoctorFindsARunningStationWell(t *testing.T) {
	s := look(t)
	s.whole()
	s.hlsReady()
	// A door that a busy machine keeps closed for longer than the doctor waits is wrong in its
	// eyes, and rightly: it looks again.
	testkit.EventuallyNil(t, "a station that is well", func() error { return s.seenWell() })
}

// seenWell asks the doctor, and returns what is wrong.
func (s *station) seenWell() (wrong error) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), binary, "doctor", "--offline", "--json", "--data", s.data, "--media", s.media)
	cmd.Env = append(os.Environ(), s.env...)
	out, err := cmd.Output()
	if err != nil {
		wrong = fmt.Errorf("it ends with %w", err)
	}
	var got struct {
		OK     bool
		Checks []doctor.Result
	}
	if err := json.Unmarshal(out, &got); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	seen := map[string]doctor.Result{}
	for _, r := range got.Checks {
		seen[r.Name] = r
		if r.Verdict == doctor.Wrong {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s → %s", r.Name, r.Seen, r.Remedy))
		}
	}
	for _, name := range []string{
		"port control", "port nats", "port icecast", "port hls", "door control", "door stream", "door icecast", "door player", "door hls", "door chat", "door whip",
		"database", "playlist", "bus", "turn", "encoders",
	} {
		// A busy machine makes a door slow, and a private one the relay unknown outside.
		if r := seen[name]; r.Verdict != doctor.OK && r.Verdict != doctor.Warning {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %+v", name, r))
		}
	}
	return wrong
}
