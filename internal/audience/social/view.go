package social

import (
	"fmt"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

// Shown is what everybody may see of an approved post, and what others see of a post
// besides.
type Shown struct {
	ID          int64          `json:"id"`
	Type        Type           `json:"type" enum:"song,mashup,ads,jingles,sweepers,voice,sfx"`
	Category    string         `json:"category" doc:"In which it airs"`
	Title       string         `json:"title"`
	Artist      string         `json:"artist"`
	Description string         `json:"description"`
	Tags        []string       `json:"tags"`
	CreatedBy   string         `json:"createdBy" doc:"The name that the submitter gave"`
	Status      Status         `json:"status" enum:"pending,processing,approved,rejected,failed"`
	CreatedAt   int64          `json:"createdAt" doc:"Epoch milliseconds, as all times; 0 for never"`
	ApprovedAt  int64          `json:"approvedAt"`
	Duration    int64          `json:"duration" doc:"Milliseconds; 0 until it is mastered"`
	Votes       ShownVotes     `json:"votes"`
	Reactions   map[string]int `json:"reactions" doc:"Listeners by kind: like, love, fire, laugh, wow, sad"`
	Reacted     []string       `json:"reacted,omitempty" doc:"What this listener has reacted with"`
	Plays       int            `json:"plays" doc:"How often it has aired, by the play history"`
	LastPlayed  int64          `json:"lastPlayedAt"`
	Score       ShownScore     `json:"score"`

	Candidate *ShownCandidate `json:"candidate,omitempty" doc:"Of music that no moderator has judged yet and listeners vote on: how far it is"`
	Page      string          `json:"page" doc:"Path of the post's own page"`
	Audio     string          `json:"audio" doc:"Path of the mastered file; empty until there is one"`
	Cover     string          `json:"cover" doc:"Path of the cover picture; empty if there is none"`
}

// ShownVotes are the votes on a post.
type ShownVotes struct {
	Up   int  `json:"up"`
	Down int  `json:"down"`
	Mine *int `json:"mine,omitempty" doc:"This listener's own: 1, -1, or 0 for none; missing in events"`
}

// ShownScore is a post's score by its parts, whose sum the total is: see docs/ranking.md.
type ShownScore struct {
	Total       float64 `json:"total"`
	Quality     float64 `json:"quality" doc:"From the weighed votes"`
	Exploration float64 `json:"exploration" doc:"For having aired little"`
	Freshness   float64 `json:"freshness" doc:"For having been approved lately"`
	Reactions   float64 `json:"reactions" doc:"For reactions per play"`
	VotesUp     float64 `json:"votesUp" doc:"Votes up as they are weighed: many from one network count less"`
	VotesDown   float64 `json:"votesDown"`
}

// PageOf is the path of a post's own page.
func PageOf(id int64) string { return fmt.Sprintf("/social.html?post=%d", id) }

// Show returns the view of a post.
func (s *Social) Show(p *Post) Shown {
	air, parts := s.Airing(p), s.Score(p)
	out := Shown{
		ID: p.ID, Type: p.Type, Category: string(p.Type.Category()), Title: p.Title, Artist: p.Artist, Description: p.Description, Tags: p.Tags,
		CreatedBy: p.CreatedBy, Status: p.Status, CreatedAt: p.Created, ApprovedAt: p.Approved, Duration: p.Duration.Milliseconds(),
		Votes: ShownVotes{Up: p.Votes.Up, Down: p.Votes.Down}, Reactions: p.Reactions, Plays: air.Plays, Score: scoreOf(parts, p.Votes), Page: PageOf(p.ID),
		Candidate: s.progress(p),
	}
	if !air.Last.IsZero() {
		out.LastPlayed = air.Last.UnixMilli()
	}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	if out.Reactions == nil {
		out.Reactions = map[string]int{}
	}
	if p.mastered() {
		out.Audio = fmt.Sprintf("/api/social/posts/%d/audio", p.ID)
	}
	if p.Cover != "" {
		out.Cover = fmt.Sprintf("/api/social/posts/%d/cover", p.ID)
	}
	return out
}

func scoreOf(p rank.Parts, v Votes) ShownScore {
	return ShownScore{p.Total, p.Quality, p.Exploration, p.Freshness, p.Reactions, v.WeighedUp, v.WeighedDown}
}
