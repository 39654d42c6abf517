package feed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/filename"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// soundStall is how long a client may take nothing: players whose buffer is full ask again
	// from where they are.
	soundStall = time.Minute
	// mostRanges is how many parts of a file a client may ask for at once: each costs far more
	// than the bytes by which it is asked for (RFC 9110, 14.2).
	mostRanges = 8
)

// audio answers with the sound of an episode, whole or in parts, and counts the download.
func (h *Handler) audio(w http.ResponseWriter, r *http.Request) error {
	show, e, path, err := h.episode(r)
	if err != nil {
		return err
	}
	f, err := os.Open(path) //nolint:gosec // named by the owner
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the sound of an episode: %w", station.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("open the sound of an episode: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("the sound of an episode: %w", station.ErrNotFound)
	}
	head := w.Header()
	head.Set("Content-Type", "audio/mpeg")
	head.Set("ETag", `"`+hash(fmt.Sprintf("%s %d", e.File, info.Size()))+`"`)
	head.Set("Cache-Control", "no-cache") // it may be withdrawn
	if r.URL.Query().Get("download") == "1" {
		head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(show, &e)}))
	}
	if strings.Count(strings.Join(r.Header.Values("Range"), ","), ",") >= mostRanges {
		head.Set("Content-Range", "bytes */"+strconv.FormatInt(info.Size(), 10))
		http.Error(w, "too many ranges: ask for "+strconv.Itoa(mostRanges)+" at once", http.StatusRequestedRangeNotSatisfiable)
		return nil
	}
	sound := h.tell.metered(r, &e, f, info.Size(), func() { h.opt.Shows.Count(show.Slug, e.ID) })
	http.ServeContent(deadline.Writer(w, soundStall), r, "", info.ModTime(), sound)
	return nil
}

// fileName is what an episode is called where it is downloaded.
func fileName(s *podcast.Show, e *podcast.Episode) string {
	title := e.Title
	if e.Number > 0 {
		title = strconv.Itoa(e.Number) + " - " + title
	}
	return filename.Of(s.Title, title, s.Slug+"-"+e.ID, ".mp3")
}

const chaptersType = "application/json+chapters"

// chapters answers with the chapters of an episode
// (https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/examples/chapters/jsonChapters.md).
func (h *Handler) chapters(w http.ResponseWriter, r *http.Request) error {
	show, e, _, err := h.episode(r)
	if err != nil {
		return err
	}
	if len(e.Chapters) == 0 {
		return fmt.Errorf("chapters of an episode: %w", station.ErrNotFound)
	}
	type chapter struct {
		StartTime float64 `json:"startTime"` // seconds
		Title     string  `json:"title"`
	}
	out := struct {
		Version     string    `json:"version"`
		PodcastName string    `json:"podcastName"`
		Title       string    `json:"title"`
		Chapters    []chapter `json:"chapters"`
	}{"1.2.0", name(show.Title), name(e.Title), make([]chapter, 0, len(e.Chapters))}
	for _, ch := range e.Chapters {
		out.Chapters = append(out.Chapters, chapter{float64(ch.StartMS) / 1000, chapterTitle(ch)})
	}
	body, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("write chapters: %w", err)
	}
	small(w, r, chaptersType, body)
	return nil
}

// transcript answers with what is said in an episode, where it is known.
func (h *Handler) transcript(w http.ResponseWriter, r *http.Request) error {
	_, e, _, err := h.episode(r)
	if err != nil {
		return err
	}
	text := clean(e.Text)
	if text == "" {
		return fmt.Errorf("the text of an episode: %w", station.ErrNotFound)
	}
	small(w, r, "text/plain; charset=utf-8", []byte(text))
	return nil
}

// small answers with a file that is made for each request.
func small(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	tag := `"` + hash(string(body)) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache") // it may be withdrawn
	if unchanged(r, tag, time.Now()) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, r, kind, body)
}

// leading is how many bytes the tag before the sound takes (ID3v2.4.0 structure, 3.1): its
// picture is no minute of an episode.
func leading(f io.ReaderAt) int64 {
	var head [10]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:3]) != "ID3" {
		return 0
	}
	size := int64(0)
	for _, b := range head[6:] {
		size = size<<7 | int64(b&0x7f)
	}
	return size + int64(len(head))
}
