package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/station"
)

const (
	ytdlpSearch  = 90 * time.Second // one search
	ytdlpFetch   = 15 * time.Minute // one file
	ytdlpLongest = 90 * time.Minute
	ytdlpJSON    = 16 << 20 // bytes of a program's answer
	// ytdlpMost bounds the results asked for of one term, and ytdlpTerms the terms
	// of one search: each is a request to a service that counts them.
	ytdlpMost  = 20
	ytdlpTerms = 10
)

// YTDLP is yt-dlp, if the operator has installed it and set it in the settings. The
// operator is responsible for what it fetches; the licence that a page states is
// recorded.
//
// The program resolves names and follows links by itself, so it runs with
// fetch.Client's doorway as its proxy: it reaches nothing that the client may not
// reach. It reads no configuration, plug-in, cookie or password file of the user,
// runs no other program, and writes into the work folder under a name that holds
// nothing from outside.
type YTDLP struct {
	Client  *fetch.Client // required
	Program string        // name or path; empty: the operator does not want it
	Limit   int64         // largest file in bytes; 200 MB when 0
}

// Name is NameYTDLP.
func (y *YTDLP) Name() string { return NameYTDLP }

// Search searches for the singers and queries, and lists the playlists and
// channels whose addresses stand among the queries.
func (y *YTDLP) Search(ctx context.Context, w Want) ([]Candidate, error) {
	if err := y.available(); err != nil {
		return nil, err
	}
	if w.Target <= 0 || w.Category == "" {
		return nil, nil
	}
	var found []Candidate
	var failed []error
	seen := map[string]bool{}
	for _, term := range ytdlpTargets(w) {
		listed, err := y.list(ctx, term, w)
		failed = append(failed, err)
		for _, c := range listed {
			if !seen[c.ID] && w.suits(c.Duration) && !w.known(NameYTDLP, c.ID) {
				seen[c.ID] = true
				found = append(found, c)
			}
		}
		if ctx.Err() != nil {
			return found[:min(len(found), w.Target)], context.Cause(ctx)
		}
		if len(found) >= w.Target || len(compact(failed)) >= 2 {
			break
		}
	}
	return found[:min(len(found), w.Target)], errors.Join(compact(failed)...)
}

// available fails when yt-dlp cannot run, and names the remedy.
func (y *YTDLP) available() error {
	if y.Program == "" {
		return fmt.Errorf("%w: yt-dlp is not set up: install it (apt-get install yt-dlp, or a newer one from its project) and set its path in the settings", station.ErrUnavailable)
	}
	if _, err := proc.Look(y.Program); err != nil {
		return fmt.Errorf("%w: %w", station.ErrUnavailable, err)
	}
	return nil
}

// ytdlpTargets are what the program is given: searches, which never look like an
// option or an address, and addresses.
func ytdlpTargets(w Want) (all []string) {
	most := strconv.Itoa(min(ytdlpMost, max(5, 2*w.Target)))
	for _, q := range slices.Concat(w.Singers, w.Queries) {
		if address(q) {
			all = append(all, q)
		} else if words := Clean(q); words != "" {
			all = append(all, "ytsearch"+most+":"+words)
		}
	}
	return all[:min(len(all), ytdlpTerms)]
}

// common are the arguments of every run.
func (y *YTDLP) common(proxy string) []string {
	return []string{
		"--ignore-config", "--no-config-locations", "--no-cache-dir", "--no-cookies", "--no-cookies-from-browser", "--no-batch-file",
		"--no-exec", "--no-playlist", "--no-warnings",
		"--proxy=" + proxy, "--socket-timeout=15", "--retries=3", "--fragment-retries=3", "--extractor-retries=2",
	}
}

// run runs the program behind a doorway.
func (y *YTDLP) run(ctx context.Context, limit time.Duration, bytes int64, dir string, args func(common []string) []string, spec proc.Spec, do func(proc.Spec) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("yt-dlp: gave no answer within %s", limit))
	defer cancel()
	return y.Client.Doorway(ctx, bytes, func(proxy string) error {
		spec.Name, spec.Path, spec.Dir, spec.Nice = "yt-dlp", y.Program, dir, 10
		spec.Args = args(y.common(proxy))
		// Its own home is the work folder: no plug-ins, netrc or cache of the
		// user's. An exception for the proxy in the environment would go past it.
		spec.Env = []string{
			"HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "YTDLP_NO_PLUGINS=1", "PYTHONNOUSERSITE=1", "PYTHONPATH=",
			"no_proxy=", "NO_PROXY=", "PYTHONIOENCODING=utf-8",
		}
		err := do(spec)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	})
}

