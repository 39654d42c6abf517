package playout_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/node/playout"
	"github.com/athir-radio/athir/test/aircheck"
)

const second = time.Second

// frame is the engine's: the script sets it.
const frame = 10 * time.Millisecond

// limiterDelay is how long the audio waits for the last limiter.
const limiterDelay = 2 * frame

// offline is the engine without real time. It runs the script as it is rendered
// for the air, on a clock that goes as fast as the machine can and stands still
// where a test wants it, with a file in place of Icecast. The wall clock of the
// script is the audio made so far, so that a marker tells to the frame where in
// the file its entry begins.
type offline struct {
	*rig
	file  string
	stops chan int // frames made, where the engine stands still; -1: it has ended
	until chan int // frames to have made at the next stop; 0: end
	made  int
	// hungry lets the engine go on where an encoder is connected and sends nothing.
	hungry atomic.Bool
}

// offlineStart is what the script's wall clock says before the first frame.
const offlineStart = 1_700_000_000 // seconds

// offline starts the engine; it stands still after its first frame.
func (r *rig) offline() *offline {
	r.t.Helper()
	o := &offline{rig: r, file: filepath.Join(r.dir, "air"), stops: make(chan int, 1), until: make(chan int)}
	desk := httptest.NewServer(o)
	r.t.Cleanup(desk.Close)
	spec, err := playout.Prepare(r.t.Context(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	script, err := os.ReadFile(r.o.Script())
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.o.Script(), o.script(string(script), desk.URL), 0o600); err != nil {
		r.t.Fatal(err)
	}
	spec.Stdout, spec.Stderr, spec.Stop = r.log, r.log, 9
	testkit.Background(r.t, func(ctx context.Context) error {
		_, err := proc.Run(ctx, spec, nil)
		select {
		case o.stops <- -1:
		default:
		}
		return err
	})
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Log("the engine said:\n" + r.log.String())
		}
	})
	o.stopped()
	return o
}

// encoder is how the script's output names the encoder of the stream.
var encoder = regexp.MustCompile(`%vorbis\S*\(.*\)`)

// script is the engine's, with another clock and another output, and a harbor that
// bears a silent encoder: connect sends everything at once, and this machine may take
// any time over it.
func (o *offline) script(script, desk string) []byte {
	o.t.Helper()
	tail, err := os.ReadFile(filepath.Join("testdata", "offline.liq"))
	if err != nil {
		o.t.Fatal(err)
	}
	const settings, output, harbor = "# ── Settings", "output.icecast(", "buffer=0.3, max=10., timeout="
	head, body, found := strings.Cut(script, settings)
	body, out, also := strings.Cut(body, output)
	before, after, still := strings.Cut(body, harbor+"10.")
	body = before + harbor + "3600." + after
	format := encoder.FindString(out)
	if !found || !also || !still || format == "" {
		o.t.Fatalf("the script has no longer %q, %q, %q or its encoder", settings, output, harbor)
	}
	if !o.encoded {
		format = "%wav"
	}
	if o.slow {
		const arrival = "def live_arrived() =\n"
		before, after, known := strings.Cut(body, arrival)
		if !known {
			o.t.Fatalf("the script has no longer %q", arrival)
		}
		body = before + arrival + "  sleep(0.5)\n" + after
	}
	perSecond := 100
	if o.hurried {
		perSecond = 1000
	}
	return fmt.Appendf(nil, "%s\nsent = ref(0)   # frames\ndesk = %q\ndef time() = %d. + float_of_int(!sent) / %d. end\n%s%s%s\noutput.file(fallible=true, %s, %q, stepped)\n",
		head, desk, offlineStart, perSecond, settings, body, tail, format, o.file)
}

