package bridge_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/athir-radio/athir/internal/node/bridge"
)

// The bridge outlives an upgrade. One that sends what an older version did, or what was set
// then, gives way: listeners would else never get the other renditions, or get them by wrong names.
func TestABridgeOfOtherRenditionsGivesWay(t *testing.T) {
	spec, err := bridge.Spec(bridge.Options{Source: "http://127.0.0.1:1/main", Target: "unix:/tmp/p", Renditions: renditions()})
	if err != nil {
		t.Fatal(err)
	}
	for runs, wanted := range map[string]string{
		"-b:a:0 256000 -b:a:1 128000 -b:a:2 64000": "", // these are set
		"-b:a 256000":                "it encodes at 256000 bit/s, and 256000, 128000, 64000 are set",
		"-b:a:0 192000 -b:a:1 64000": "it encodes at 192000, 64000 bit/s, and 256000, 128000, 64000 are set",
		"of nothing that is known":   "",
	} {
		// A shell with these arguments, which says that it runs and waits for its input: a process
		// that is only beginning has none yet.
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", "echo; read line", "sh"}, strings.Fields(runs)...)...) //nolint:gosec // written above
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		why := bridge.Renew(cmd.Process.Pid, spec)
		_ = in.Close()
		_ = cmd.Wait() // it read nothing
		if why != wanted {
			t.Errorf("%s: %q, want %q", runs, why, wanted)
		}
	}
	if why := bridge.Renew(1<<30, spec); why != "" {
		t.Errorf("of none: %s", why)
	}
}
