package production

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/station"
)

// BulletinScript is what a bulletin would say, before it is spoken.
type BulletinScript struct {
	At        int64              `json:"at" doc:"The time it tells, epoch milliseconds: when a bulletin that is ordered now would be heard"`
	Text      string             `json:"text" doc:"All that is surely said, a segment a line"`
	Sentences []BulletinSentence `json:"sentences" nullable:"false" doc:"That text, sentence by sentence, as the voice gets it"`
	Spares    []BulletinSentence `json:"spares" nullable:"false" doc:"Said in this order where there is time left: which of them, is known once the voice has spoken"`
	Missing   []BulletinSegment  `json:"missing" nullable:"false" doc:"What it lacks, and why"`
	Waiting   int                `json:"waiting" doc:"Headlines after the third: they are not read"`
}

// BulletinSentence is one sentence of a bulletin.
type BulletinSentence struct {
	Kind string `json:"kind" enum:"time,date,weather,headlines,programme,return"`
	Text string `json:"text"`
}

// BulletinRehearsed is a bulletin that was made to be heard by the operator alone.
type BulletinRehearsed struct {
	ID         string             `json:"id" doc:"Of the sound, for a ticket; empty where there is none"`
	At         int64              `json:"at" doc:"The time it tells, epoch milliseconds"`
	Until      int64              `json:"until" doc:"Until then it is kept, epoch milliseconds"`
	DurationMS int64              `json:"durationMs"`
	LUFS       float64            `json:"lufs"`
	DBTP       float64            `json:"dbtp"`
	Text       string             `json:"text" doc:"What is said, a segment a line"`
	Sentences  []BulletinSentence `json:"sentences" nullable:"false"`
	Missing    []BulletinSegment  `json:"missing" nullable:"false" doc:"What it lacks, and why"`
	Reason     *RehearsalReason   `json:"reason,omitempty" doc:"Why there is none"`
}

// RehearsalReason is why a bulletin could not be spoken, in words of both languages.
type RehearsalReason struct {
	Code   string `json:"code" enum:"program_missing,unspoken,disk_full,our_fault"`
	En     string `json:"en"`
	Ar     string `json:"ar"`
	Detail string `json:"detail" doc:"What the voices or programs said, in English"`
	cause  error
}

func (r *RehearsalReason) Error() string { return r.En + " (" + r.Detail + ")" }

// Unwrap makes the kind station.ErrUnavailable: it may work later.
func (r *RehearsalReason) Unwrap() []error { return []error{r.cause, station.ErrUnavailable} }

// Spoken returns what an answer says of the reason: at is always zero.
func (r *RehearsalReason) Spoken() (code, en, ar string, at time.Time) {
	return r.Code, r.En, r.Ar, time.Time{}
}

// reasonOf says what a person can do about an error.
func reasonOf(err error) *RehearsalReason {
	r := &RehearsalReason{Code: "our_fault", cause: err, Detail: station.Reason(err),
		En: "The bulletin could not be made to be heard. Try again; the station's log says more.",
		Ar: "تعذّر تجهيز النشرة للاستماع. أعد المحاولة، وفي سجلّ المحطة تفاصيل أكثر."}
	var missing *proc.MissingError
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, store.ErrDiskFull):
		r.Code, r.En, r.Ar = "disk_full", "The station's disk is full. Free some space, then listen again.", "قرص المحطة ممتلئ. أفرغ بعض المساحة ثم استمع من جديد."
	case errors.As(err, &missing):
		r.Code = "program_missing"
		r.En = fmt.Sprintf("The program %s is not installed on the station's machine. Install it, then listen again.", missing.Program)
		r.Ar = fmt.Sprintf("البرنامج %s غير مثبَّت على جهاز المحطة. ثبِّته ثم استمع من جديد.", missing.Program)
	case errors.Is(err, bulletin.ErrUnspoken):
		r.Code = "unspoken"
		r.En = "No voice could speak the bulletin. Check the settings below speech and the machine's connection to the internet, then listen again."
		r.Ar = "لم يتمكن أي صوت من نطق النشرة. راجع إعدادات speech واتصال جهاز المحطة بالإنترنت، ثم استمع من جديد."
	}
	return r
}

