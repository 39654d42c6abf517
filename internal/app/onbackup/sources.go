// Package onbackup makes and restores backups of a station: which of its files are state
// that cannot be made again, when they are copied, and how they are put back.
package onbackup

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/audience/chat"
	"github.com/athir-radio/athir/internal/audience/feedback"
	"github.com/athir-radio/athir/internal/audience/requests"
	"github.com/athir-radio/athir/internal/audience/social"
	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/audience/webpush"
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/face"
	"github.com/athir-radio/athir/internal/kit/archive"
	"github.com/athir-radio/athir/internal/kit/jobs"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/kit/webhooks"
	"github.com/athir-radio/athir/internal/library/aircopy"
	"github.com/athir-radio/athir/internal/library/art"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/content"
	"github.com/athir-radio/athir/internal/library/duplicates"
	"github.com/athir-radio/athir/internal/library/intake"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/library/media"
	"github.com/athir-radio/athir/internal/library/overlay"
	"github.com/athir-radio/athir/internal/live/carts"
	"github.com/athir-radio/athir/internal/live/publisher"
	"github.com/athir-radio/athir/internal/onair/channels"
	"github.com/athir-radio/athir/internal/onair/guard"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/people"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/sound/mastering"
)

// Schemas are the tables of every slice.
func Schemas() []store.Schema {
	return []store.Schema{
		jobs.Schema(), webhooks.Schema(), mastering.Schema(),
		scheduler.Schema(), channels.Schema(), guard.Schema(), people.Schema(), face.Schema(), podcast.Schema(),
		media.Schema(), overlay.Schema(), art.Schema(), aircopy.Schema(), catalog.Schema(), lists.Schema(), intake.Schema(), content.Schema(), duplicates.Schema(),
		publisher.Schema(), carts.Schema(),
		chat.Schema(), feedback.Schema(), requests.Schema(), social.Schema(), telemetry.Schema(), webpush.Schema(),
	}
}

// The single files of a backup, by their names in it.
const (
	settingsName  = config.FileName
	stationName   = "station.json"
	databaseName  = "athir.db"
	headlinesName = "headlines.txt"
)

// Choice says what is in a backup beside what always is.
type Choice struct {
	Mastered     bool // copies that air, which the station can make again from the media folder
	Recordings   bool // of live broadcasts, and the sounds of episodes
	Archive      bool // what has left the media folder
	DatabaseOnly bool // nothing but the database
}

// place is a file or a folder of a station, and its name in a backup.
type place struct {
	name string
	path string
	tree bool
	what string // for people
	// onAir: the engine may be playing from it, or a process of the node uses it, while the
	// control plane is away.
	onAir bool
}

// places are all that a backup may hold, in the order of an archive. Uploads on their way into
// the media folder, or for an import, are not among them, as the media folder is not: their senders
// have them, they may be 64 GiB, and one whose file is missing is refused with the advice to send it again.
func places(cfg *config.Config) []place {
	out := []place{
		{name: settingsName, path: cfg.File(), what: "settings and keys", onAir: true},
		{name: stationName, path: cfg.StationFile(), what: "station configuration, live streams"},
	}
	if file := cfg.HeadlinesFile(); file != "" {
		out = append(out, place{name: headlinesName, path: file, what: "headlines"})
	}
	return append(out,
		place{name: databaseName, path: cfg.Database(), what: "database"},
		place{name: "chat/media", path: cfg.ChatMediaDir(), tree: true, what: "attachments of the chat"},
		place{name: "covers", path: cfg.CoversDir(), tree: true, what: "covers of tracks"},
		place{name: "social", path: cfg.SocialDir(), tree: true, what: "what listeners sent"},
		place{name: "posts/social", path: filepath.Join(cfg.PostsRoot(), "social"), tree: true, what: "listeners' posts, mastered", onAir: true},
		place{name: "mastered", path: cfg.MasteredDir(), tree: true, what: "mastered copies", onAir: true},
		place{name: "recordings", path: cfg.RecordingsDir(), tree: true, what: "recordings", onAir: true},
		place{name: "podcasts", path: cfg.PodcastsDir(), tree: true, what: "sounds of episodes"},
		place{name: "archive", path: cfg.ArchiveDir(), tree: true, what: "what has left the media folder"},
	)
}

// of returns the places that a choice names.
func (c Choice) of(cfg *config.Config) []place {
	return slices.DeleteFunc(places(cfg), func(p place) bool {
		switch p.name {
		case databaseName:
			return false
		case "mastered":
			return !c.Mastered
		case "recordings", "podcasts":
			return !c.Recordings
		case "archive":
			return !c.Archive
		}
		return c.DatabaseOnly
	})
}

// placeOf returns the place that a file of an archive belongs to.
func placeOf(all []place, name string) (place, bool) {
	for _, p := range all {
		if p.name == name && !p.tree || p.tree && strings.HasPrefix(name, p.name+"/") {
			return p, true
		}
	}
	return place{}, false
}

// found is a file on the disk, for an archive.
type found struct {
	archive.File
	path string
}

// walk lists the plain files of a place; one that is not there has none. left are names
// that no archive can hold.
func (p place) walk() (files []found, left []string, err error) {
	root, err := filepath.EvalSymlinks(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && p.name == "podcasts" && strings.HasPrefix(d.Name(), ".") && file != root {
			return filepath.SkipDir // in the making, or of no episode
		}
		if err == nil && !d.Type().IsRegular() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		name := p.name
		if p.tree {
			name = path.Join(p.name, filepath.ToSlash(strings.TrimPrefix(file, root)))
		}
		if !utf8.ValidString(name) || strings.Contains(name, `\`) {
			left = append(left, file)
			return nil
		}
		files = append(files, found{archive.File{Name: name, Bytes: info.Size(), Mode: info.Mode().Perm(), Modified: info.ModTime().UTC()}, file})
		return nil
	})
	return files, left, err
}