// ServeHTTP is the desk that the engine asks how far to go.
func (o *offline) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	switch q.URL.Path {
	case "/wait":
		return // the way here and back is the pause
	case "/encoder":
		if o.hungry.Load() {
			_, _ = fmt.Fprint(w, "go on")
		}
		return
	}
	at, err := strconv.Atoi(q.URL.Query().Get("at"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o.stops <- at
	select {
	case until := <-o.until:
		_, _ = fmt.Fprint(w, until)
	case <-q.Context().Done():
	}
}

func (o *offline) stopped() {
	o.t.Helper()
	if o.made = testkit.Receive(o.t, "the engine's next stop", o.stops); o.made < 0 {
		o.t.Fatal("the engine has ended")
	}
}

// now is how much audio there is.
func (o *offline) now() time.Duration { return time.Duration(o.made) * frame }

// play lets the engine make so much more audio.
func (o *offline) play(d time.Duration) {
	o.t.Helper()
	o.until <- o.made + int(d/frame)
	o.stopped()
}

// playUntil plays on in steps of a tenth of a second until the engine's status
// is as wanted, and says how much audio that took.
func (o *offline) playUntil(what string, ok func(playout.Status) bool) time.Duration {
	o.t.Helper()
	from := o.now()
	for !ok(o.status()) {
		if o.now()-from > time.Minute {
			o.t.Fatalf("not within a minute of audio: %s; %+v", what, o.status())
		}
		o.play(second / 10)
	}
	return o.now() - from
}

// entered counts the entries that have begun.
func entered(n int) func(playout.Status) bool {
	return func(s playout.Status) bool { return s.Entered >= n }
}

// pushed writes a playlist and waits, at a standstill, until the engine has read it.
func (o *offline) pushed(list []byte) {
	o.t.Helper()
	before := o.status().Edition
	o.push(list)
	testkit.Eventually(o.t, "the new list read", func() bool { return o.status().Edition > before })
	if e := o.status().Edition; e != before+1 {
		o.t.Errorf("one write is read %d times", e-before)
	}
}

// end ends the engine and returns what it made.
func (o *offline) end() aircheck.PCM {
	o.t.Helper()
	o.ended()
	pcm, err := aircheck.Capture(o.t.Context(), o.file, time.Hour)
	if err != nil {
		o.t.Fatal(err)
	}
	if keep := os.Getenv("AIRCHECK_DIR"); keep != "" {
		_ = pcm.WriteFile(filepath.Join(keep, o.t.Name()+".wav"))
	}
	// An output that has no source for one frame lets every listener go, and
	// begins its file anew.
	if lost := o.now() - pcm.Duration(); lost > second/10 {
		o.t.Errorf("the output stopped: the first %s are lost", lost)
	}
	return pcm.Cut(0, o.now())
}

// ended lets the engine deliver its markers and ends it.
func (o *offline) ended() {
	o.t.Helper()
	testkit.Eventually(o.t, "all markers delivered", func() bool { return o.status().PendingMarkers == 0 })
	o.until <- 0
	if end := testkit.Receive(o.t, "the engine's end", o.stops); end >= 0 {
		o.t.Fatal("the engine goes on")
	}
}

// heard ends the engine and reads what it made. The blip of emergency audio
// with which an engine may begin is left out.
func (o *offline) heard(ids ...int) aircheck.Report {
	o.t.Helper()
	return o.analysed(o.end(), ids...)
}

// analysed is heard of audio at hand.
func (o *offline) analysed(pcm aircheck.PCM, ids ...int) aircheck.Report {
	o.t.Helper()
	report := aircheck.Analyse(pcm, append(ids, emergencyID)...)
	o.t.Logf("heard:\n%s", report)
	report.Segments = slices.DeleteFunc(report.Segments, func(s aircheck.Segment) bool {
		return s.ID == emergencyID && s.Start < 5*frame && s.Length() <= second/2
	})
	return report
}

// begins is where a track begins to be heard for the n-th time, from 0.
func begins(t testing.TB, r aircheck.Report, id, n int) time.Duration {
	t.Helper()
	for _, s := range r.Segments {
		if s.ID == id {
			if n == 0 {
				return s.Start
			}
			n--
		}
	}
	t.Fatalf("track %d is not heard:\n%s", id, r)
	return 0
}

// unbroken fails for any gap or click.
func unbroken(t testing.TB, r aircheck.Report) {
	t.Helper()
	gapless(t, r, 0)
	clickless(t, r)
}

func clickless(t testing.TB, r aircheck.Report) {
	t.Helper()
	if len(r.Clicks) > 0 {
		t.Errorf("%d clicks, the first at %s", len(r.Clicks), r.Clicks[0].At)
	}
}

// turn is the most that is heard of a change of source: one fades in from
// nothing, or its audio begins a little late.
const turn = 40 * time.Millisecond

func gapless(t testing.TB, r aircheck.Report, most time.Duration) {
	t.Helper()
	if r.Gap.Length() > most {
		t.Errorf("a gap of %s at %s", r.Gap.Length(), r.Gap.Start)
	}
}
