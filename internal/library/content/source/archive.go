package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
)

const (
	archiveBase  = "https://archive.org"
	archiveRows  = 50 // items asked for at a time
	archivePages = 3  // asked for of one term
	// archiveTerms bounds the terms of one search.
	archiveTerms = 30
	// archiveItem is how many files of one item a search takes, so that one album
	// does not fill a refresh. The others come with later ones.
	archiveItem = 3
	// archiveRest is how long an item with nothing new is not asked about again.
	archiveRest = 24 * time.Hour
	// archiveMost bounds the items remembered for that.
	archiveMost = 20_000
)

// Archive is the open audio of the Internet Archive (archive.org), found by the
// category's singers and trend queries. Only items with a licence that lets a
// station air them are taken, unless the operator says otherwise.
type Archive struct {
	Client *fetch.Client // required
	Base   string        // address of the service; https://archive.org when empty
	// Licenses are those accepted: Creative Commons codes ("by", "by-sa",
	// "by-nc-nd"…), "zero", "publicdomain". OpenLicenses when empty; "any" accepts
	// items that state none as well.
	Licenses []string
	Limit    int64 // largest file in bytes; 200 MB when 0

	mu    sync.Mutex
	empty map[string]time.Time // items with nothing new, and since when
}

// OpenLicenses are those that let anybody air and sell: public domain, CC0,
// attribution, and attribution with share-alike. A station that earns nothing
// may add those with "nc".
func OpenLicenses() []string { return []string{"publicdomain", "zero", "by", "by-sa"} }

// Name is NameArchive.
func (a *Archive) Name() string { return NameArchive }

// Search asks for one term after the other, singers first, until there is enough.
func (a *Archive) Search(ctx context.Context, w Want) ([]Candidate, error) {
	if w.Target <= 0 || w.Category == "" {
		return nil, nil
	}
	var found []Candidate
	var failed []error
	seen := map[string]bool{}
	for _, query := range terms(w) {
		for page := 1; page <= archivePages && len(found) < w.Target; page++ {
			docs, more, err := a.items(ctx, query, page)
			if err != nil {
				failed = append(failed, err)
				break
			}
			for _, doc := range docs {
				if seen[doc.id()] || len(found) >= w.Target {
					continue
				}
				seen[doc.id()] = true
				files, err := a.consider(ctx, doc, w)
				failed = append(failed, err)
				found = append(found, files...)
			}
			if ctx.Err() != nil {
				return found[:min(len(found), w.Target)], context.Cause(ctx)
			}
			if !more {
				break
			}
		}
		if len(found) >= w.Target || len(compact(failed)) >= 3 { // it has a bad day
			break
		}
	}
	return found[:min(len(found), w.Target)], errors.Join(compact(failed)...)
}

func compact(all []error) (some []error) {
	for _, err := range all {
		if err != nil {
			some = append(some, err)
		}
	}
	return some
}

// terms are the searches for w, in the Archive's query language.
func terms(w Want) (all []string) {
	for _, s := range w.Singers {
		if q := quoted(s); q != "" {
			all = append(all, "(creator:"+q+" OR title:"+q+" OR subject:"+q+")")
		}
	}
	for _, s := range w.Queries {
		var words []string
		for word := range strings.FieldsSeq(Clean(s)) {
			if q := quoted(word); q != "" && len(words) < 12 {
				words = append(words, q)
			}
		}
		if len(words) > 0 && !address(s) {
			all = append(all, "("+strings.Join(words, " AND ")+")")
		}
	}
	return all[:min(len(all), archiveTerms)]
}

// quoted makes a phrase that holds no operator of the query language.
func quoted(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' {
			return ' '
		}
		return r
	}, Clean(s))), " ")
	if s == "" {
		return ""
	}
	return `"` + s + `"`
}

// archiveDoc is an item as a search lists it.
type archiveDoc struct {
	ID      phrases `json:"identifier"`
	License phrases `json:"licenseurl"`
}

