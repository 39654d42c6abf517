// Package mastering makes files that are fit to air: at the loudness and under
// the true peak of a profile, as MP3, with their tags. It measures, decides,
// applies and encodes, and measures the *encoded* file again; one that is not
// what it should be is made once more or refused. Every file made has a record.
//
// It never changes a source and never puts a partial or unmeasured file in place. It
// changes the sound only by a gain and, where peaks would not fit, a true-peak limiter.
// It removes a direct-current offset, and on request cuts silence at the ends.
package mastering

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/internal/station"
)

// Options are the same for all files. The zero value stands for the defaults.
type Options struct {
	Kbps     int           // constant bit rate of the MP3s; 192
	Attempts int           // encodings at most; 4
	Longest  time.Duration // of a source; 6 h
	Nice     int           // of all the work, 0 to 19; 10. The kernel takes disk priority from it too
	Below    float64       // LU under the loudness at which sound begins and ends; 30
	Ledger   *Ledger       // where records are kept; nil: nowhere
	Log      *slog.Logger
}

// Desk is the part of a Master that other slices need.
type Desk interface {
	// Do masters one file. A *RefusedError says why the file cannot be mastered;
	// after any error there is no new file at job.Out. progress, when not nil,
	// receives the share done, from 0 to 1.
	Do(ctx context.Context, job Job, progress func(share float64)) (Record, error)
}

// Job is one file to master.
type Job struct {
	In, Out string
	Profile Profile           // that of Station where it is the zero value
	Tags    map[string]string // over the source's own; an empty value removes one
	// Replace allows overwriting a file at Out that no record names.
	Replace bool
	// Again masters even if the result is already in place.
	Again bool
	// Measure stops after the plan: nothing is written.
	Measure bool
	// Trim cuts silence of noticeable length at the start and at the end, except
	// for a short rest. Silence is 10 LU below the level at which cue points
	// place sound.
	Trim bool
	// From and To are what is kept of the source, in place of what Trim finds at that end;
	// 0: that end is not given.
	From, To time.Duration
	// KeepFit keeps a source that may air as it is: an MP3 at the profile's
	// loudness with nothing to trim. Then nothing is written, and Record.Fit is
	// true.
	KeepFit bool
	// Room is called before a file is written; its error ends the job. nil: no
	// check.
	Room func() error
}

// OwnJob is the job for audio that the station made itself: at the station's loudness,
// tagged as a break. It is voices and effects, made to be as loud as the music, so the
// limiter may go deeper than into music.
func OwnJob(in, out string) Job {
	profile := stationProfile()
	profile.MaxDepth, profile.Brief = 14, true
	return Job{In: in, Out: out, Profile: profile, Tags: map[string]string{"artist": breakTag, "title": breakTag, "genre": breakTag}, Again: true}
}

// Outcome describes what airs: the mastered file as decoded, or the source when it is
// Fit or the job was to measure only.
type Outcome struct {
	Fit        bool `json:",omitzero"` // the source airs as it is
	Method     Method
	Integrated float64 // LUFS
	Loudness   float64 // LUFS, what is held to the target: Integrated, but for what Profile.Brief is about
	TruePeak   float64 // dBTP
	Gain       float64 // dB, applied
	// Short is how much (LU) it is quieter than the target because Profile.MaxDepth held
	// its gain down; 0 if it reached the target.
	Short    float64 `json:",omitzero"`
	Duration time.Duration
	CueIn    time.Duration // where sound begins
	CueOut   time.Duration // and where it ends
}

// Record is the result of a job: levels, and what was done.
type Record struct {
	Outcome
	In, Out string // Out is empty of a source that is Fit
	SHA256  string // of the source
	Profile string

	Range float64 // LU, of what airs
	Gated bool    // false where the file is too short for the gate: see loudness.Measurement

	SourceIntegrated float64 // LUFS
	SourcePeak       float64 // dBTP
	SourceRange      float64 // LU
	SourceCodec      string
	SourceRate       int // Hz
	SourceChannels   int
	SourceOffset     float64 // direct current, of full scale, that was removed; 0 if none was

	Reduction float64 // dB, the deepest the limiter went
	Attempts  int     // encodings it took
	Kbps      int

	TrimmedIn  time.Duration // left out at the start
	TrimmedOut time.Duration // and at the end

	Resumed bool `json:"-"` // it was there already
}

// Master masters files. It may be used from several goroutines.
type Master struct{ opt Options }

// New returns a Master.
func New(opt Options) *Master {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&opt.Kbps, 192)
	def(&opt.Attempts, 4)
	def(&opt.Nice, 10)
	if opt.Longest == 0 {
		opt.Longest = 6 * time.Hour
	}
	if opt.Below == 0 {
		opt.Below = 30
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Master{opt}
}

// CheckKbps refuses a bit rate that is not one of MPEG-1 Layer III fit for music.
func CheckKbps(kbps int) error {
	if there := []int{64, 80, 96, 112, 128, 160, 192, 224, 256, 320}; !slices.Contains(there, kbps) {
		return fmt.Errorf("bit rate %d kbit/s: %w: choose from %v", kbps, station.ErrInvalid, there)
	}
	return nil
}

// Forget drops the record of the mastered file at path, which was removed.
func (m *Master) Forget(ctx context.Context, path string) error {
	return m.opt.Ledger.Forget(ctx, path)
}

