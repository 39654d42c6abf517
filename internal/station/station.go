// Package station holds the words every other package shares: categories,
// tracks, the now-playing object, and kinds of error. It does nothing.
package station

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Category is the deck a media file belongs to (mission: What the service does, 1).
type Category string

// The ten categories, in the mission's order.
const (
	ArabicHits Category = "arabic_hits"
	English    Category = "english"
	Mashups    Category = "mashups"
	Ads        Category = "ads"
	Jingles    Category = "jingles"
	Sweepers   Category = "sweepers"
	SFX        Category = "sfx"
	Shorts     Category = "shorts"
	News       Category = "news"
	Social     Category = "social"
)

// Categories returns the ten categories in the mission's order.
func Categories() []Category {
	return []Category{ArabicHits, English, Mashups, Ads, Jingles, Sweepers, SFX, Shorts, News, Social}
}

// Valid reports whether c is one of the ten categories.
func (c Category) Valid() bool { return slices.Contains(Categories(), c) }

// Music reports whether c holds full-length songs: these count as music for
// artist separation and air without annotation.
func (c Category) Music() bool {
	return c == ArabicHits || c == English || c == Mashups || c == Social
}

// Track is one playable file as the registry knows it.
type Track struct {
	// Path is relative to the media root, with forward slashes. It is the
	// track's identity: unique in the registry, any bytes but NUL.
	Path     string
	Category Category
	Title    string // from tags, else from the file name
	Artist   string // from tags; empty when unknown
	Album    string
	Genre    string
	License  string // as stated by tags or a sidecar; empty when unknown
	ISRC     string // of the recording, as ISRC returns it; empty when unknown
	Label    string // record label; empty when unknown
	Composer string // empty when unknown
	Duration time.Duration
	Size     int64     // bytes
	ModTime  time.Time // of the file
	AddedAt  time.Time // first seen by the registry
	// Own is what an operator says of it; nil: nothing.
	Own *Own `json:"-"`
	// Submitter is an opaque key of the listener who submitted it; empty for all but
	// posts.
	Submitter string `json:"-"`
}

// PostCategory is the category in which listeners' posts of a type air (mission: Social
// post); false for a type that there is not.
func PostCategory(kind string) (Category, bool) {
	switch kind {
	case "song":
		return ArabicHits, true
	case "mashup":
		return Mashups, true
	case "ads":
		return Ads, true
	case "jingles":
		return Jingles, true
	case "sweepers", "voice":
		return Sweepers, true
	case "sfx":
		return SFX, true
	}
	return "", false
}

// PostFile is the path of a listener's post, relative to the folder of posts:
// social/<type>/SOC_<id>_<slug>.mp3 (mission: Social post).
func PostFile(kind string, id int64, slug string) string {
	return fmt.Sprintf("social/%s/SOC_%d_%s.mp3", kind, id, slug)
}

// PostOf is the id of the post whose file has a path, as PostFile makes them; false for every
// other path.
func PostOf(rel string) (id int64, ok bool) {
	kind, name, _ := strings.Cut(strings.TrimPrefix(rel, "social/"), "/")
	digits, slug, _ := strings.Cut(strings.TrimPrefix(name, "SOC_"), "_")
	id, err := strconv.ParseInt(digits, 10, 64)
	if _, known := PostCategory(kind); err != nil || !known {
		return 0, false
	}
	slug, _ = strings.CutSuffix(slug, ".mp3")
	plain := strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
	return id, plain && id > 0 && rel == PostFile(kind, id, slug)
}

// NowPlaying is the mission's now-playing object.
type NowPlaying struct {
	Title  string `json:"title"`
	Artist string `json:"artist"`
	// File is relative to the media root, shape music/<category>/<name>.mp3.
	File string `json:"file"`
	// Post is there where it is a listener's post.
	Post *PostOnAir `json:"post,omitempty"`
}

// PostOnAir is a listener's post that is heard.
type PostOnAir struct {
	ID   int64  `json:"id"`
	By   string `json:"by" doc:"The name that its submitter gave; may be empty"`
	Page string `json:"page" doc:"Path of the post's own page"`
}

// MainChannel is the id of the one channel every station has.
const MainChannel = "main"

// Find returns the place of a track in a list that is sorted by path.
func Find(tracks []Track, path string) (int, bool) {
	return slices.BinarySearchFunc(tracks, path, func(t Track, p string) int { return strings.Compare(t.Path, p) })
}

// Same reports whether two lists are one: lists of tracks are never changed, but replaced.
func Same(a, b []Track) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
