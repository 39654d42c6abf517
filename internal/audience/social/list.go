package social

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/audience/social/refusal"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// Sort is an order of a list.
type Sort string

// The orders: newest approval first, best score, most new votes against its own past, last
// aired first.
const (
	ByNew    Sort = "new"
	ByTop    Sort = "top"
	ByRising Sort = "rising"
	ByAired  Sort = "aired"

	byRank Sort = "rank" // as the overlay has them
)

// Query selects posts of a list.
type Query struct {
	Status Status // Approved when empty
	Type   Type   // any when empty
	Sort   Sort   // ByNew when empty; the others are of approved posts
	Reason refusal.Code
	Text   string // in title, artist or name, folded
	// Candidates selects the posts that are put to listeners' vote, in place of Status.
	Candidates bool
	Appeal     bool   // only those with an appeal
	Oldest     bool   // of posts that are not approved: oldest first
	By         string // submitter; any when empty
	Cursor     string // of the page before
	Limit      int    // 50 when 0
}

// Page is a part of a list.
type Page struct {
	Posts []Post
	Next  string // Cursor of the next page; empty: this is the last one
	Total int    // posts in the whole list
}

const usualPage, longestPage = 50, 200

// List returns a page of posts. A cursor names the place after a post, so that what comes
// and goes meanwhile neither repeats nor hides the others. Errors: station.ErrInvalid.
func (s *Social) List(ctx context.Context, q Query) (Page, error) {
	switch {
	case q.Candidates && s.opt.ApproveVotes == 0:
		return Page{Posts: []Post{}}, nil
	case q.Candidates:
		q.Status = Pending
	case q.Status == "":
		q.Status = Approved
	}
	if q.Limit <= 0 {
		q.Limit = usualPage
	}
	q.Limit = min(q.Limit, longestPage)
	if q.Status == Approved && !q.Appeal && q.Reason == "" {
		return s.listApproved(q)
	}
	return s.listOthers(ctx, q)
}

func (s *Social) listApproved(q Query) (Page, error) {
	if q.Sort == "" {
		q.Sort = ByNew
	}
	from, after, err := placeOf(q.Cursor)
	if err != nil {
		return Page{}, err
	}
	var hits []*Post
	text := rotation.Fold(q.Text)
	for _, p := range s.board.Load().order[q.Sort] {
		if (q.Type == "" || p.Type == q.Type) && (q.By == "" || p.Submitter == q.By) && (text == "" || strings.Contains(p.folded, text)) {
			hits = append(hits, p)
		}
	}
	start := min(from, len(hits))
	for i, p := range hits {
		if p.ID == after {
			start = i + 1
			break
		}
	}
	out := Page{Posts: []Post{}, Total: len(hits)}
	end := min(len(hits), start+q.Limit)
	for _, p := range hits[start:end] {
		out.Posts = append(out.Posts, *p)
	}
	if end < len(hits) {
		out.Next = cursor(end, hits[end-1].ID)
	}
	return out, nil
}

// cursor names the place after a post, and its number in case the post is gone.
func cursor(from int, after int64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", from, after))
}

func placeOf(cursor string) (from int, after int64, err error) {
	if cursor == "" {
		return 0, 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	first, second, ok := strings.Cut(string(text), ".")
	if err == nil && ok {
		if from, err = strconv.Atoi(first); err == nil && from >= 0 {
			after, err = strconv.ParseInt(second, 10, 64)
		}
	}
	if err != nil || !ok || from < 0 {
		return 0, 0, invalid("cursor", "must be one that a list answered with")
	}
	return from, after, nil
}

// listOthers lists by status from the database, by id.
func (s *Social) listOthers(ctx context.Context, q Query) (Page, error) {
	_, after, err := placeOf(q.Cursor)
	if err != nil {
		return Page{}, err
	}
	where, args := []string{`status = ?`}, []any{q.Status}
	add := func(condition string, arg ...any) { where, args = append(where, condition), append(args, arg...) }
	if q.Candidates {
		add(candidate)
	}
	if q.Type != "" {
		add(`type = ?`, q.Type)
	}
	if q.Reason != "" {
		add(`reason = ?`, q.Reason)
	}
	if q.Appeal {
		add(`appeal <> ''`)
	}
	if q.By != "" {
		id, err := hex.DecodeString(q.By)
		if err != nil {
			return Page{Posts: []Post{}}, nil // nobody's
		}
		add(`submitter = ?`, id)
	}
	if text := rotation.Fold(q.Text); text != "" {
		add(`instr(folded, ?) > 0`, text)
	}
	condition := strings.Join(where, " AND ")
	out := Page{Posts: []Post{}}
	if err := s.opt.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM social_posts WHERE `+condition, args...).Scan(&out.Total); err != nil { //nolint:gosec // constants
		return Page{}, fmt.Errorf("count posts: %w", err)
	}
	order, beyond := `DESC`, `id < ?`
	if q.Oldest {
		order, beyond = `ASC`, `id > ?`
	}
	if after > 0 {
		condition, args = condition+" AND "+beyond, append(args, after)
	}
	posts, err := all(ctx, s.opt.DB.Read(), condition+` ORDER BY id `+order+` LIMIT ?`, append(args, q.Limit+1)...)
	if err != nil {
		return Page{}, fmt.Errorf("list posts: %w", err)
	}
	if len(posts) > q.Limit {
		posts = posts[:q.Limit]
		out.Next = cursor(0, posts[q.Limit-1].ID)
	}
	out.Posts = append(out.Posts, posts...)
	return out, nil
}

// Next returns the best-ranked approved post of a type, a category or both; empty ones mean
// any. ok is false where there is none.
func (s *Social) Next(t Type, category string) (_ Post, ok bool) {
	for _, p := range s.board.Load().order[byRank] {
		if (t == "" || p.Type == t) && (category == "" || string(p.Type.Category()) == category) {
			return *p, true
		}
	}
	return Post{}, false
}

// Score returns the parts of a post's score; one that is not approved has those of the moment
// of its approval.
func (s *Social) Score(p *Post) rank.Parts {
	b := s.board.Load()
	if on := b.find(p.ID); on != nil {
		return rank.Score(b.facts(on))
	}
	f := b.facts(p)
	f.Age = 0
	return rank.Score(f)
}

// Airing returns how often a post has aired.
func (s *Social) Airing(p *Post) Airing { return s.board.Load().plays[p.File] }

// chartLength is how many posts a chart has, chartSpan of how long.
const (
	chartLength = 20
	chartSpan   = 7 * 24 * time.Hour
)

// Chart returns the posts that were approved, or have aired, within the last week, the best
// by votes and reactions first: what is new is not ahead for being new, as it is on the air.
func (s *Social) Chart() (posts []Post, from, to time.Time) {
	b := s.board.Load()
	to = s.opt.Now()
	from = to.Add(-chartSpan)
	var in []*Post
	liked := map[*Post]float64{}
	for _, p := range b.posts {
		if time.UnixMilli(p.Approved).After(from) || b.plays[p.File].Last.After(from) {
			parts := rank.Score(b.facts(p))
			in, liked[p] = append(in, p), parts.Quality+parts.Reactions
		}
	}
	slices.SortFunc(in, func(x, y *Post) int {
		return cmp.Or(cmp.Compare(liked[y], liked[x]), cmp.Compare(b.plays[y.File].Plays, b.plays[x.File].Plays), cmp.Compare(x.ID, y.ID))
	})
	for _, p := range in[:min(len(in), chartLength)] {
		posts = append(posts, *p)
	}
	return posts, from, to
}
