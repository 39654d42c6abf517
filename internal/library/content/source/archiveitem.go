package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// phrases is a field of the Archive, which is missing, a text, a number, or a
// list of them as its uploader pleased. What is none of these is left out.
type phrases []string

// UnmarshalJSON accepts anything.
func (p *phrases) UnmarshalJSON(b []byte) error {
	*p = nil
	var list []json.RawMessage
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	for _, one := range list {
		var s string
		var n json.Number
		switch {
		case bytes.Equal(one, []byte("null")):
		case json.Unmarshal(one, &s) == nil:
			*p = append(*p, s)
		case bytes.Equal(one, []byte("true")), bytes.Equal(one, []byte("false")):
			*p = append(*p, string(one))
		case json.Unmarshal(one, &n) == nil:
			*p = append(*p, n.String())
		}
	}
	return nil
}

func (p phrases) first() string {
	for _, s := range p {
		if s = cleanHTML(s); s != "" {
			return s
		}
	}
	return ""
}

func (p phrases) yes() bool {
	switch strings.ToLower(p.first()) {
	case "true", "1", "yes":
		return true
	}
	return false
}

// archiveItemRecord is an item as the Archive's metadata service describes it:
// https://archive.org/developers/md-record.html
type archiveItemRecord struct {
	Dark     phrases `json:"is_dark"`
	NoLoad   phrases `json:"nodownload"`
	Metadata struct {
		Title      phrases `json:"title"`
		Creator    phrases `json:"creator"`
		License    phrases `json:"licenseurl"`
		Rights     phrases `json:"rights"`
		Uploader   phrases `json:"uploader"`
		Date       phrases `json:"date"`
		Public     phrases `json:"publicdate"`
		Subject    phrases `json:"subject"`
		Restricted phrases `json:"access-restricted-item"`
	} `json:"metadata"`
	Files []archiveFile `json:"files"`
}

type archiveFile struct {
	Name     phrases `json:"name"`
	Source   phrases `json:"source"`
	Original phrases `json:"original"`
	Format   phrases `json:"format"`
	Size     phrases `json:"size"`
	Length   phrases `json:"length"`
	Title    phrases `json:"title"`
	Artist   phrases `json:"artist"`
	Creator  phrases `json:"creator"`
	Album    phrases `json:"album"`
	Genre    phrases `json:"genre"`
	Private  phrases `json:"private"`
}

// open reports an item anybody may hear: neither taken down nor lent.
func (r archiveItemRecord) open() bool {
	return len(r.Files) > 0 && !r.Dark.yes() && !r.NoLoad.yes() && !r.Metadata.Restricted.yes()
}

// name is a file's path within its item, as it is; text fields are cleaned, this
// one is an identity.
func (f archiveFile) name() string {
	if len(f.Name) == 0 || strings.IndexByte(f.Name[0], 0) >= 0 {
		return ""
	}
	return f.Name[0]
}

// worth ranks the Archive's formats for a station that encodes once more:
// lossless first, then by how much was thrown away. 0 is not taken: the small
// previews, and what is no sound.
func (f archiveFile) worth() int {
	format := strings.ToLower(f.Format.first())
	ranks := []string{
		"128kbps mp3", "mp3", "aac", "mpeg-4 audio", "ogg vorbis", "opus", "160kbps mp3", "192kbps mp3", "256kbps mp3", "vbr mp3", "320kbps mp3",
		"apple lossless audio", "aiff", "wave", "24bit flac", "flac",
	}
	if i := slices.Index(ranks, format); i >= 0 {
		return i + 1
	}
	if strings.HasPrefix(format, "64kbps") {
		return 0
	}
	switch strings.ToLower(path.Ext(f.name())) { // a format that is new to us
	case ".mp3", ".ogg", ".opus", ".m4a":
		return 2
	case ".flac", ".wav", ".aiff", ".aif":
		return len(ranks) - 4
	}
	return 0
}