const (
	// rehearsalLane is the lane of rehearsals: one at a time, beside the bulletins that air.
	rehearsalLane = "rehearsal"
	// rehearsalLasts is how long one is kept: to be heard a few times, not to be collected.
	rehearsalLasts = 15 * time.Minute
	mostRehearsals = 6
	mostRehearsed  = 32 << 20 // bytes; one has 1 to 2 MB
)

// rehearsals are bulletins that only the operator hears, each in a file of its own outside
// the media folder. They live for a while, and not over a restart.
type rehearsals struct {
	board *jobs.Board
	news  *bulletin.Maker
	at    func() time.Time // that a bulletin tells which is ordered now
	dir   string
	log   *slog.Logger
	now   func() time.Time

	mu   sync.Mutex
	list []*rehearsal // oldest first
}

// rehearsal is one, under way or made.
type rehearsal struct {
	id, job   string
	headlines string       // that are read
	ended     func() error // why its work ends; nil before it begins
	until     time.Time    // zero while it is not made
	bytes     int64
}

// openRehearsals removes what an earlier run has left.
func openRehearsals(r *rehearsals) (*rehearsals, error) {
	if err := os.RemoveAll(r.dir); err != nil {
		return nil, fmt.Errorf("remove old rehearsals: %w", err)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of rehearsals: %w", err)
	}
	return r, nil
}

// begin has a bulletin spoken with these headlines. Who asks for the same headlines gets
// the one that is under way or kept. Errors as bulletin.Maker.Script and jobs.Board.Start.
func (r *rehearsals) begin(lines []string) (jobs.Job, error) {
	if _, err := r.news.Script(lines, r.now()); err != nil {
		return jobs.Job{}, err
	}
	read, err := bulletin.Read(lines)
	if err != nil {
		return jobs.Job{}, err
	}
	headlines := strings.Join(read, "\n")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tidy()
	r.list = slices.DeleteFunc(r.list, func(e *rehearsal) bool { // cancelled before its turn came
		j, err := r.board.Find(e.job)
		return e.until.IsZero() && (err != nil || j.State.Final())
	})
	for _, e := range r.list {
		if e.headlines != headlines || e.until.IsZero() && e.ended != nil && e.ended() != nil { // that one was cancelled
			continue
		}
		if j, err := r.board.Find(e.job); err == nil && (!j.State.Final() || j.State == jobs.Done) {
			return j, nil
		}
	}
	e := &rehearsal{id: rand.Text(), headlines: headlines}
	j, err := r.board.Start(rehearsalLane, rehearsalLane, func(ctx context.Context, t *jobs.Task) (any, error) {
		made, err := r.make(ctx, e, lines, t.Show)
		return made, err
	})
	if err != nil {
		return jobs.Job{}, err
	}
	e.job = j.ID
	r.list = append(r.list, e)
	return j, nil
}

func (r *rehearsals) path(id string) string { return filepath.Join(r.dir, id+".mp3") }

