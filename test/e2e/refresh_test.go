package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	run "github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/onair/delivery"
	"github.com/athir-radio/athir/internal/onair/playlist"
	"github.com/athir-radio/athir/internal/onair/rotation"
	radio "github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/test/aircheck"
)

// The library is filled, cleaned and restored while the station is on the air,
// and the control plane is killed in the middle of it. Every path the playlist
// holds exists at every moment, no file is half, nothing is lost, and the
// listener notices nothing.
func TestTheLibraryIsRefreshedUnderTheAirAndKilled(t *testing.T) {
	t.Parallel()
	const files = 4 // each is mastered beside whatever else runs, at a low priority
	refreshed(t, sample(), files, 1, func(s *station, _ int) {
		s.atLeisure("some of the files are taken in", func() bool {
			return len(waiting(t, filepath.Join(s.data, "inbox"))) < files
		})
	})
}

// refreshed runs a refresh with so many files in the inbox, and kills the control
// plane each time kill returns.
func refreshed(t *testing.T, pieces []piece, files, kills int, kill func(s *station, n int)) {
	t.Helper()
	s := newStation(t, withKeys)
	if files <= 40 { // the mass is in what is archived and taken in
		s.env = append(s.env, "ATHIR_CONTENT_IMAGING=false")
	}
	record(t, s.media, pieces)
	oldStingers(t, s.media, pieces)
	inbox := filepath.Join(s.data, "inbox")
	fillInbox(t, inbox, files)
	s.configure(programmeRules(60, []rotation.Daypart{}))
	s.start().whole()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() { s.nothingDangles(ctx) })
	ear := s.listen()
	s.eventually("something heard", func() bool { return ear.last(aircheck.Fine) >= 0 })

	orders := []struct{ path, body string }{
		{"/api/content/refresh", `{"songs":0,"ads":0}`},
		{"/api/imaging/stingers", `{"count":1}`},
		{"/api/station/content/scrub", `{"category":"english"}`}, // takes out music that is too short
		{"/api/content/restore", `{"all":true}`},
	}
	for i := range kills {
		for _, o := range orders {
			if a, err := s.order(testStationKey, o.path, o.body); err != nil || a.code != 202 && a.code != 409 {
				t.Errorf("%s: %+v, %v", o.path, a, err)
			}
		}
		kill(s, i)
		old := s.kill("control")
		s.eventually("the next control plane answers", func() bool {
			p, err := s.process("control")
			return err == nil && p.PID != old
		})
		t.Logf("kill %d: %d files in the inbox, %d archived", i, len(filesIn(t, inbox)), len(filesIn(t, filepath.Join(s.data, "archive"))))
	}
	for left := files; left > 0; left = len(waiting(t, inbox)) { // by itself
		s.atLeisure("the inbox is taken in", func() bool { return len(waiting(t, inbox)) < left })
	}
	s.atLeisure("no job is left", s.idle)
	s.whole()
	s.eventually("what the station says is on air is what is heard", func() bool { return s.agrees(ear, aircheck.Fine) })
	cancel()
	watch.Wait()
	ear.stop()
	report := aircheck.Fine.Analyse(ear.PCM())
	if gap := report.Gap.Length(); gap > maxGap {
		t.Errorf("a gap of %s at %s\n%s", gap, report.Gap.Start, s.around(ear, report.Gap))
	}
	s.accounted(pieces, files)
}

// around tells what the engine said it began near a gap, and how loud it was.
func (s *station) around(ear *ear, gap aircheck.Span) string {
	var b strings.Builder
	at, _ := ear.ArrivedAt(gap.Start)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "athir.db")+"?mode=ro")
	if err != nil {
		return err.Error()
	}
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.QueryContext(s.t.Context(), `SELECT at, path FROM plays WHERE at BETWEEN ? AND ? ORDER BY id`,
		at.Add(-15*time.Second).UnixMilli(), at.Add(15*time.Second).UnixMilli())
	if err != nil {
		return err.Error()
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var ms int64
		var path string
		if err := rows.Scan(&ms, &path); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "%+7.2f s  %s\n", time.UnixMilli(ms).Sub(at).Seconds(), path)
	}
	pcm := ear.PCM()
	for from := gap.Start - 500*time.Millisecond; from < gap.End+500*time.Millisecond; from += 50 * time.Millisecond {
		a, z := int(from.Seconds()*float64(pcm.Rate)), int((from+50*time.Millisecond).Seconds()*float64(pcm.Rate))
		var sum float64
		for _, x := range pcm.Samples[max(a, 0):min(z, len(pcm.Samples))] {
			sum += float64(x) * float64(x)
		}
		fmt.Fprintf(&b, "%+7.2f s  %6.1f dBFS\n", (from - gap.Start).Seconds(), 10*math.Log10(sum/float64(max(z-a, 1))/(32768*32768)+1e-12))
	}
	if err := rows.Err(); err != nil {
		return err.Error()
	}
	return b.String()
}