func (d archiveDoc) id() string {
	if len(d.ID) == 0 || !validItem(d.ID[0]) {
		return ""
	}
	return d.ID[0]
}

// items asks for a page of items. more says that there may be another.
func (a *Archive) items(ctx context.Context, query string, page int) (docs []archiveDoc, more bool, _ error) {
	q := "mediatype:audio AND " + query + " AND NOT access-restricted-item:true"
	if !a.any() {
		q += " AND licenseurl:*creativecommons*"
	}
	v := url.Values{
		"q": {q}, "fl[]": {"identifier", "licenseurl"}, "sort[]": {"downloads desc"},
		"rows": {strconv.Itoa(archiveRows)}, "page": {strconv.Itoa(page)}, "output": {"json"},
	}
	var answer struct {
		Error    json.RawMessage `json:"error"`
		Response *struct {
			Docs []archiveDoc `json:"docs"`
		} `json:"response"`
	}
	if err := a.ask(ctx, "/advancedsearch.php?"+v.Encode(), &answer); err != nil {
		return nil, false, err
	}
	if answer.Response == nil {
		return nil, false, fmt.Errorf("archive.org: search answered with an error: %s", Clean(string(answer.Error)))
	}
	docs = answer.Response.Docs
	return docs, len(docs) >= archiveRows, nil
}

// ask fetches JSON. A page in its place means that the service is in trouble.
func (a *Archive) ask(ctx context.Context, path string, into any) error {
	d, err := a.Client.Document(ctx, fetch.Request{URL: a.base() + path, Accept: "application/json", Limit: 16 << 20})
	if err != nil {
		return fmt.Errorf("archive.org: %w", err)
	}
	if err := json.Unmarshal(d.Body, into); err != nil {
		return fmt.Errorf("archive.org: the answer is not JSON; the site may be down for a while")
	}
	return nil
}

func (a *Archive) base() string {
	if a.Base == "" {
		return archiveBase
	}
	return strings.TrimRight(a.Base, "/")
}

// consider looks into one item for files that suit w.
func (a *Archive) consider(ctx context.Context, doc archiveDoc, w Want) ([]Candidate, error) {
	id := doc.id()
	if id == "" || len(doc.License) > 0 && !a.accepts(doc.License) || a.resting(id) {
		return nil, nil
	}
	var item archiveItemRecord
	if err := a.ask(ctx, "/metadata/"+url.PathEscape(id), &item); err != nil {
		return nil, err
	}
	var fresh []Candidate
	if item.open() && a.accepts(item.Metadata.License) {
		for _, c := range a.candidates(id, item, w) {
			if !w.known(NameArchive, c.ID) && len(fresh) < archiveItem {
				fresh = append(fresh, c)
			}
		}
	}
	if len(fresh) == 0 {
		a.rest(id)
	}
	return fresh, nil
}

// validItem knows the Archive's identifiers.
func validItem(id string) bool {
	return id != "" && len(id) <= 200 && !strings.HasPrefix(id, ".") &&
		strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") == ""
}

func (a *Archive) resting(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	since, ok := a.empty[id]
	return ok && time.Since(since) < archiveRest
}

func (a *Archive) rest(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.empty == nil || len(a.empty) >= archiveMost {
		a.empty = map[string]time.Time{}
	}
	a.empty[id] = time.Now()
}

// Fetch downloads the file. The Archive redirects to the machine that holds it.
func (a *Archive) Fetch(ctx context.Context, c Candidate, dir string, progress func(done, total int64)) (Fetched, error) {
	_, file, err := bring(ctx, a.Client.File, c, dir, a.Limit, progress)
	if err != nil {
		return Fetched{}, err
	}
	return Fetched{File: file, Candidate: c}, nil
}

// Settle does nothing.
func (a *Archive) Settle(context.Context, Candidate, Outcome) error { return nil }