// candidates takes of every recording in the item the best file that is not too
// large: an original and what the Archive derived from it are one recording.
func (a *Archive) candidates(id string, item archiveItemRecord, w Want) []Candidate {
	limit := a.Limit
	if limit <= 0 {
		limit = sizeLimit
	}
	best := map[string]archiveFile{}
	words := map[string]archiveFile{} // the original's, where titles stand
	var order []string
	for _, f := range item.Files {
		recording := f.name()
		if strings.EqualFold(f.Source.first(), "derivative") && len(f.Original) > 0 {
			recording = f.Original[0]
		} else {
			words[recording] = f
		}
		size := integer(f.Size.first())
		if recording == "" || f.name() == "" || f.Private.yes() || f.worth() == 0 || size > limit || size < 0 {
			continue
		}
		before, known := best[recording]
		if !known {
			order = append(order, recording)
		}
		if !known || f.worth() > before.worth() {
			best[recording] = f
		}
	}
	var all []Candidate
	for _, recording := range order {
		if c := a.candidate(id, item, best[recording], words[recording]); c.ID != "" && w.suits(c.Duration) {
			c.Category = w.Category
			all = append(all, c)
		}
	}
	return all
}

func (a *Archive) candidate(id string, item archiveItemRecord, f, original archiveFile) Candidate {
	m := item.Metadata
	either := func(get func(archiveFile) phrases) string {
		return cmp.Or(get(f).first(), get(original).first())
	}
	// The recording is the identity, so that a better format that appears later
	// is no new one.
	identity := original.name()
	if identity == "" {
		identity = f.name()
	}
	artist, title := titleOf(identity)
	c := Candidate{
		Source: NameArchive, ID: shortID(id + "/" + identity), Page: a.base() + "/details/" + url.PathEscape(id),
		URL:   a.base() + "/download/" + url.PathEscape(id) + "/" + escapePath(f.name()),
		Title: cmp.Or(either(func(f archiveFile) phrases { return f.Title }), title),
		Artist: cmp.Or(either(func(f archiveFile) phrases { return f.Artist }), either(func(f archiveFile) phrases { return f.Creator }),
			m.Creator.first(), artist),
		Album:    cmp.Or(either(func(f archiveFile) phrases { return f.Album }), m.Title.first()),
		Genre:    cmp.Or(either(func(f archiveFile) phrases { return f.Genre }), m.Subject.first()),
		License:  cmp.Or(m.License.first(), m.Rights.first()),
		Licensor: cmp.Or(m.Creator.first(), m.Uploader.first()),
		Duration: clock(either(func(f archiveFile) phrases { return f.Length })), Size: max(0, integer(f.Size.first())),
	}
	c.Published = dated(m.Date.first())
	if c.Published.IsZero() {
		c.Published = dated(m.Public.first())
	}
	return c
}

// escapePath escapes every segment of a file's name, and nothing in it leads up.
func escapePath(name string) string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		if part == "." || part == ".." {
			part = strings.ReplaceAll(part, ".", "%2E")
		} else {
			part = url.PathEscape(part)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "/")
}

func dated(s string) time.Time {
	for _, layout := range []string{time.DateOnly, time.DateTime, time.RFC3339, "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

func (a *Archive) any() bool { return slices.Contains(a.Licenses, "any") }

// accepts reports whether one of the stated licences is among those accepted.
func (a *Archive) accepts(stated phrases) bool {
	if a.any() {
		return true
	}
	accepted := a.Licenses
	if len(accepted) == 0 {
		accepted = OpenLicenses()
	}
	return slices.ContainsFunc(stated, func(s string) bool { return slices.Contains(accepted, licenseCode(s)) })
}

// licenseCode reads a Creative Commons address: by-sa of
// https://creativecommons.org/licenses/by-sa/4.0/, zero and publicdomain of those
// for works without rights; empty for any other.
func licenseCode(address string) string {
	u, err := url.Parse(strings.ToLower(strings.TrimSpace(address)))
	if err != nil || strings.TrimPrefix(u.Hostname(), "www.") != "creativecommons.org" {
		return ""
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(parts) >= 2 && parts[0] == "licenses":
		return parts[1] // "publicdomain" too, in an old form
	case len(parts) >= 2 && parts[0] == "publicdomain" && (parts[1] == "zero" || parts[1] == "mark"):
		return map[string]string{"zero": "zero", "mark": "publicdomain"}[parts[1]]
	}
	return ""
}