// oldStingers gives some stingers the names of generated ones, so that an order
// of new ones archives them.
func oldStingers(t *testing.T, media string, pieces []piece) {
	t.Helper()
	for _, p := range pieces {
		if p.category == radio.SFX {
			from := filepath.Join(media, p.file())
			if err := os.Rename(from, filepath.Join(filepath.Dir(from), fmt.Sprintf("SFX_ZAP_tone %02d أغنية.mp3", p.id))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fillInbox makes n different sounds, most of them short, and of each tenth what
// cannot be taken. Their sweeps pass what an encoder keeps of the treble: the
// steady tone below is there so that no gap is the sound's own.
func fillInbox(t *testing.T, inbox string, n int) {
	t.Helper()
	decks := []string{"shorts", "jingles", "ads", "sfx", "sfx", "sfx", "sfx", "sfx", "sfx", "sfx"}
	for _, c := range decks {
		if err := os.MkdirAll(filepath.Join(inbox, c), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	for i := range n {
		long := 0.7
		if i%10 < 3 {
			long = 5.5
		}
		file := filepath.Join(inbox, decks[i%10], fmt.Sprintf("وارد %04d.ogg", i))
		if i%10 == 9 {
			write(t, file, "this is no sound")
		} else if _, err := run.Output(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{
			"-v", "error", "-f", "lavfi", "-i",
			fmt.Sprintf("aevalsrc=0.4*sin(%d*t*(1+0.2*sin(%d*t)))+0.05*sin(2*PI*400*t):d=%g:s=44100", 2000+17*i, 3+i%7, long), "-c:a", "libvorbis", file,
		}}, 64<<10); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// nothingDangles fails where the playlist holds a path that does not exist.
func (s *station) nothingDangles(ctx context.Context) {
	node := delivery.NewLocal(filepath.Join(s.data, "node", "main.m3u"), slog.New(slog.DiscardHandler))
	looks, read := 0, ""
	var items []playlist.Item
	for ctx.Err() == nil {
		data, err := node.Current(ctx)
		if err == nil {
			looks++
			if string(data) != read { // the same text holds the same paths
				read = string(data)
				items, err = playlist.Decode(data)
			}
			for i := 0; i < len(items) && err == nil; i++ {
				if _, statErr := os.Stat(items[i].Path); errors.Is(statErr, fs.ErrNotExist) {
					// Only a list that is still in place counts.
					if again, err := node.Current(ctx); err == nil && string(again) == string(data) {
						s.t.Errorf("the playlist holds %s, which is not there", items[i].Path)
						return
					}
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Millisecond):
		}
	}
	s.t.Logf("looked at the playlist %d times", looks)
}

// idle reports that no job runs or waits.
func (s *station) idle() bool {
	code, text := s.call(http.MethodGet, "control", "/api/jobs", testStationKey, "")
	return code == http.StatusOK && !strings.Contains(text, `"state":"running"`) && !strings.Contains(text, `"state":"queued"`)
}

// accounted looks where every file is in the end.
func (s *station) accounted(pieces []piece, n int) {
	s.t.Helper()
	// What was on the air is archived after it, also now: whatever moves changes the archive.
	var media, archived []string
	s.eventually("no file is on the move", func() bool {
		archived, media = filesIn(s.t, filepath.Join(s.data, "archive")), filesIn(s.t, s.media)
		return slices.Equal(archived, filesIn(s.t, filepath.Join(s.data, "archive")))
	})
	placed := 0
	for _, f := range media {
		name := filepath.Base(f)
		if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".mp3") {
			s.t.Errorf("left behind in the media folder: %s", f)
		}
		if strings.Contains(name, "وارد") {
			placed++
			probe(s.t, f)
		}
	}
	rejected := 0
	for _, f := range filesIn(s.t, filepath.Join(s.data, "inbox")) {
		if strings.Contains(f, "/rejected/") && strings.HasSuffix(f, ".ogg") {
			rejected++
		}
	}
	if refused := n / 10; placed != n-refused || rejected != refused {
		s.t.Errorf("of %d files %d were placed and %d refused: want %d and %d", n, placed, rejected, n-refused, refused)
	}
	// Every piece is in its deck or in the archive, whole.
	everywhere := map[string]int{}
	for _, f := range slices.Concat(media, archived) {
		everywhere[filepath.Base(f)]++
	}
	for _, p := range pieces {
		name := filepath.Base(p.file())
		if n := everywhere[name] + everywhere["SFX_ZAP_"+name]; n != 1 {
			s.t.Errorf("%s is there %d times", p.file(), n)
		}
	}
	if left := filesIn(s.t, filepath.Join(s.data, "work")); len(left) > 0 {
		s.t.Errorf("left behind in the work folder: %v", left)
	}
}

// probe fails for a file that does not decode to its end.
func probe(t *testing.T, file string) {
	t.Helper()
	var said strings.Builder
	exit, err := run.Run(t.Context(), run.Spec{Name: "ffmpeg", Path: "ffmpeg", Args: []string{"-v", "error", "-i", file, "-f", "null", "-"}, Stderr: &said}, nil)
	if err != nil || !exit.OK() || said.Len() > 0 {
		t.Errorf("%s: %s %v %s", file, exit, err, said.String())
	}
}

// waiting are the files of the inbox that nothing was decided about.
func waiting(t *testing.T, inbox string) (out []string) {
	for _, f := range filesIn(t, inbox) {
		if !strings.Contains(f, "/rejected/") {
			out = append(out, f)
		}
	}
	return out
}

// filesIn lists all files below a folder, which need not exist.
func filesIn(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // moved meanwhile
		}
		if err == nil && d.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
