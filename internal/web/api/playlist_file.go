package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/athir-radio/athir/internal/kit/deadline"
	"github.com/athir-radio/athir/internal/kit/playlistfile"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// FoundEntry is an entry of a playlist that the library has.
type FoundEntry struct {
	Title string `json:"title" doc:"As the file has it"`
	Path  string `json:"path"`
}

type playlistFileAnswer struct {
	Body struct {
		Entries  int             `json:"entries"`
		Found    []FoundEntry    `json:"found" nullable:"false" doc:"The first 1000"`
		Missing  []lists.Entry   `json:"missing" nullable:"false" doc:"Entries that the library does not have, the first 1000"`
		Matched  int             `json:"matched" doc:"Entries that the library has"`
		Name     string          `json:"name" doc:"That the playlist has, or would have"`
		Playlist *lists.Playlist `json:"playlist,omitempty" doc:"Missing with dry"`
		Deed     *lists.Deed     `json:"deed,omitempty"`
	}
}

const (
	// mostNamed is how many entries of a file are named.
	mostNamed        = 1000
	mostPlaylistFile = 4 << 20
)

func (s *Server) readPlaylist(ctx context.Context, in *struct {
	Name    string `query:"name" maxLength:"255" doc:"Of the file, or of the playlist"`
	Dry     bool   `query:"dry" doc:"Say what would come of it, and change nothing"`
	RawBody []byte `contentType:"application/octet-stream"`
}) (*playlistFileAnswer, error) {
	if len(in.RawBody) > mostPlaylistFile {
		return nil, fmt.Errorf("the file must have %d bytes at most: %w", mostPlaylistFile, station.ErrTooLarge)
	}
	file, err := playlistfile.Read(bytes.NewReader(in.RawBody), in.Name)
	if err != nil {
		return nil, notPlaylist(err)
	}
	if file.Live {
		return nil, notPlaylist(lists.ErrStream)
	}
	paths, left := s.opt.Shelf.Lists.Match(file.Entries)
	out := &playlistFileAnswer{}
	b := &out.Body
	b.Entries, b.Found, b.Missing = len(file.Entries), []FoundEntry{}, left[:min(len(left), mostNamed)]
	var some []string
	for i, p := range paths {
		if p == "" {
			continue
		}
		some = append(some, p)
		if len(b.Found) < mostNamed {
			b.Found = append(b.Found, FoundEntry{cmp.Or(file.Entries[i].Title, path.Base(p)), p})
		}
	}
	b.Matched = len(some)
	base := path.Base(strings.ReplaceAll(in.Name, `\`, "/"))
	b.Name = s.opt.Shelf.Lists.Free(cmp.Or(file.Title, strings.TrimSuffix(base, path.Ext(base))))
	if in.Dry {
		return out, nil
	}
	if len(some) == 0 {
		return nil, at("", station.Wrong("body", "names no track of the library: upload its tracks first", "لا يوجد في المكتبة أي مقطع من هذه القائمة. ارفع المقاطع أولًا"))
	}
	made, err := s.opt.Shelf.Lists.Make(ctx, callerOf(ctx).Who(), lists.Settings{
		Name: b.Name, Kind: lists.Hand, Order: rotation.OrderSequence, Plays: rotation.PlaysClock, On: true,
	}, some)
	if err != nil {
		return nil, at("body.", err)
	}
	b.Playlist, b.Deed, b.Name = made.Playlist, made.Deed, made.Playlist.Name
	return out, nil
}

func (s *Server) exportPlaylist(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return fmt.Errorf("there is no such playlist: %w", station.ErrNotFound)
	}
	format := playlistfile.Format(r.URL.Query().Get("format"))
	switch format {
	case playlistfile.M3U, playlistfile.PLS, playlistfile.XSPF:
	default:
		return fmt.Errorf("format: must be m3u, pls or xspf: %w", station.ErrInvalid)
	}
	p, err := s.opt.Shelf.Lists.Get(id)
	if err != nil {
		return err
	}
	_, _, paths, err := s.opt.Shelf.Lists.Items(id, 0, lists.MostItems)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", format.MediaType())
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="playlist-%d.%s"`, id, format))
	h.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	out, err := playlistfile.NewWriter(deadline.Writer(w, exportStall), format, p.Name)
	if err != nil {
		return err
	}
	for _, path := range paths {
		e := playlistfile.Entry{Location: path}
		if row, there := s.opt.Shelf.Catalog.Row(path); there {
			e.Title, e.Creator, e.Album, e.Duration = row.Title, row.Artist, row.Album, row.Duration
		}
		if err := out.Add(e); err != nil {
			return nil //nolint:nilerr // the client has left
		}
	}
	_ = out.Close() // the client may have left
	return nil
}
