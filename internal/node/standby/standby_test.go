package standby_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/standby"
	"github.com/athir-radio/athir/test/aircheck"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// background runs something until stop is called, at the latest when the test ends.
func background(t *testing.T, what func(ctx context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- what(ctx) }()
	stopped := false
	stop = func() {
		if cancel(); !stopped {
			stopped = true
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

func run(t *testing.T, spec proc.Spec) (stop func()) {
	t.Helper()
	return background(t, func(ctx context.Context) error {
		_, err := proc.Run(ctx, spec, nil)
		return err
	})
}

// A listener of the master mount stays connected while its source is killed,
// hears the standby audio meanwhile, and the programme again after, without a
// gap that a player's buffer would not cover. It comes in real time, over the
// seam of the loop too.
func TestListenersStayAndHearTheStandbyAudio(t *testing.T) {
	dir := t.TempDir()
	const programme, spare = 3, 12
	loop := filepath.Join(dir, "emergency.wav")
	if err := aircheck.WriteWAV(loop, aircheck.Track{ID: spare, Duration: 4 * time.Second}); err != nil {
		t.Fatal(err)
	}
	ice := icecast.Options{Dir: dir, Password: "hackmehack", Port: testkit.Port(t), Bind: "127.0.0.1"}
	spec, err := icecast.Prepare(t.Context(), ice)
	if err != nil {
		t.Fatal(err)
	}
	if d := filepath.Dir(spec.Args[1]); d != dir {
		t.Cleanup(func() { _ = os.RemoveAll(d) })
	}
	run(t, spec)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.Ready(t.Context(), client, ice) })
	source := func() (stop func()) {
		return run(t, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", fmt.Sprintf("sine=%f:r=44100", aircheck.Frequency(programme)), "-ac", "2",
			"-c:a", "libvorbis", "-b:a", "128k", "-content_type", "application/ogg", "-page_duration", "200000", "-f", "ogg",
			fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/main", ice.Password, ice.Port),
		}})
	}
	stop := source()
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.OnAir(t.Context(), client, ice) })
	background(t, func(ctx context.Context) error {
		return standby.Run(ctx, standby.Options{
			Log: slog.New(slog.DiscardHandler), Dir: dir, Files: []string{filepath.Join(dir, "none.wav"), loop},
			Port: ice.Port, Mount: ice.StandbyMount(), Password: ice.Password,
		})
	})
	testkit.EventuallyNil(t, "the wanted state", func() error {
		made, err := filepath.Glob(filepath.Join(dir, "standby-*.ogg"))
		if err == nil && len(made) != 1 {
			err = fmt.Errorf("made %q", made)
		}
		return err
	})
	time.Sleep(time.Second) // of programme that is not just the burst

	rec := aircheck.NewRecorder(fmt.Sprintf("http://127.0.0.1:%d/main", ice.Port))
	background(t, rec.Run)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	hear := func(id int, after time.Duration) aircheck.Segment {
		t.Helper()
		s, err := rec.WaitFor(ctx, id, after)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	hear(programme, 0)
	stop() // the engine is gone
	gone := time.Now()
	at := hear(spare, 0).Start
	began := time.Now()
	t.Logf("standby audio is heard %s after the source ended", began.Sub(gone).Round(10*time.Millisecond))
	if err := icecast.OnAir(ctx, client, ice); err == nil {
		t.Error("the standby audio counts as the station's own")
	}
	status, err := icecast.ReadStatus(ctx, client, ice)
	if err != nil || len(status.Sources) != 0 {
		t.Errorf("the standby mount is shown: %+v, %v", status, err)
	}
	if !bytes.Contains(head(t, client, fmt.Sprintf("http://127.0.0.1:%d/main", ice.Port)), []byte(standby.Mark)) {
		t.Error("the standby audio cannot be told from the programme")
	}
	for rec.PCM().Duration() < at+9*time.Second { // twice over the seam
		if ctx.Err() != nil {
			t.Fatal("the standby audio ended")
		}
		time.Sleep(20 * time.Millisecond)
	}
	// The server sends half a second ahead, and we 0.3 s.
	heard, wall := rec.PCM().Duration()-at, time.Since(began)
	if heard > wall+3*time.Second {
		t.Errorf("%s of standby audio came within %s: players lag behind", heard, wall)
	}
	source()
	back := hear(programme, at+time.Second)
	testkit.EventuallyNil(t, "the wanted state", func() error {
		if rec.PCM().Duration() < back.Start+2*time.Second {
			return fmt.Errorf("recorded %s", rec.PCM().Duration())
		}
		return nil
	})
	report := aircheck.Analyse(rec.PCM(), programme, spare)
	t.Logf("heard on one connection:\n%s", report)
	if report.Gap.Length() > 900*time.Millisecond { // the fades at the seam
		t.Errorf("a gap of %s", report.Gap.Length())
	}
}

// head is the beginning of a stream.
func head(t *testing.T, client *http.Client, url string) []byte {
	t.Helper()
	resp, err := client.Get(url) //nolint:noctx // local, and it answers at once
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b := make([]byte, 4000)
	if _, err := io.ReadFull(resp.Body, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// The loop is one unbroken stream to a decoder, however often it comes round.
func TestLoopDecodesWithoutAnError(t *testing.T) {
	dir := t.TempDir()
	wav := filepath.Join(dir, "emergency.wav")
	if err := aircheck.WriteWAV(wav, aircheck.Track{ID: 5, Duration: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	pages, err := standby.Pages(t.Context(), standby.Options{Dir: dir, Files: []string{wav}}, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var pcm, said bytes.Buffer
	exit, err := proc.Run(t.Context(), proc.Spec{
		Name: "ffmpeg", Path: "ffmpeg", Stdin: bytes.NewReader(pages), Stdout: &pcm, Stderr: &said,
		Args: []string{"-v", "warning", "-f", "ogg", "-i", "pipe:0", "-f", "s16le", "-ac", "1", "-ar", "44100", "pipe:1"},
	}, nil)
	if err != nil || !exit.OK() || strings.TrimSpace(said.String()) != "" {
		t.Errorf("%v %s %s", err, exit, said.String())
	}
	if got := time.Duration(pcm.Len()/2) * time.Second / 44100; (got - 10*time.Second).Abs() > 400*time.Millisecond {
		t.Errorf("%s of audio, want 10 s", got)
	}
}
