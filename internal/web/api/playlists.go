package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/library/catalog"
	"github.com/athir-radio/athir/internal/library/lists"
	"github.com/athir-radio/athir/internal/station"
)

// playlists returns the rows of playlists of the operator's own. None is in the mission.
func (s *Server) playlists() []route {
	const at = "/api/station/playlists"
	return []route{
		{get, at, looks, operating, "Playlists of the operator's own, by name", typed(s.allPlaylists)},
		{post, at, programmes, operating, "Make a playlist", typed(s.makePlaylist, may(503))},
		{post, at + "/file", programmes, sending, "Make a playlist of a file: M3U, PLS or XSPF, 4 MiB at most", typed(s.readPlaylist, may(413, 503))},
		{get, at + "/deeds", inside, operating, "What was done to playlists, by whom, the newest first", typed(s.playlistDeeds)},
		{post, at + "/deeds/{id}/undo", programmes, operating, "Take a deed back, unless what it changed was changed again since", typed(s.undoPlaylist, may(404, 409, 503))},
		{get, at + "/{id}", looks, operating, "A playlist", typed(s.playlist, may(404))},
		{put, at + "/{id}", programmes, operating, "Set what is said of a playlist", typed(s.setPlaylist, may(404, 409, 503))},
		{http.MethodDelete, at + "/{id}", programmes, operating, "Delete a playlist that no hour clock asks for; its tracks stay in the library", typed(s.deletePlaylist, may(404, 409, 503))},
		{get, at + "/{id}/items", looks, operating, "The tracks of a playlist, in order: a part", typed(s.playlistItems, may(404))},
		{http.MethodPatch, at + "/{id}/items", programmes, operating, "Add, remove, move or sort the tracks of a playlist by hand", typed(s.editPlaylist, may(404, 409, 503))},
		{post, at + "/{id}/refresh", programmes, heavy, "Fetch a remote playlist now", typed(s.refreshPlaylist, may(404, 503))},
		{get, at + "/{id}/export", inside, searching, "A playlist as a file", raw(s.exportPlaylist, exportedPlaylist)},
	}
}

type playlistsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Playlists []lists.Playlist `json:"playlists" nullable:"false"`
	}
}

// shownPlaylist is one for whoever asks: addresses may hold what only operators may know.
func shownPlaylist(ctx context.Context, p lists.Playlist) lists.Playlist {
	if forOperator(ctx) {
		return p
	}
	if p.Address != "" {
		p.Address = fetch.Redact(p.Address)
	}
	if p.Problem != nil {
		p.Problem = &lists.Problem{En: p.Problem.En, Ar: p.Problem.Ar}
		veil(&p.Problem.En)
	}
	return p
}

func (s *Server) allPlaylists(ctx context.Context, _ *struct{}) (*playlistsAnswer, error) {
	out := &playlistsAnswer{CacheControl: "no-store"}
	out.Body.Playlists = []lists.Playlist{}
	for _, p := range s.opt.Shelf.Lists.All() {
		out.Body.Playlists = append(out.Body.Playlists, shownPlaylist(ctx, p))
	}
	return out, nil
}

type playlistAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Playlist lists.Playlist `json:"playlist"`
	}
}

// PlaylistID names a playlist.
type PlaylistID struct {
	ID int64 `path:"id" minimum:"1"`
}

func (s *Server) playlist(ctx context.Context, in *PlaylistID) (*playlistAnswer, error) {
	p, err := s.opt.Shelf.Lists.Get(in.ID)
	if err != nil {
		return nil, err
	}
	out := &playlistAnswer{CacheControl: "no-store"}
	out.Body.Playlist = shownPlaylist(ctx, p)
	return out, nil
}

type playlistDone struct {
	Body struct {
		Playlist *lists.Playlist `json:"playlist,omitempty" doc:"Missing where it is deleted"`
		Deed     *lists.Deed     `json:"deed,omitempty" doc:"Missing where nothing was to be changed"`
		Added    int             `json:"added" doc:"Tracks"`
		Refused  []lists.Refused `json:"refused" nullable:"false" doc:"Tracks that were left out, and why"`
	}
}

func donePlaylist(out lists.Outcome, err error) (*playlistDone, error) {
	if err != nil {
		return nil, at("body.", err)
	}
	answer := &playlistDone{}
	answer.Body.Playlist, answer.Body.Deed, answer.Body.Added, answer.Body.Refused = out.Playlist, out.Deed, out.Added, append([]lists.Refused{}, out.Refused...)
	return answer, nil
}

func (s *Server) makePlaylist(ctx context.Context, in *struct {
	Body struct {
		lists.Settings
		Paths []string `json:"paths,omitempty" maxItems:"10000" doc:"Tracks of one by hand"`
	}
}) (*playlistDone, error) {
	if len(in.Body.Paths) > 0 && in.Body.Kind != lists.Hand {
		return nil, fieldError("body.paths", "belong to a playlist by hand")
	}
	return donePlaylist(s.opt.Shelf.Lists.Make(ctx, callerOf(ctx).Who(), in.Body.Settings, in.Body.Paths))
}

func (s *Server) setPlaylist(ctx context.Context, in *struct {
	PlaylistID
	Body struct {
		lists.Settings
		Version int64 `json:"version" doc:"That it is of"`
	}
}) (*playlistDone, error) {
	return donePlaylist(s.opt.Shelf.Lists.Set(ctx, callerOf(ctx).Who(), in.ID, in.Body.Version, in.Body.Settings))
}

