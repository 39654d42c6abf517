package social

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/rank"
	"github.com/athir-radio/athir/internal/station"
)

// board is the approved posts at one moment, in every order. It is never changed once
// published: a vote makes another of it by with, in which only the post's places are new.
type board struct {
	posts []*Post // newest id first
	order map[Sort][]*Post
	plays map[string]Airing
	made  time.Time // the moment that ages are counted to
}

func newBoard(posts []*Post, plays map[string]Airing, now time.Time) *board {
	slices.SortFunc(posts, byID)
	b := &board{posts: posts, plays: plays, made: now}
	facts, pulses, totals := make([]rank.Facts, len(posts)), make([]rank.Pulse, len(posts)), make(map[*Post]float64, len(posts))
	for i, p := range posts {
		facts[i], pulses[i] = b.facts(p), b.pulse(p)
		totals[p] = rank.Score(facts[i]).Total
	}
	sorted := func(by Sort) []*Post {
		out := slices.DeleteFunc(slices.Clone(posts), func(p *Post) bool { return !b.lists(by, p) })
		slices.SortFunc(out, b.compare(by, func(p *Post) float64 { return totals[p] }))
		return out
	}
	b.order = map[Sort][]*Post{
		ByNew: sorted(ByNew), ByAired: sorted(ByAired), ByTop: sorted(ByTop), ByRising: b.named(rank.RisingOrder(pulses)), byRank: b.named(rank.Order(facts)),
	}
	return b
}

// with returns the board with a post as it is now. It is as old as b, so that no other post
// changes its place: what only time does, the next newBoard shows.
func (b *board) with(p *Post) *board {
	was := b.find(p.ID)
	out := &board{plays: b.plays, made: b.made, order: make(map[Sort][]*Post, len(b.order))}
	out.posts = replaced(b.posts, was, p, p.Visible(), byID)
	for by, posts := range b.order {
		old := was
		if was != nil && !b.lists(by, was) {
			old = nil
		}
		out.order[by] = replaced(posts, old, p, p.Visible() && b.lists(by, p), b.compare(by, b.total))
	}
	return out
}

// replaced returns a sorted list without was, which may be nil, and with p where it belongs.
func replaced(list []*Post, was, p *Post, listed bool, compare func(x, y *Post) int) []*Post {
	out := make([]*Post, len(list), len(list)+1)
	copy(out, list)
	if was != nil {
		if at, found := slices.BinarySearchFunc(out, was, compare); found {
			out = slices.Delete(out, at, at+1)
		}
	}
	if listed {
		at, _ := slices.BinarySearchFunc(out, p, compare)
		out = slices.Insert(out, at, p)
	}
	return out
}

// lists reports whether a sort has a post at all.
func (b *board) lists(by Sort, p *Post) bool { return by != ByAired || b.plays[p.File].Plays > 0 }

func byID(x, y *Post) int { return cmp.Compare(y.ID, x.ID) }

// compare returns the order of a sort, in which no two posts are equal; total is the score.
func (b *board) compare(by Sort, total func(*Post) float64) func(x, y *Post) int {
	switch by {
	case ByNew:
		return func(x, y *Post) int { return cmp.Or(cmp.Compare(y.Approved, x.Approved), byID(x, y)) }
	case ByAired:
		return func(x, y *Post) int { return cmp.Or(b.plays[y.File].Last.Compare(b.plays[x.File].Last), byID(x, y)) }
	case ByTop:
		return func(x, y *Post) int {
			return cmp.Or(cmp.Compare(total(y), total(x)), cmp.Compare(x.Approved, y.Approved), cmp.Compare(x.ID, y.ID))
		}
	case ByRising:
		return func(x, y *Post) int { return rank.CompareRising(b.pulse(x), b.pulse(y)) }
	}
	return func(x, y *Post) int { return rank.Compare(b.facts(x), b.facts(y)) }
}

// find returns the post with an id; nil if there is none.
func (b *board) find(id int64) *Post {
	if at, found := slices.BinarySearchFunc(b.posts, id, func(p *Post, id int64) int { return cmp.Compare(id, p.ID) }); found {
		return b.posts[at]
	}
	return nil
}

func (b *board) total(p *Post) float64 { return rank.Score(b.facts(p)).Total }

func (b *board) named(ids []int64) []*Post {
	out := make([]*Post, len(ids))
	for i, id := range ids {
		out[i] = b.find(id)
	}
	return out
}

func (b *board) facts(p *Post) rank.Facts {
	return rank.Facts{ID: p.ID, Up: p.Votes.WeighedUp, Down: p.Votes.WeighedDown, Plays: b.plays[p.File].Plays, Reactions: p.reacted, Age: b.age(p)}
}

