package delivery_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/station"
)

// watchAndTell is the engine as the station uses it, telling what it does.
const watchAndTell = `
settings.init.allow_root.set(true)
settings.log.stdout.set(false)
settings.log.file.set(false)
settings.server.socket.set(true)
settings.server.socket.path.set(%q)
s = playlist(id="main", mime_type="audio/x-mpegurl", mode="normal", reload_mode="watch",
             on_reload=fun (_) -> print("reload"), %q)
s.on_track(fun (m) -> print("track #{m['filename']} #{m['type']} #{m['liq_cross_duration']}."))
output.dummy(fallible=true, s)
thread.run(delay=0., fun () -> print("ready"))
`

// The real engine reloads exactly once per push, from a blank file on, and what
// it plays next is the new list's head.
func TestLiquidsoapReloadsOncePerPushAndPlaysTheNewHead(t *testing.T) {
	const pushes = 8
	dir := t.TempDir()
	path, socket := filepath.Join(dir, "main.m3u"), filepath.Join(dir, "socket")
	local := prepared(t, path)
	song := filepath.Join(dir, "a song that outlasts the test")
	write(t, song, silence(300))
	engine := startEngine(t, dir, fmt.Sprintf(watchAndTell, socket, path))
	engine.expect(t, "ready")
	swapped := 0

	for i := range pushes {
		head := playlist.ItemFor(link(t, song, "head", i), station.Categories()[i%10])
		second := playlist.Item{Path: link(t, song, "second", i)}
		if err := local.Write(t.Context(), encoded(t, append([]playlist.Item{head}, slices.Repeat([]playlist.Item{second}, 60)...))); err != nil {
			t.Fatal(err)
		}
		cross := ""
		if head.Type != "" {
			cross = fmt.Sprint(head.Cross.Seconds())
		}
		track := fmt.Sprintf("track %s %s %s.", head.Path, head.Type, cross)
		if i == 0 {
			// Nothing plays yet, so the head may start before the reload is told.
			engine.expect(t, "reload", track)
		} else {
			engine.expect(t, "reload")
			command(t, socket, "main.skip")
			// For half a second after it prepared an entry the engine still asks for
			// more. A reload in that time asks too, and the two may swap the first
			// two entries of the new list.
			if got := engine.track(t); got != track {
				swapped++
				if want := fmt.Sprintf("track %s  .", second.Path); got != want {
					t.Fatalf("engine says %q, want %q or %q", got, track, want)
				}
				command(t, socket, "main.skip")
				engine.expect(t, track)
			}
		}
		// The engine prepares the next entry now. One that is on its way while a
		// push comes in outlives the reload: one old entry may still air.
		await(t, socket, "main.next", "[ready] "+second.Path)
	}
	engine.stop()
	rest, _ := engine.out.ReadString(0)
	if strings.Contains(rest, "reload") {
		t.Errorf("more than %d reloads: %q", pushes, rest)
	}
	t.Logf("%d pushes, %d reloads, first two entries swapped by the engine %d times", pushes, pushes, swapped)
}

type engine struct {
	pipe *os.File
	out  *bufio.Reader // of the pipe
	stop func()
}

func startEngine(t *testing.T, dir, script string) *engine {
	t.Helper()
	file := filepath.Join(dir, "test.liq")
	write(t, file, []byte(script))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, err := proc.Run(ctx, proc.Spec{Name: "liquidsoap", Path: "liquidsoap", Args: []string{file}, Dir: dir, Stdout: w, Stderr: w}, nil)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Error(err)
		}
	}()
	e := &engine{pipe: r, out: bufio.NewReader(r), stop: func() {
		cancel()
		<-gone
	}}
	t.Cleanup(func() {
		e.stop()
		_ = r.Close()
	})
	return e
}

// expect reads what the engine does next: these, in any order.
func (e *engine) expect(t *testing.T, lines ...string) {
	t.Helper()
	for missing := slices.Clone(lines); len(missing) > 0; {
		l := e.event(t)
		i := slices.Index(missing, l)
		if i < 0 {
			t.Fatalf("engine says %q, want %q", l, missing)
		}
		missing = slices.Delete(missing, i, i+1)
	}
}

// track reads what the engine plays next.
func (e *engine) track(t *testing.T) string {
	t.Helper()
	l := e.event(t)
	if !strings.HasPrefix(l, "track ") {
		t.Fatalf("engine says %q, want a track", l)
	}
	return l
}

func (e *engine) event(t *testing.T) string {
	t.Helper()
	if err := e.pipe.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	for {
		l, err := e.out.ReadString('\n')
		if err != nil {
			t.Fatalf("engine says no more: %v", err)
		}
		l = strings.TrimSpace(l)
		if l == "ready" || l == "reload" || strings.HasPrefix(l, "track ") {
			return l
		}
		t.Log(l)
	}
}

// command asks the engine over its socket and returns the answer's lines.
func command(t *testing.T, socket, line string) string {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	fmt.Fprintf(c, "%s\nquit\n", line)
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// await asks until the answer holds a text.
func await(t *testing.T, socket, line, text string) {
	t.Helper()
	testkit.EventuallyNil(t, "the answer to "+line, func() error {
		if answer := command(t, socket, line); !strings.Contains(answer, text) {
			return fmt.Errorf("%q has no %q", answer, text)
		}
		return nil
	})
}

func link(t *testing.T, song, name string, i int) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(song), fmt.Sprintf("%s %d", name, i))
	if err := os.Link(song, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// silence is a WAV file, 8 kHz, 8 bit, mono.
func silence(seconds int) []byte {
	header := []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data....")
	n := uint32(8000 * seconds) //nolint:gosec // small
	binary.LittleEndian.PutUint32(header[4:], 36+n)
	binary.LittleEndian.PutUint32(header[40:], n)
	return append(header, bytes.Repeat([]byte{128}, int(n))...)
}
