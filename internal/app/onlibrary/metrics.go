package onlibrary

import (
	"github.com/athir-radio/athir/internal/kit/resume"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/web/api"
)

// Metrics cover what staff upload, and playlists.
func (l *Library) Metrics() []api.Group {
	return []api.Group{Metrics(l.Arrivals, l.Uploads.Stats), ListMetrics(l.Lists)}
}

// ListMetrics cover playlists.
func ListMetrics(all *lists.Lists) api.Group {
	const on, missing, failing = "playlists", "playlist_tracks_missing", "playlists_failing"
	return api.Group{
		Read: func(add func(name string, value float64, label string)) {
			s := all.Stats()
			for kind, n := range s.Kinds {
				add(on, float64(n), string(kind))
			}
			add(missing, float64(s.Missing), "")
			add(failing, float64(s.Failing), "")
		},
		Of: []api.Metric{
			{Name: on, Help: "Playlists of the operator's that are switched on, by kind.", Label: "kind"},
			{Name: missing, Help: "Places of those whose files are gone."},
			{Name: failing, Help: "Remote ones of those that could not be fetched when last tried."},
		},
	}
}

// Metrics cover files on their way into the media folder, and uploads that are not whole.
func Metrics(arrivals *intake.Intake, uploads func() resume.Stats) api.Group {
	const files, bytes, held, unfinished, sent = "intake_files", "intake_bytes", "intake_held", "intake_unfinished", "intake_unfinished_bytes"
	return api.Group{
		Read: func(add func(name string, value float64, label string)) {
			a, u := arrivals.Stats(), uploads()
			for state, n := range a.States {
				add(files, float64(n), string(state))
			}
			add(bytes, float64(a.Bytes), "")
			add(held, float64(a.Held), "")
			add(unfinished, float64(u.Unfinished), "")
			add(sent, float64(u.Bytes), "")
		},
		Of: []api.Metric{
			{Name: files, Help: "Uploaded files of staff, by state.", Label: "state"},
			{Name: bytes, Help: "Bytes of those that are not in the media folder."},
			{Name: held, Help: "Files that were taken and cannot be placed for now."},
			{Name: unfinished, Help: "Uploads of staff that are not whole yet."},
			{Name: sent, Help: "Bytes that they have sent."},
		},
	}
}