// make speaks one. Why it could not is in the result too, for whoever reads the job later.
func (r *rehearsals) make(ctx context.Context, e *rehearsal, lines []string, show func(jobs.Progress)) (BulletinRehearsed, error) {
	r.mu.Lock()
	e.ended = ctx.Err
	r.mu.Unlock()
	made, err := r.news.Rehearse(ctx, lines, r.at(), r.path(e.id), func(s bulletin.Stage) {
		show(jobs.Progress{Step: s.String(), Done: int(s), Total: int(bulletin.Done)})
	})
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(made.Path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := BulletinRehearsed{Sentences: []BulletinSentence{}, Missing: []BulletinSegment{}}
	if err != nil {
		r.list = slices.DeleteFunc(r.list, func(other *rehearsal) bool { return other == e })
		if ctx.Err() == nil {
			reason := reasonOf(err)
			out.Reason, err = reason, reason
		}
		return out, err
	}
	e.bytes, e.until = info.Size(), r.now().Add(rehearsalLasts)
	r.tidy()
	out.ID, out.At, out.Until, out.DurationMS = e.id, made.At.UnixMilli(), e.until.UnixMilli(), made.Duration.Milliseconds()
	out.LUFS, out.DBTP = thousandths(made.Mastered.Integrated), thousandths(made.Mastered.TruePeak)
	out.Text, out.Sentences, out.Missing = made.Text(), sentencesOf(made.Segments), missingOf(made.Segments)
	return out, nil
}

// tidy removes what has been kept for long enough, and the oldest where there are too many
// or too much; r.mu is held.
func (r *rehearsals) tidy() {
	made, bytes := 0, int64(0)
	for _, e := range slices.Backward(r.list) {
		if e.until.IsZero() {
			continue
		}
		made, bytes = made+1, bytes+e.bytes
		if made > 1 && (made > mostRehearsals || bytes > mostRehearsed) {
			e.until = time.Unix(0, 0)
		}
	}
	now := r.now()
	r.list = slices.DeleteFunc(r.list, func(e *rehearsal) bool {
		if e.until.IsZero() || now.Before(e.until) {
			return false
		}
		if err := os.Remove(r.path(e.id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.log.Warn("cannot remove a rehearsal, the next start does", "file", r.path(e.id), "err", err)
		}
		return true
	})
}

// file returns the sound of one that is kept, and until when it is. station.ErrNotFound.
func (r *rehearsals) file(id string) (string, time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tidy()
	for _, e := range r.list {
		if e.id == id && !e.until.IsZero() {
			return r.path(id), e.until, nil
		}
	}
	return "", time.Time{}, fmt.Errorf("this bulletin is not kept any more, have it spoken again: %w", station.ErrNotFound)
}

// run removes what has been kept for long enough, until ctx ends.
func (r *rehearsals) run(ctx context.Context) {
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			r.mu.Lock()
			r.tidy()
			r.mu.Unlock()
		}
	}
}

// Script returns what a bulletin would say that is ordered now with these headlines. It
// changes nothing. Errors as bulletin.Maker.Script.
func (p *Production) Script(lines []string) (BulletinScript, error) {
	s, err := p.news.Script(lines, p.rehearsals.at())
	if err != nil {
		return BulletinScript{}, err
	}
	read, err := bulletin.Read(lines)
	return BulletinScript{
		At: s.At.UnixMilli(), Text: s.Text(), Sentences: sentencesOf(s.Segments), Spares: sentencesOf(s.Spares), Missing: missingOf(s.Segments), Waiting: len(lines) - len(read),
	}, err
}

// Rehearse has a bulletin spoken for the operator alone, as a job whose result is a
// BulletinRehearsed. Nothing of it airs. Errors as bulletin.Maker.Script; station.ErrConflict
// also while too many wait.
func (p *Production) Rehearse(lines []string) (jobs.Job, error) { return p.rehearsals.begin(lines) }

// Rehearsed returns the file of a rehearsal while it is kept, and until when it is.
// station.ErrNotFound.
func (p *Production) Rehearsed(id string) (path string, until time.Time, err error) {
	return p.rehearsals.file(id)
}

func sentencesOf(segments []bulletin.Segment) []BulletinSentence {
	out := []BulletinSentence{}
	for _, s := range segments {
		for _, text := range s.Sentences {
			if s.Problem == "" {
				out = append(out, BulletinSentence{string(s.Kind), text})
			}
		}
	}
	return out
}

func missingOf(in []bulletin.Segment) []BulletinSegment {
	return slices.DeleteFunc(segments(in), func(s BulletinSegment) bool { return s.Problem == "" })
}
