package production

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/mastering"
	"github.com/athir-radio/athir/internal/sound/speech"
	"github.com/athir-radio/athir/internal/sound/wav"
	"github.com/athir-radio/athir/internal/station"
)

var someNews = []string{"افتتاح خط جديد لمترو الأنفاق", "انطلاق معرض القاهرة للكتاب", "زيادة أعداد الزائرين", "خبر ينتظر"}

// stage is a station's bulletins and their rehearsals, with nothing in its media folder.
type stage struct {
	*Production
	media string
	now   time.Time
}

func newStage(t *testing.T, voice bulletin.Voice, master mastering.Desk) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{media: filepath.Join(dir, "media"), now: time.Date(2026, 1, 15, 4, 5, 0, 0, time.UTC)}
	if err := os.Mkdir(s.media, 0o755); err != nil {
		t.Fatal(err)
	}
	news, err := bulletin.New(bulletin.Options{Dir: filepath.Join(s.media, "news"), Headlines: filepath.Join(dir, "headlines.txt"), Voice: voice, Master: master})
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work", "rehearsals")
	if err := os.MkdirAll(filepath.Join(work, ".bulletin-killed"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Production = &Production{board: runningBoard(t), news: news}
	s.rehearsals, err = openRehearsals(&rehearsals{
		board: s.board, news: news, dir: work, log: slog.New(slog.DiscardHandler),
		now: func() time.Time { return s.now }, at: func() time.Time { return s.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := names(t, work); len(left) != 0 {
		t.Errorf("of an earlier run are left %v", left)
	}
	return s
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// heard begins a rehearsal and returns what came of it.
func (s *stage) heard(t *testing.T, lines []string) (jobs.Job, BulletinRehearsed, error) {
	t.Helper()
	j, err := s.Rehearse(lines)
	if err != nil {
		t.Fatal(err)
	}
	j, failed := s.board.Wait(t.Context(), j.ID)
	var made BulletinRehearsed
	if err := json.Unmarshal(j.Result, &made); err != nil {
		t.Fatalf("%s: %v", j.Result, err)
	}
	return j, made, failed
}

// With the station's own voice and mastering; nothing of it is in the media folder.
func TestARehearsalIsHeardByTheOperatorAlone(t *testing.T) {
	booth, err := speech.Order{Offline: true}.Booth(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, booth, mastering.New(mastering.Options{}))
	script, err := s.Script(someNews)
	if err != nil || script.Waiting != 1 {
		t.Fatalf("%+v, %v", script, err)
	}
	first, err := s.Rehearse(someNews)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Rehearse([]string{"• " + someNews[0], someNews[1] + "  ", someNews[2]}) // the same three are read
	if err != nil || second.ID != first.ID {
		t.Errorf("two presses make two jobs: %+v, %v", second, err)
	}
	j, made, err := s.heard(t, someNews)
	if err != nil || j.ID != first.ID || j.State != jobs.Done || j.Progress.Step != "done" || j.Progress.Total != 4 {
		t.Fatalf("%+v, %v", j, err)
	}
	if !strings.HasPrefix(made.Text, script.Text[:strings.Index(script.Text, "\n")]) {
		t.Errorf("it begins with\n%s\nthe script with\n%s", made.Text, script.Text)
	}
	for _, want := range script.Sentences {
		if !strings.Contains(made.Text, want.Text) {
			t.Errorf("%q is not said: %s", want.Text, made.Text)
		}
	}
	path, until, err := s.Rehearsed(made.ID)
	if err != nil || until.UnixMilli() != made.Until || until.Sub(s.now) != rehearsalLasts {
		t.Fatal(err)
	}
	d, err := ffmpeg.Length(t.Context(), path)
	if err != nil || (d-time.Duration(made.DurationMS)*time.Millisecond).Abs() > 100*time.Millisecond || d < 30*time.Second {
		t.Errorf("it lasts %s and says %d ms, %v", d, made.DurationMS, err)
	}
	if lufs, dbtp := measured(t, path); math.Abs(lufs+14) > 0.5 || dbtp > -1.4 {
		t.Errorf("it comes out at %.1f LUFS, %.1f dBTP", lufs, dbtp)
	}
	if len(names(t, s.media)) != 0 || s.news.Status().Last != nil {
		t.Errorf("the media folder holds %v, the status tells of it: %+v", names(t, s.media), s.news.Status().Last)
	}
	if again, err := s.Rehearse(someNews); err != nil || again.ID != first.ID || again.State != jobs.Done {
		t.Errorf("one that is kept is made again: %+v, %v", again, err)
	}
	if len(s.board.List()) != 1 {
		t.Errorf("%d jobs", len(s.board.List()))
	}
	s.now = s.now.Add(rehearsalLasts)
	if _, _, err := s.Rehearsed(made.ID); !errors.Is(err, station.ErrNotFound) || len(names(t, s.rehearsals.dir)) != 0 {
		t.Errorf("a quarter of an hour later it is kept: %v, %v", err, names(t, s.rehearsals.dir))
	}
	if anew, err := s.Rehearse(someNews); err != nil || anew.ID == first.ID {
		t.Errorf("one that is gone is not made again: %+v, %v", anew, err)
	}
}

func measured(t *testing.T, path string) (lufs, dbtp float64) {
	t.Helper()
	rec, err := mastering.New(mastering.Options{}).Do(t.Context(), mastering.Job{In: path, Out: path + ".none", Measure: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec.SourceIntegrated, rec.SourcePeak
}

// A voice that hangs is ended with the job, and the next press does not get the job that ends.
func TestACancelledRehearsalEndsItsPrograms(t *testing.T) {
	dir := t.TempDir()
	program, begun := filepath.Join(dir, "piper"), filepath.Join(dir, "begun")
	testkit.Executable(t, program, fmt.Appendf(nil, "#!/bin/sh\necho $$ >> %s\nexec sleep 1000\n", begun))
	voice, err := speech.NewPiper(program, filepath.Join(dir, "voice.onnx"), 0)
	if err != nil {
		t.Fatal(err)
	}
	booth, err := speech.New(speech.Options{Steps: []speech.Step{{Engine: voice, Limit: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, booth, mastering.New(mastering.Options{}))
	j, err := s.Rehearse(someNews)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	testkit.Eventually(t, "the voice speaks", func() bool {
		text, _ := os.ReadFile(begun)
		n, _ := fmt.Sscan(string(text), &pid)
		return n == 1
	})
	if _, err := s.board.Cancel(j.ID); err != nil {
		t.Fatal(err)
	}
	next, err := s.Rehearse(someNews)
	if err != nil || next.ID == j.ID {
		t.Errorf("a press after cancelling gets the cancelled job: %+v, %v", next, err)
	}
	if ended, err := s.board.Wait(t.Context(), j.ID); ended.State != jobs.Cancelled || err == nil {
		t.Errorf("%+v, %v", ended, err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its voice runs on: %v", err)
	}
	if _, err := s.board.Cancel(next.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.board.Wait(t.Context(), next.ID); err == nil {
		t.Error("the second one was not cancelled")
	}
	if left := names(t, s.rehearsals.dir); len(left) != 0 || len(s.rehearsals.list) != 0 {
		t.Errorf("left are %v and %d", left, len(s.rehearsals.list))
	}
}

// tone is a voice where a test does not listen, or one that fails.
type tone struct{ err error }

func (v tone) SayAll(_ context.Context, texts []string) []speech.Clip {
	out := make([]speech.Clip, len(texts))
	for i := range out {
		pcm := make([]int16, 44100)
		for n := range pcm {
			pcm[n] = int16(3000 * (n/50%2*2 - 1))
		}
		out[i] = speech.Clip{WAV: wav.PCM16(44100, 1, pcm), Voice: "tone", Err: v.err}
	}
	return out
}

func TestRehearsalsAreBounded(t *testing.T) {
	s := newStage(t, tone{}, mastering.New(mastering.Options{}))
	r := s.rehearsals
	for name, c := range map[string]struct {
		bytes int64
		want  int
	}{"in number": {1 << 20, mostRehearsals}, "in bytes": {mostRehearsed/3 + 1, 2}, "one is always kept": {mostRehearsed + 1, 1}} {
		r.list = []*rehearsal{{id: "under way"}}
		for i := range mostRehearsals + 2 {
			e := &rehearsal{id: fmt.Sprint(i), bytes: c.bytes, until: s.now.Add(rehearsalLasts)}
			if err := os.WriteFile(r.path(e.id), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r.list = append(r.list, e)
		}
		newest := fmt.Sprint(mostRehearsals + 1)
		if _, _, err := s.Rehearsed(newest); err != nil || len(names(t, r.dir)) != c.want || len(r.list) != c.want+1 {
			t.Errorf("%s: %d are kept of %v, %v", name, len(r.list), names(t, r.dir), err)
		}
		s.now = s.now.Add(rehearsalLasts)
		r.tidy() // as happens while nobody asks
		if len(names(t, r.dir)) != 0 || len(r.list) != 1 {
			t.Errorf("%s: a quarter of an hour later are left %v", name, names(t, r.dir))
		}
	}
}

// What stands in the way reaches the page in both languages, with what to do.
func TestARehearsalThatFailsSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err          error
		code, en, ar string
	}{
		{err: fmt.Errorf("espeak-ng: %w", &proc.MissingError{Program: "espeak-ng"}), code: "program_missing", en: "espeak-ng is not installed", ar: "البرنامج espeak-ng غير مثبَّت"},
		{err: errors.New("edge: no answer"), code: "unspoken", en: "Check the settings below speech", ar: "راجع إعدادات speech"},
		{err: fmt.Errorf("write: %w", syscall.ENOSPC), code: "disk_full", en: "Free some space", ar: "أفرغ بعض المساحة"},
		{err: fmt.Errorf("write: %w", store.ErrDiskFull), code: "disk_full", en: "Free some space", ar: "أفرغ بعض المساحة"},
	} {
		s := newStage(t, tone{c.err}, mastering.New(mastering.Options{}))
		j, made, err := s.heard(t, someNews)
		if j.State != jobs.Failed || !errors.Is(err, station.ErrUnavailable) || made.Reason == nil || made.Reason.Code != c.code || made.ID != "" {
			t.Fatalf("%v: %+v, %+v", c.err, j, made.Reason)
		}
		if r := made.Reason; !strings.Contains(r.En, c.en) || !strings.Contains(r.Ar, c.ar) || !strings.Contains(r.Detail, c.err.Error()) || !strings.Contains(j.Error, c.en) {
			t.Errorf("%v: %+v, %s", c.err, r, j.Error)
		}
		if again, err := s.Rehearse(someNews); err != nil || again.ID == j.ID {
			t.Errorf("one that failed is not tried again: %+v, %v", again, err)
		}
	}
	if r := reasonOf(errors.New("ffmpeg: exit code 1")); r.Code != "our_fault" || r.Ar == "" {
		t.Errorf("%+v", r)
	}
	s := newStage(t, tone{}, mastering.New(mastering.Options{}))
	if j, err := s.Rehearse([]string{"خبر", "..."}); !errors.Is(err, station.ErrInvalid) || len(s.board.List()) != 0 {
		t.Errorf("headlines that are refused: %+v, %v", j, err)
	}
}
