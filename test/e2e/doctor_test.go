package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/athir-radio/athir/internal/app/doctor"
)

// A station that runs is well in the eyes of the doctor, which has no key: its ports are
// its own, every door opens, its database and playlist are whole, bus and relay let it in.
func TestTheDoctorFindsARunningStationWell(t *testing.T) {
	s := look(t)
	s.whole()
	s.hlsReady()
	cmd := exec.CommandContext(t.Context(), binary, "doctor", "--offline", "--json", "--data", s.data, "--media", s.media)
	cmd.Env = append(os.Environ(), s.env...)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("it ends with %v", err)
	}
	var got struct {
		OK     bool
		Checks []doctor.Result
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[string]doctor.Result{}
	for _, r := range got.Checks {
		seen[r.Name] = r
		if r.Verdict == doctor.Wrong {
			t.Errorf("%s: %s → %s", r.Name, r.Seen, r.Remedy)
		}
	}
	for _, name := range []string{
		"port control", "port nats", "port icecast", "port hls", "door control", "door stream", "door icecast", "door player", "door hls", "door chat", "door whip",
		"database", "playlist", "bus", "turn", "encoders",
	} {
		// A busy machine makes a door slow, and a private one the relay unknown outside.
		if r := seen[name]; r.Verdict != doctor.OK && r.Verdict != doctor.Warning {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
