package standby_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/icecast"
	"github.com/athir-radio/athir/internal/node/standby"
	"github.com/athir-radio/athir/test/aircheck"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A listener of the master mount stays connected while its source is killed,
// hears the standby audio meanwhile, over the seam of the loop too, and the
// programme again after: all in one decodable stream.
func TestListenersStayAndHearTheStandbyAudio(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const programme, spare = 3, 12
	loop := filepath.Join(dir, "emergency.wav")
	if err := aircheck.WriteWAV(loop, aircheck.Track{ID: spare, Duration: 2 * time.Second}); err != nil {
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
	testkit.Supervised(t, spec)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.Ready(t.Context(), client, ice) })
	source := func() (stop func()) {
		return testkit.Program(t, proc.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", fmt.Sprintf("sine=%f:r=44100", aircheck.Frequency(programme)), "-ac", "2",
			"-c:a", "libvorbis", "-b:a", "128k", "-content_type", "application/ogg", "-page_duration", "200000", "-f", "ogg",
			fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/main", ice.Password, ice.Port),
		}})
	}
	stop := source()
	testkit.EventuallyNil(t, "the wanted state", func() error { return icecast.OnAir(t.Context(), client, ice) })
	testkit.Background(t, func(ctx context.Context) error {
		return standby.Run(ctx, standby.Options{
			Log: slog.New(slog.DiscardHandler), Dir: dir, Files: []string{filepath.Join(dir, "none.wav"), loop},
			Port: ice.Port, Mount: ice.StandbyMount(), Password: func() string { return ice.Password },
		})
	})
	hidden := ice
	hidden.Mount = ice.StandbyMount()[1:]
	testkit.EventuallyNil(t, "the standby mount", func() error { // hidden from the public status
		_, err := icecast.Listeners(t.Context(), client, hidden)
		return err
	})

	rec := aircheck.NewRecorder(fmt.Sprintf("http://127.0.0.1:%d/main", ice.Port))
	testkit.Background(t, rec.Run)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
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
	at := hear(spare, 0).Start
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
	recorded := func(d time.Duration) {
		t.Helper()
		testkit.Eventually(t, "more recorded", func() bool { return rec.PCM().Duration() >= d })
	}
	recorded(at + 3*time.Second) // once over the seam
	source()
	back := hear(programme, at+time.Second)
	recorded(back.Start + time.Second)
	report := aircheck.Analyse(rec.PCM(), programme, spare)
	t.Logf("heard on one connection:\n%s", report)
	if first, last := report.Segments[0].ID, report.Segments[len(report.Segments)-1].ID; first != programme || last != programme {
		t.Errorf("heard first %d and last %d, want the programme", first, last)
	}
	if report.Gap.Length() > 200*time.Millisecond { // the fades at the seam take 30 ms
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

// The loop comes in real time, ahead of the clock by as little as was meant,
// over its seam too: what comes faster makes every player lag behind ever after.
// A server that takes nothing more is given up.
func TestStandbyAudioIsSentInRealTime(t *testing.T) {
	dir := t.TempDir()
	wav := filepath.Join(dir, "emergency.wav")
	if err := aircheck.WriteWAV(wav, aircheck.Track{ID: 5, Duration: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	o := standby.Options{Log: slog.New(slog.DiscardHandler), Dir: dir, Files: []string{wav}, Mount: "/spare", Password: func() string { return "sesame" }}
	if _, err := standby.Pages(t.Context(), o, 0); err != nil { // encodes the loop
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		sent := make(chan error, 1)
		go func() { sent <- standby.Send(t.Context(), o, ours) }()
		in := bufio.NewReader(theirs)
		q, err := http.ReadRequest(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, password, _ := q.BasicAuth(); q.Method != "SOURCE" || q.URL.Path != o.Mount || password != o.Password() {
			t.Errorf("logged in with %s %s, password %q", q.Method, q.URL, password)
		}
		if _, err := io.WriteString(theirs, "HTTP/1.0 200 OK\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for at := time.Duration(0); at < time.Minute; {
			if at, err = nextPage(in); err != nil {
				t.Fatal(err)
			}
			if now := time.Since(begun); now != max(0, at-standby.Lead) {
				t.Fatalf("audio up to %s is sent after %s, want %s ahead", at, now, standby.Lead)
			}
		}
		stuck := time.Now() // nobody reads on
		if err := <-sent; err == nil {
			t.Error("the loop has an end")
		}
		if after := time.Since(stuck); after < standby.WriteTime || after > standby.WriteTime+time.Second {
			t.Errorf("a server that takes nothing is given up after %s, want %s", after, standby.WriteTime)
		}
		_ = theirs.Close()
	})
}

// nextPage reads a page of Ogg and returns where its audio ends.
func nextPage(in io.Reader) (time.Duration, error) {
	header := make([]byte, 27)
	if _, err := io.ReadFull(in, header); err != nil {
		return 0, err
	}
	lacing := make([]byte, header[26])
	if _, err := io.ReadFull(in, lacing); err != nil {
		return 0, err
	}
	size := int64(0)
	for _, n := range lacing {
		size += int64(n)
	}
	_, err := io.CopyN(io.Discard, in, size)
	samples := binary.LittleEndian.Uint64(header[6:])
	return time.Duration(float64(samples) / 44100 * float64(time.Second)), err
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

// An encoder that hangs is ended, and the next attempt has the loop: a station without
// it would lose all listeners of Icecast with its engine.
func TestAnEncoderThatHangsIsEnded(t *testing.T) {
	dir := t.TempDir()
	wav := filepath.Join(dir, "emergency.wav")
	if err := aircheck.WriteWAV(wav, aircheck.Track{ID: 5, Duration: time.Second}); err != nil {
		t.Fatal(err)
	}
	encoder, err := proc.Look("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	programs, hung := t.TempDir(), filepath.Join(dir, "hung")
	testkit.Executable(t, filepath.Join(programs, "ffmpeg"), fmt.Appendf(nil, "#!/bin/sh\n[ -e '%[1]s' ] || { : >'%[1]s'; kill -STOP $$; }\nexec %[2]s \"$@\"\n", hung, encoder))
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := standby.Options{Dir: dir, Files: []string{wav}, EncodeWithin: time.Second}
	testkit.EventuallyNil(t, "the loop", func() error {
		pages, err := standby.Pages(ctx, o, time.Second)
		if err == nil && len(pages) == 0 {
			err = errors.New("no pages")
		}
		if ctx.Err() != nil {
			t.Fatal("the first encoder hangs for ever")
		}
		if _, is := os.Stat(hung); is == nil { // a busy machine may end the first before it hangs
			o.EncodeWithin = 0 // and takes its time over the next
		}
		return err
	})
}

// The encoder does not wait for the jobs of others: it has the priority of the air.
func TestTheEncoderHasThePriorityOfTheAir(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, who may raise a priority")
	}
	dir := t.TempDir()
	wav, said := filepath.Join(dir, "emergency.wav"), filepath.Join(dir, "nice")
	if err := os.WriteFile(wav, []byte("never read"), 0o600); err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	testkit.Executable(t, filepath.Join(programs, "ffmpeg"), fmt.Appendf(nil, "#!/bin/sh\n"+
		"while n=$(cut -d' ' -f19 /proc/$$/stat); [ \"$n\" = 0 ]; do :; done\necho \"$n\" >'%s'\nexit 1\n", said))
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	if _, err := standby.Pages(t.Context(), standby.Options{Dir: dir, Files: []string{wav}, EncodeWithin: 20 * time.Second}, time.Second); err == nil {
		t.Fatal("an encoder that fails makes a loop")
	}
	nice, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(nice)); got != fmt.Sprint(proc.Air) {
		t.Errorf("niceness %s", got)
	}
}

// Files of which no loop can be made, because the disk is full or they are none, are not
// encoded again every second: an encoder comes before all other work. Each version of a file
// is tried at once.
func TestAnEncoderThatFailsIsStartedEverMoreSeldom(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "emergency.wav")
	write := func(size int) {
		t.Helper()
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, encode := range map[string]func(out string) error{
		"fails":          func(string) error { return errors.New("no space left on device") },
		"makes no audio": func(out string) error { return os.WriteFile(out, []byte("OggS"), 0o600) },
	} {
		write(1)
		synctest.Test(t, func(t *testing.T) {
			begun, at := time.Now(), []time.Duration{}
			log, lines := testkit.Log(t)
			stop := testkit.Background(t, func(ctx context.Context) error {
				return standby.RunEncoding(ctx, standby.Options{Log: log, Dir: dir, Files: []string{file}}, func(_ context.Context, _, out string) error {
					at = append(at, time.Since(begun))
					return encode(out)
				})
			})
			time.Sleep(4*time.Minute + time.Second/2)
			write(2)
			time.Sleep(2 * time.Second)
			stop()
			var seconds []int
			for _, d := range at {
				seconds = append(seconds, int(d/time.Second))
			}
			if want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183, 241, 242}; !slices.Equal(seconds, want) {
				t.Errorf("an encoder that %s is started after %v s, want %v", name, seconds, want)
			}
			if n := lines.Count("cannot send standby audio"); n != 1 {
				t.Errorf("an encoder that %s is told %d times", name, n)
			}
		})
	}
}
