package takeover

import (
	"slices"

	"github.com/athir-radio/athir/internal/live"
)

// sight is what observe knows beside the state.
type sight struct {
	Epoch  string
	Number uint64 // of the newest order that was sent
	Taken  uint64 // the highest that the desk was seen to have taken
	// Asked is since when the stream that was asked for had been in its state when it was
	// asked for, by the desk: one that was gone then is tried again.
	Asked int64
	// Version and Ended are those of the report before.
	Version uint64
	Ended   live.Ending
}

// restarted reports that the desk which sent r is not the one that sent the report
// before: it counts anew, or has forgotten what it had taken.
func (v sight) restarted(r live.Report) bool {
	return r.Version < v.Version || v.Taken > 0 && (r.Epoch != v.Epoch || r.Number < v.Taken)
}

// holds reports whether the desk has the newest order.
func (v sight) holds(r live.Report) bool { return r.Epoch == v.Epoch && r.Number == v.Number }

// observe says what a report means for the state. A report of an older order says nothing
// about the newest, and what ended meanwhile is seen with the next.
func observe(s state, v sight, r live.Report) (e event, ok bool) {
	if s.Phase == mix || !v.holds(r) {
		return event{}, false
	}
	last := live.Ending{}
	if r.Ended != nil && *r.Ended != v.Ended {
		last = *r.Ended
	}
	active, there := find(r.Sources, s.Active)
	sounds := there && sounding(active.State)
	switch {
	case r.Air == s.Active || s.Phase == starting && sounds && last.ID != s.Active:
		if s.Phase == starting {
			return event{What: audio, ID: s.Active}, true
		}
	case last.ID == s.Active || !there || active.State == live.Gone:
		return s.overAt(last, active, v, r)
	}
	if s.Phase != handing {
		return event{}, false
	}
	target, there := find(r.Sources, s.Target)
	switch {
	case there && sounding(target.State):
		return event{What: audio, ID: s.Target}, true
	case there && v.newlyGone(target):
		return event{What: noAudio, ID: s.Target, Why: "it is gone: " + orElse(target.Why, "no audio came")}, true
	}
	return event{}, false
}

// overAt is the end of Active by a report.
func (s state) overAt(last live.Ending, active live.SourceReport, v sight, r live.Report) (event, bool) {
	why := orElse(active.Why, "the desk no longer has it")
	failed := true
	if last.ID == s.Active {
		why, failed = orElse(last.Why, why), last.Failed
	}
	switch {
	case s.Phase != starting:
	case last.ID != s.Active && !v.newlyGone(active):
		return event{}, false // it is not there yet
	case r.Air == "":
		return event{What: noAudio, ID: s.Active, Why: "it is gone: " + why}, true
	}
	return event{What: followed, ID: r.Air, Why: why, Failed: failed}, true
}

// newlyGone reports that a source went after it was asked for.
func (v sight) newlyGone(r live.SourceReport) bool {
	return r.State == live.Gone && (r.Since != v.Asked || r.Since == 0)
}

// sounding reports that audio of a source comes.
func sounding(s live.State) bool {
	return s == live.Ready || s == live.Waiting || s == live.OnAir || s == live.Grace
}

func find(all []live.SourceReport, id string) (live.SourceReport, bool) {
	at := slices.IndexFunc(all, func(s live.SourceReport) bool { return s.ID == id })
	if at < 0 || id == "" {
		return live.SourceReport{}, false
	}
	return all[at], true
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