func (s *Server) deletePlaylist(ctx context.Context, in *PlaylistID) (*playlistDone, error) {
	return donePlaylist(s.opt.Shelf.Lists.Delete(ctx, callerOf(ctx).Who(), in.ID))
}

// PlaylistItem is one place of a playlist.
type PlaylistItem struct {
	Place   int         `json:"place"`
	Path    string      `json:"path"`
	Missing bool        `json:"missing" doc:"The library has no such file"`
	Track   *ShelfTrack `json:"track,omitempty"`
}

type itemsAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Version int64          `json:"version" doc:"Of the playlist"`
		Total   int            `json:"total"`
		Items   []PlaylistItem `json:"items" nullable:"false"`
	}
}

func (s *Server) playlistItems(ctx context.Context, in *struct {
	PlaylistID
	Offset int `query:"offset" minimum:"0"`
	Limit  int `query:"limit" minimum:"1" maximum:"200" default:"100"`
}) (*itemsAnswer, error) {
	version, total, paths, err := s.opt.Shelf.Lists.Items(in.ID, in.Offset, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &itemsAnswer{CacheControl: "no-store"}
	out.Body.Version, out.Body.Total, out.Body.Items = version, total, []PlaylistItem{}
	for i, path := range paths {
		item := PlaylistItem{Place: in.Offset + i, Path: path}
		if row, there := s.opt.Shelf.Catalog.Row(path); there {
			track := shelfTrack(ctx, row)
			item.Track = &track
		} else {
			item.Missing = true
		}
		out.Body.Items = append(out.Body.Items, item)
	}
	return out, nil
}

// playlistEdit is lists.Edit, of which a search may name what is added.
type playlistEdit struct {
	Version int64 `json:"version" doc:"Of the playlist that is changed"`
	Add     *struct {
		Paths []string       `json:"paths,omitempty" maxItems:"10000" doc:"Relative to the media folder; or query"`
		Query *catalog.Query `json:"query,omitempty" doc:"All tracks that match, in the order of the search"`
		At    *int           `json:"at,omitempty" minimum:"0" doc:"The place of the first; without: at the end"`
	} `json:"add,omitempty"`
	Remove *lists.Some `json:"remove,omitempty"`
	Move   *lists.Move `json:"move,omitempty"`
	Sort   string      `json:"sort,omitempty" enum:"title,artist,album,duration,path,shuffle"`
}

func (s *Server) editPlaylist(ctx context.Context, in *struct {
	PlaylistID
	Body playlistEdit
}) (*playlistDone, error) {
	edit := lists.Edit{Remove: in.Body.Remove, Move: in.Body.Move, Sort: in.Body.Sort}
	if add := in.Body.Add; add != nil {
		paths := add.Paths
		switch {
		case (len(paths) > 0) == (add.Query != nil):
			return nil, fieldError("body.add", "send paths or a query, one of the two")
		case add.Query != nil:
			err := s.opt.Shelf.Catalog.Each(*add.Query, func(r catalog.Row) bool {
				paths = append(paths, r.Path)
				return len(paths) <= lists.MostItems
			})
			if err != nil {
				return nil, err
			}
		}
		edit.Add = &lists.Add{Paths: paths, At: add.At}
	}
	return donePlaylist(s.opt.Shelf.Lists.Edit(ctx, callerOf(ctx).Who(), in.ID, in.Body.Version, edit))
}

func (s *Server) refreshPlaylist(ctx context.Context, in *PlaylistID) (*playlistAnswer, error) {
	p, err := s.opt.Shelf.Lists.Refresh(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &playlistAnswer{CacheControl: "no-store"}
	out.Body.Playlist = p
	return out, nil
}

type playlistDeeds struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Deeds []lists.Deed `json:"deeds" nullable:"false"`
	}
}

func (s *Server) playlistDeeds(ctx context.Context, in *struct {
	List   int64 `query:"list" minimum:"0" doc:"Of one playlist; without: of all"`
	Before int64 `query:"before" minimum:"0" doc:"Id: those before it"`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*playlistDeeds, error) {
	all, err := s.opt.Shelf.Lists.Deeds(ctx, in.List, in.Before, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &playlistDeeds{CacheControl: "no-store"}
	out.Body.Deeds = all
	return out, nil
}

func (s *Server) undoPlaylist(ctx context.Context, in *struct {
	ID int64 `path:"id" minimum:"1"`
}) (*playlistDone, error) {
	return donePlaylist(s.opt.Shelf.Lists.Undo(ctx, callerOf(ctx).Who(), in.ID))
}

// exportedPlaylist documents the export.
func exportedPlaylist(op *huma.Operation) {
	asks("path", "id", "", huma.Schema{Type: huma.TypeInteger})(op)
	asks("query", "format", "", huma.Schema{Type: huma.TypeString, Enum: []any{"m3u", "pls", "xspf"}})(op)
	gives(http.StatusOK, "audio/x-mpegurl", "audio/x-scpls", "application/xspf+xml")(op)
	may(http.StatusNotFound, http.StatusUnprocessableEntity)(op)
}

// notPlaylist says that a file cannot be read as one.
func notPlaylist(err error) error {
	return at("", station.Wrong("body", fmt.Sprintf("is no playlist: %v", err), "هذا الملف ليس قائمة تشغيل مقروءة (M3U أو PLS أو XSPF)"))
}