// list asks what a search or an address holds, without fetching any of it.
func (y *YTDLP) list(ctx context.Context, target string, w Want) ([]Candidate, error) {
	if address(target) {
		u, err := y.Client.Check(target)
		if err != nil {
			return nil, err
		}
		target = u.String()
	}
	args := func(common []string) []string {
		return append(common, "--dump-single-json", "--flat-playlist", "--yes-playlist", "--playlist-items=1:"+strconv.Itoa(ytdlpMost), "--", target)
	}
	var out []byte
	err := inFolder(func(dir string) error {
		return y.run(ctx, ytdlpSearch, ytdlpJSON*4, dir, args, proc.Spec{}, func(spec proc.Spec) (err error) {
			out, err = proc.Output(ctx, spec, ytdlpJSON)
			return err
		})
	})
	if err != nil {
		return nil, ytdlpError(err)
	}
	var answer ytdlpInfo
	if err := json.Unmarshal(bytes.TrimSpace(out), &answer); err != nil {
		return nil, errors.New("yt-dlp: its answer is not JSON: update yt-dlp")
	}
	entries := answer.Entries
	if answer.Type != "playlist" && len(entries) == 0 {
		entries = []*ytdlpInfo{&answer}
	}
	var found []Candidate
	for _, e := range entries {
		if c, ok := y.candidate(e); ok {
			c.Category = w.Category
			found = append(found, c)
		}
	}
	return found, nil
}

// ytdlpInfo is what the program knows of one thing it can fetch. Every field may
// be missing or null.
type ytdlpInfo struct {
	Type       string       `json:"_type"`
	Entries    []*ytdlpInfo `json:"entries"`
	ID         string       `json:"id"`
	Extractor  string       `json:"extractor_key"`
	Key        string       `json:"ie_key"`
	URL        string       `json:"url"`
	Page       string       `json:"webpage_url"`
	Title      string       `json:"title"`
	Track      string       `json:"track"`
	Artist     string       `json:"artist"`
	Creator    string       `json:"creator"`
	Uploader   string       `json:"uploader"`
	Channel    string       `json:"channel"`
	Album      string       `json:"album"`
	Genre      string       `json:"genre"`
	License    string       `json:"license"`
	Duration   float64      `json:"duration"`
	Size       float64      `json:"filesize"`
	About      float64      `json:"filesize_approx"`
	UploadDate string       `json:"upload_date"`
	LiveStatus string       `json:"live_status"`
	Live       bool         `json:"is_live"`
	Access     string       `json:"availability"`
}

// candidate makes one of an entry; lives, and what needs a login, are none.
func (y *YTDLP) candidate(e *ytdlpInfo) (Candidate, bool) {
	if e == nil || e.ID == "" || e.Live || e.Type == "playlist" || e.LiveStatus == "is_live" || e.LiveStatus == "is_upcoming" {
		return Candidate{}, false
	}
	switch e.Access {
	case "", "public", "unlisted":
	default:
		return Candidate{}, false
	}
	at := cmp.Or(e.Page, e.URL)
	u, err := y.Client.Check(at)
	if err != nil {
		return Candidate{}, false
	}
	site := strings.ToLower(cmp.Or(e.Extractor, e.Key, u.Hostname()))
	id := site + ":" + e.ID
	if site == "generic" || site == "html5mediaembed" { // its id is only the file's name
		id = u.String()
	}
	c := Candidate{Source: NameYTDLP, ID: shortID(id), URL: u.String()}
	return c.fill(e), true
}

// fill adds an entry's values.
func (c Candidate) fill(e *ytdlpInfo) Candidate {
	or := func(texts ...string) string {
		for _, s := range texts {
			if s = cleanHTML(s); s != "" {
				return s
			}
		}
		return ""
	}
	c.Page = or(page(e.Page), page(c.URL))
	c.Title = or(e.Track, e.Title, c.Title)
	c.Artist = or(e.Artist, e.Creator, c.Artist, e.Channel, e.Uploader)
	c.Album, c.Genre, c.License = or(e.Album, c.Album), or(e.Genre, c.Genre), or(e.License, c.License)
	c.Licensor = or(e.Channel, e.Uploader, c.Licensor, hostOf(c.URL))
	if e.Duration > 0 && e.Duration < 1e6 {
		c.Duration = time.Duration(math.Round(e.Duration*1000)) * time.Millisecond
	}
	if size := max(e.Size, e.About); size > 0 && size < 1e12 {
		c.Size = int64(size)
	}
	if at, err := time.Parse("20060102", e.UploadDate); err == nil {
		c.Published = at
	}
	return c
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Settle does nothing.
func (y *YTDLP) Settle(context.Context, Candidate, Outcome) error { return nil }

// ytdlpError makes an error of the program's message, without secrets of addresses. It
// is lasting if trying again will not help.
func ytdlpError(err error) error {
	message := err.Error()
	for _, word := range []string{"Unsupported URL", "Private video", "Video unavailable", "has been removed", "copyright", "account associated with this video has been terminated", "members-only", "confirm your age"} {
		if strings.Contains(message, word) {
			return lasting{errors.New(cleanMessage(message))}
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.New(cleanMessage(message))
}

// cleanMessage redacts addresses within a program's words.
func cleanMessage(s string) string {
	words := strings.Fields(s)
	for i, word := range words {
		if strings.Contains(word, "://") {
			words[i] = fetch.Redact(strings.Trim(word, `'"()[]<>,;`))
		}
	}
	return Clean(strings.Join(words, " "))
}
