//go:build soak

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// BUTT, the encoder that most presenters are told to use, as Debian packages it: on a screen
// that nobody sees, with a sine wave for a microphone. It goes on the air with nothing but
// what docs/live.md says to enter.
func TestSoakButtGoesOnTheAir(t *testing.T) {
	s := liveStation(t)
	air := s.listen()
	air.rotates(s, "the rotation before")
	id, secret := s.publisher("نور", true)
	tone := freeTone + 1
	for aircheck.Fine.Frequency(tone) > 1500 {
		tone--
	}
	since := time.Now()
	end := s.butt(id, secret, "nour", int(math.Round(aircheck.Fine.Frequency(tone))))
	air.airs(s, "BUTT is heard", tone)
	took := air.hears(s, tone, since)
	s.eventually("the station tells who it is", func() bool {
		now, err := s.live()
		return err == nil && now.Active != nil && now.Active.Publisher == "نور" && now.OnAir
	})
	end()
	air.rotates(s, "the rotation after BUTT was closed")
	list, err := s.recordings()
	if err != nil || len(list) != 1 || list[0].Problem != "" {
		t.Errorf("recordings: %+v, %v", list, err)
	}
	t.Logf("LIVE BUTT: from its start to the tone at Icecast %s", took.Round(10*time.Millisecond))
}

// butt sends a tone by BUTT, with a screen and a sound server of its own, until end.
func (s *station) butt(user, password, mount string, hz int) (end func()) {
	t := s.t
	t.Helper()
	home := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".asoundrc", "pcm.!default pulse\nctl.!default pulse\n")
	sound := filepath.Join(home, "sound")
	env := append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+home, "PULSE_SERVER=unix:"+sound)
	background := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env, cmd.Stderr = env, io.Discard
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}
	background("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
		"-L", "module-native-protocol-unix auth-anonymous=1 socket="+sound, "-L", fmt.Sprintf("module-sine-source frequency=%d", hz))
	s.eventually("the sound server", func() bool {
		conn, err := net.Dial("unix", sound)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	// It chooses a display that is free, and says which.
	read, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	screen := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x16", "-nolisten", "tcp")
	screen.ExtraFiles = []*os.File{told}
	if err := screen.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = screen.Process.Kill()
		_ = screen.Wait()
	})
	_ = told.Close()
	var display int
	if _, err := fmt.Fscan(read, &display); err != nil {
		t.Fatalf("Xvfb: %v", err)
	}
	_ = read.Close()
	env = append(env, fmt.Sprintf("DISPLAY=:%d", display))
	// It takes no part of a configuration, but writes a whole one where there is none.
	config := filepath.Join(home, "butt")
	first := background("butt", "-x", "-c", config)
	var text []byte
	s.eventually("a configuration", func() bool {
		text, _ = os.ReadFile(config)
		return bytes.Contains(text, []byte("[wav_codec_rec]\nbit_depth"))
	})
	_ = first.Process.Kill()
	_ = first.Wait()
	ours := strings.NewReplacer("\nserver =\n", "\nserver = station\n", "\nnum_of_srv = 0\n", "\nnum_of_srv = 1\n",
		"\nsrv_ent =\n", "\nsrv_ent = station\n", "\nconnect_at_startup = 0\n", "\nconnect_at_startup = 1\n").Replace(string(text))
	write("butt", ours+fmt.Sprintf("\n[station]\naddress = 127.0.0.1\nport = %d\npassword = %s\ntype = 1\ntls = 0\nmount = %s\nusr = %s\n",
		s.ports["live"], password, mount, user))
	cmd := background("butt", "-x", "-c", config)
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
