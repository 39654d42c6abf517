package onalarm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/certificate"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/supervise"
	"github.com/athir-radio/athir/internal/onair/guard"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// scene is a station as a test sets it.
type scene struct {
	programs []supervise.Status
	full     string
	away     error
	bus      string
	backup   string
	lost     error
	standing guard.Standing
	off      bool
}

func (s *scene) options(t *testing.T) Options {
	t.Helper()
	cfg, _, err := config.Load(config.Source{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Config: cfg, Database: func() error { return s.lost }, Bus: func() string { return s.bus }, Backup: func() string { return s.backup },
		Node:  func(context.Context) ([]supervise.Status, string, error) { return s.programs, s.full, s.away },
		Guard: func() (guard.Standing, bool) { return s.standing, !s.off },
	}
}

// What the station knows of its node, its bus, its disks and its certificate is an alarm, and
// what it cannot know is none.
func TestWhatTheStationKnowsBecomesAnAlarm(t *testing.T) {
	s := &scene{}
	o := s.options(t)
	o.Config.Live.TLSCert, _ = testkit.Certificate(t, t.TempDir(), "radio.example")
	read := func(k alarm.Kind) (string, bool) {
		for _, c := range conditions(o) {
			if c.Kind == k {
				return c.Read(t.Context())
			}
		}
		t.Fatalf("nobody looks for %s", k)
		return "", false
	}
	for _, k := range []alarm.Kind{alarm.DiskFull, alarm.DiskLow, alarm.Program, alarm.Bus, alarm.Backup, alarm.Certificate} {
		if wrong, known := read(k); wrong != "" && k != alarm.DiskLow || !known {
			t.Errorf("all is well, and %s says %q, %v", k, wrong, known)
		}
	}
	s.programs = []supervise.Status{
		{Name: "chat", State: "backoff", LastExit: "exit status 1"}, {Name: "whip", State: "running"},
		{Name: "relay", State: "running", Condition: supervise.Wedged, Why: "mute for 8 s", Spared: "guard.kills is false"},
		{Name: "player", State: "running", Condition: supervise.Wedged},
	}
	s.full, s.bus, s.backup = "/var/lib/athir", "the bus refuses our password", "no room for a backup"
	for k, want := range map[alarm.Kind]string{
		alarm.Program: "chat: backoff, it last ended with exit status 1; relay does not work (mute for 8 s) and is left alone: guard.kills is false",
		alarm.Bus:     s.bus, alarm.Backup: s.backup, alarm.DiskFull: s.full,
	} {
		if wrong, known := read(k); wrong != want || !known {
			t.Errorf("%s: %q, %v", k, wrong, known)
		}
	}
	s.away = errors.New("no answer")
	for _, k := range []alarm.Kind{alarm.DiskFull, alarm.Program} {
		if _, known := read(k); known {
			t.Errorf("the node does not answer, and %s is known", k)
		}
	}
	o.Config.Live.TLSCert = filepath.Join(t.TempDir(), "none.pem")
	if wrong, _ := read(alarm.Certificate); !strings.Contains(wrong, "none.pem") {
		t.Errorf("a certificate that is not there: %q", wrong)
	}
}

// A certificate is told of two weeks before its end, and a disk below its bound.
func TestCertificatesAndDisksHaveTheirBounds(t *testing.T) {
	path, _ := testkit.Certificate(t, t.TempDir(), "radio.example")
	end := time.Unix(1<<33, 0)
	for before, want := range map[time.Duration]string{certificate.RenewAhead + time.Hour: "", certificate.RenewAhead - time.Hour: "is valid until 2242-03-16", -time.Hour: "is not valid since 2242-03-16"} {
		if got := expiring(path, end.Add(-before)); !strings.HasSuffix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s before its end: %q", before, got)
		}
	}
	text := filepath.Join(t.TempDir(), "x.pem")
	if err := os.WriteFile(text, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := expiring(text, end); !strings.Contains(got, "holds no certificate") {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		free, size uint64
		want       bool
	}{{2 << 30, 1 << 40, false}, {1<<30 - 1, 1 << 40, true}, {300 << 20, 5 << 30, false}, {200 << 20, 5 << 30, true}, {0, 0, false}} {
		if tight(c.free, c.size) != c.want {
			t.Errorf("%d of %d: %v", c.free, c.size, !c.want)
		}
	}
}

// The heart beats only where the station is heard and keeps what it is told.
func TestTheHeartBeatsWhileTheStationIsHeard(t *testing.T) {
	watching := guard.Standing{State: "watching", Arriving: true, Reachable: true}
	running := []supervise.Status{{Name: "liquidsoap", State: "running"}, {Name: "icecast", State: "running"}}
	for _, c := range []struct {
		what string
		scene
		beats bool
	}{
		{"all is well", scene{standing: watching}, true},
		{"it is silent", scene{standing: guard.Standing{State: "alarm", Kind: guard.Silence, Arriving: true}}, false},
		{"emergency audio", scene{standing: guard.Standing{State: "holding", Arriving: true}}, false},
		{"it starts", scene{standing: guard.Standing{State: "starting"}}, false},
		{"nothing comes", scene{standing: guard.Standing{State: "watching"}}, false},
		{"the database is lost", scene{standing: watching, lost: errors.New("gone")}, false},
		{"without a guard", scene{off: true, programs: running}, true},
		{"without a guard or an engine", scene{off: true, programs: running[1:]}, false},
		{"without a guard or a node", scene{off: true, away: errors.New("no answer")}, false},
	} {
		if why := well(t.Context(), c.options(t)); (why == "") != c.beats {
			t.Errorf("%s: %q", c.what, why)
		}
	}
}