// Do masters one file: see Desk.
func (m *Master) Do(ctx context.Context, job Job, progress func(float64)) (Record, error) {
	in, err := abs(job.In)
	if err != nil {
		return Record{}, err
	}
	out, err := abs(job.Out)
	if err != nil {
		return Record{}, err
	}
	job.In, job.Out = in, out
	if job.Profile == (Profile{}) {
		job.Profile = stationProfile()
	}
	if progress == nil {
		progress = func(float64) {}
	}
	type result struct {
		rec Record
		err error
	}
	done := make(chan result, 1)
	go func() {
		proc.Politely(m.opt.Nice)
		rec, err := m.master(ctx, job, progress)
		done <- result{rec, err}
	}()
	r := <-done
	r.rec.In, r.rec.Out = in, out
	if r.rec.Fit {
		r.rec.Out = ""
	}
	return r.rec, r.err
}

func (m *Master) master(ctx context.Context, job Job, progress func(float64)) (Record, error) {
	stamp := m.stamp(job)
	ours, err := m.inTheWay(ctx, job)
	if err != nil {
		return Record{}, err
	}
	if ours && !job.Again && !job.Measure {
		if rec, ok, err := m.opt.Ledger.done(ctx, job, stamp); err != nil || ok {
			return rec, err
		}
	}
	s, err := m.open(ctx, job.In)
	if err != nil {
		return Record{}, err
	}
	found, err := m.hear(ctx, s, func(share float64) { progress(0.12 * share) })
	if err != nil {
		return Record{}, unplayable(err)
	}
	if err := s.whole(found.Duration, m.opt.Longest); err != nil {
		return Record{}, err
	}
	silence := m.cutOf(job, found)
	if job.KeepFit && s.fit(job.Profile, found, silence) {
		rec := m.begin(s, job, found, Plan{})
		rec.Fit = true
		if short := job.Profile.Target - rec.Loudness; short > job.Profile.Tolerance {
			rec.Short = short // as it was mastered: see mark
		}
		return rec, s.unchanged()
	}
	plan, err := Decide(job.Profile, job.Profile.LevelsOf(found))
	rec := m.begin(s, job, found, plan)
	rec.TrimmedIn, rec.TrimmedOut = silence.in, silence.out
	if err != nil || job.Measure {
		return rec, err
	}
	if job.Room != nil {
		if err := job.Room(); err != nil {
			return rec, err
		}
	}
	t, rec, err := m.attempts(ctx, s, job, found, plan, rec, progress)
	defer t.discard()
	if err != nil {
		return rec, err
	}
	if err := s.unchanged(); err != nil {
		return rec, err
	}
	if err := t.place(job.Out); err != nil {
		return rec, err
	}
	return rec, m.opt.Ledger.add(ctx, s, job, stamp, rec)
}

// inTheWay refuses to overwrite the source or a file of others; ours reports that
// job.Out exists and this program made it.
func (m *Master) inTheWay(ctx context.Context, job Job) (ours bool, err error) {
	there, err := os.Stat(job.Out)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, plainer(err)
	}
	if in, err := os.Stat(job.In); err == nil && os.SameFile(in, there) {
		return false, refuse(InTheWay, "the mastered file would overwrite its source: choose another folder")
	}
	if !there.Mode().IsRegular() {
		return false, refuse(InTheWay, "%s exists and is not a file", job.Out)
	}
	ours, err = m.opt.Ledger.owns(ctx, job.Out)
	if err == nil && !ours && !job.Replace && !job.Measure {
		err = refuse(InTheWay, "%s exists and was not made by this program", job.Out)
	}
	return ours, err
}

func (m *Master) begin(s *source, job Job, found *loudness.Measurement, plan Plan) Record {
	rec := Record{
		Outcome: Outcome{Method: plan.Method, Gain: plan.Gain},
		In:      job.In, Out: job.Out, SHA256: s.sha256, Profile: job.Profile.Name, Kbps: m.opt.Kbps,
		SourceIntegrated: found.Integrated, SourcePeak: found.TruePeak, SourceRange: found.Range,
		SourceCodec: s.probe.Codec, SourceRate: s.probe.SampleRate, SourceChannels: s.probe.Channels, SourceOffset: s.offset,
	}
	m.fill(job.Profile, &rec, found)
	if plan.Held {
		rec.Short = max(0, job.Profile.Target-job.Profile.LevelsOf(found).Behind(plan.Gain, plan.Ceiling))
	}
	return rec
}

func (m *Master) fill(p Profile, rec *Record, found *loudness.Measurement) {
	rec.Integrated, rec.Loudness, rec.TruePeak, rec.Range = found.Integrated, p.LevelsOf(found).Integrated, found.TruePeak, found.Range
	rec.Gated, rec.Duration = found.Gated, found.Duration
	rec.CueIn, rec.CueOut = found.Sound(m.opt.Below)
}

// stamp hashes everything but the source that decides the mastered file.
func (m *Master) stamp(job Job) string {
	const version = 2 // of this package's processing
	stamp := fmt.Sprintf("v%d %+v %d kbps %q", version, job.Profile, m.opt.Kbps, job.Tags)
	if job.Trim {
		stamp += " trimmed"
	}
	if job.From > 0 || job.To > 0 {
		stamp += fmt.Sprintf(" from %s to %s", job.From, job.To)
	}
	return stamp
}

// OutName is the name of a source's mastered file: the same with .mp3, shortened to fit
// any file system.
func OutName(in string) string {
	base := filepath.Base(in)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	if stem == "" || stem == "." {
		stem = base
	}
	const most = 255 - len(tempPrefix) - len(".part")
	if len(stem) > most {
		stem = strings.ToValidUTF8(stem[:most], "")
	}
	return stem + ".mp3"
}
