package api

import (
	"context"
	"fmt"

	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

type votesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Votes map[string]int `json:"votes" doc:"Sum of votes of each file in the queue that has any"`
	}
}

// votesOf returns the votes for tracks in the queue, by shown path.
func (s *Server) votesOf(air *scheduler.View) map[string]int {
	counts, out := s.opt.Votes.Counts(), map[string]int{}
	for _, e := range air.Left() {
		if n := counts[e.Track.Path]; n != 0 {
			out[asShown(e.Track.Path)] = n
		}
	}
	return out
}

func (s *Server) votes(context.Context, *struct{}) (*votesAnswer, error) {
	out := &votesAnswer{CacheControl: "no-store"}
	out.Body.Votes = s.votesOf(s.opt.Air())
	return out, nil
}

type voteInput struct {
	Listener
	Body struct {
		File     string `json:"file,omitempty" maxLength:"16384" doc:"Of an entry of the queue"`
		Position *int   `json:"position,omitempty" minimum:"0" doc:"Of the same entry, as in /api/upnext; one of the two is enough"`
		Delta    int    `json:"delta" enum:"1,0,-1" doc:"0 takes the vote back"`
	}
}

type voteAnswer struct {
	Body struct {
		Votes map[string]int `json:"votes" doc:"Sum of votes of each file in the queue that has any"`
		File  string         `json:"file"`
		Delta int            `json:"delta" doc:"This listener's vote for it"`
	}
}

func (s *Server) vote(ctx context.Context, in *voteInput) (*voteAnswer, error) {
	path, err := queued(s.opt.Air(), in.Body.File, in.Body.Position)
	if err != nil {
		return nil, err
	}
	if err := s.opt.Votes.Cast(ctx, in.from, path, in.Body.Delta); err != nil {
		return nil, err
	}
	s.voted.Add(1)
	out := &voteAnswer{}
	out.Body.Votes, out.Body.File, out.Body.Delta = s.votesOf(s.opt.Air()), asShown(path), in.Body.Delta
	return out, nil
}

// queued returns the path of an entry of the queue.
func queued(air *scheduler.View, file string, position *int) (string, error) {
	all := air.Rotation.Entries
	from := min(air.Consumed, len(all))
	if position == nil {
		if file == "" {
			return "", fieldError("body", "must contain file or position")
		}
		for _, e := range all[from:] {
			if asShown(e.Track.Path) == file {
				return e.Track.Path, nil
			}
		}
		return "", fmt.Errorf("%q in the queue: %w", cut(file), station.ErrNotFound)
	}
	if *position < from || *position >= len(all) {
		return "", fmt.Errorf("position %d in the queue: %w", *position, station.ErrNotFound)
	}
	path := all[*position].Track.Path
	if file != "" && asShown(path) != file {
		return "", fmt.Errorf("another track is at position %d now: %w", *position, station.ErrConflict)
	}
	return path, nil
}