func (b *board) pulse(p *Post) rank.Pulse {
	late := p.Votes.Late
	return rank.Pulse{
		ID: p.ID, Age: b.age(p), LateUp: late.Up, LateDown: late.Down,
		BeforeUp: max(0, p.Votes.WeighedUp-late.Up), BeforeDown: max(0, p.Votes.WeighedDown-late.Down),
	}
}

func (b *board) age(p *Post) time.Duration { return b.made.Sub(time.UnixMilli(p.Approved)) }

// publish reads the approved posts, and their airings, anew. It reads outside of mu, for which
// votes wait; what refresh takes over meanwhile is newer than what it has read.
func (s *Social) publish(ctx context.Context) error {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	s.meanwhile = map[int64]bool{}
	was := s.board.Load()
	if s.unread {
		was, s.unread = nil, false
	}
	s.mu.Unlock()
	b, err := s.readBoard(ctx, was)
	var tracks []station.Track
	if err == nil {
		tracks = s.tracksOf(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	newer := s.meanwhile
	s.meanwhile = nil
	if err != nil {
		s.unread = s.unread || was == nil
		return err
	}
	moved := false
	for id := range newer {
		p := s.board.Load().find(id)
		if p == nil {
			p = &Post{ID: id} // no longer approved
		}
		moved = moved || b.moves(p)
		b = b.with(p)
	}
	s.board.Store(b)
	if moved {
		tracks = s.tracksOf(b)
	}
	s.retrack(tracks)
	return nil
}

// readBoard makes a board of what is in the tables. Reactions are those of the posts on a
// former board, which has every change of them; where it has no such post, they are read.
func (s *Social) readBoard(ctx context.Context, was *board) (*board, error) {
	plays, err := s.opt.Air.Plays(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the airings of posts: %w", err)
	}
	posts, err := all(ctx, s.opt.DB.Read(), `status = 'approved'`)
	if err != nil {
		return nil, fmt.Errorf("read approved posts: %w", err)
	}
	late, err := s.late(ctx, `true`)
	if err != nil {
		return nil, err
	}
	out := make([]*Post, len(posts))
	var unread []*Post
	for i := range posts {
		p := &posts[i]
		p.Votes.Late = late[p.ID]
		if was == nil || was.find(p.ID) == nil {
			unread = append(unread, p)
		} else {
			old := was.find(p.ID)
			p.Reactions, p.reacted = old.Reactions, old.reacted
		}
		out[i] = p
	}
	if err := s.readReactions(ctx, unread); err != nil {
		return nil, err
	}
	return newBoard(out, plays, s.opt.Now()), nil
}

// refresh takes over one post that has changed. What cannot be read now is read with the
// next whole publish.
func (s *Social) refresh(ctx context.Context, id int64) {
	ctx = context.WithoutCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.read(ctx, id)
	var late map[int64]struct{ Up, Down float64 }
	if err == nil {
		late, err = s.late(ctx, `post = ?`, id)
	}
	if err != nil {
		s.unread = true
		s.log.Error("cannot read a post that has changed", "post", id, "err", err)
		return
	}
	p.Votes.Late = late[id]
	if s.meanwhile != nil {
		s.meanwhile[id] = true
	}
	was := s.board.Load()
	b := was.with(&p)
	s.board.Store(b)
	if was.moves(&p) {
		s.retrack(s.tracksOf(b))
	}
}

// moves reports whether other tracks air once a board has a post as it is now.
func (b *board) moves(p *Post) bool {
	old := b.find(p.ID)
	return (old != nil) != p.Visible() || old != nil && old.File != p.File
}

// publishEvery is how often ages, late votes and what other programs did to the tables are
// taken into account.
const publishEvery = time.Minute

// follow publishes the board anew when something has aired, and once a minute.
func (s *Social) follow(ctx context.Context) error {
	aired, leave := s.opt.Air.Subscribe()
	defer leave()
	clock := time.NewTicker(publishEvery)
	defer clock.Stop()
	for {
		// Also at first: something may have aired since Open.
		before := s.board.Load().plays
		if err := s.publish(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("cannot bring the posts up to date", "err", err)
		}
		s.announce(ctx, before)
		s.electDue(ctx)
		for same := true; same; {
			select {
			case <-ctx.Done():
				return nil
			case <-clock.C:
				same = false
			case <-aired:
				same = s.same(ctx)
			}
		}
	}
}

// same reports that no post has aired since the board was published.
func (s *Social) same(ctx context.Context) bool {
	now, err := s.opt.Air.Plays(ctx)
	return err == nil && maps.Equal(now, s.board.Load().plays)
}

// announce tells of the posts that have begun to air.
func (s *Social) announce(ctx context.Context, before map[string]Airing) {
	b := s.board.Load()
	for _, p := range b.posts {
		if b.plays[p.File].Plays > before[p.File].Plays {
			s.happened(ctx, Aired, p.ID, true)
		}
	}
}
