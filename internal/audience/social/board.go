package social

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/athir-radio/athir/internal/audience/social/rank"
)

// board is the approved posts at one moment, newest id first. It is never changed once
// published; its orders are made when they are first asked for.
type board struct {
	posts []*Post
	byID  map[int64]*Post
	plays map[string]Airing
	made  time.Time

	once  sync.Once
	order map[Sort][]*Post
	parts map[int64]rank.Parts
}

func newBoard(posts []*Post, plays map[string]Airing, now time.Time) *board {
	slices.SortFunc(posts, func(a, b *Post) int { return cmp.Compare(b.ID, a.ID) })
	b := &board{posts: posts, byID: make(map[int64]*Post, len(posts)), plays: plays, made: now}
	for _, p := range posts {
		b.byID[p.ID] = p
	}
	return b
}

// orders returns the posts by each sort, and the parts of their scores.
func (b *board) orders() (map[Sort][]*Post, map[int64]rank.Parts) {
	b.once.Do(func() {
		facts, pulses := make([]rank.Facts, len(b.posts)), make([]rank.Pulse, len(b.posts))
		b.parts = make(map[int64]rank.Parts, len(b.posts))
		for i, p := range b.posts {
			facts[i], pulses[i] = b.facts(p), b.pulse(p)
			b.parts[p.ID] = rank.Score(facts[i])
		}
		newest := slices.Clone(b.posts)
		slices.SortStableFunc(newest, func(x, y *Post) int { return cmp.Or(cmp.Compare(y.Approved, x.Approved), cmp.Compare(y.ID, x.ID)) })
		aired := slices.DeleteFunc(slices.Clone(b.posts), func(p *Post) bool { return b.plays[p.File].Plays == 0 })
		slices.SortStableFunc(aired, func(x, y *Post) int {
			return cmp.Or(b.plays[y.File].Last.Compare(b.plays[x.File].Last), cmp.Compare(y.ID, x.ID))
		})
		top := slices.Clone(b.posts)
		slices.SortStableFunc(top, func(x, y *Post) int {
			return cmp.Or(cmp.Compare(b.parts[y.ID].Total, b.parts[x.ID].Total), cmp.Compare(x.Approved, y.Approved), cmp.Compare(x.ID, y.ID))
		})
		b.order = map[Sort][]*Post{
			ByNew: newest, ByAired: aired, ByTop: top, ByRising: b.named(rank.RisingOrder(pulses)), byRank: b.named(rank.Order(facts)),
		}
	})
	return b.order, b.parts
}

func (b *board) named(ids []int64) []*Post {
	out := make([]*Post, len(ids))
	for i, id := range ids {
		out[i] = b.byID[id]
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

// publish reads the approved posts, and their airings, anew.
func (s *Social) publish(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	plays, err := s.opt.Air.Plays(ctx)
	if err != nil {
		return fmt.Errorf("count the airings of posts: %w", err)
	}
	posts, err := all(ctx, s.opt.DB.Read(), `status = 'approved'`)
	if err != nil {
		return fmt.Errorf("read approved posts: %w", err)
	}
	reacted, err := allReactions(ctx, s.opt.DB.Read())
	if err != nil {
		return err
	}
	late, err := s.late(ctx)
	if err != nil {
		return err
	}
	out := make([]*Post, len(posts))
	for i := range posts {
		p := &posts[i]
		if r := reacted[p.ID]; r != nil {
			p.Reactions, p.reacted = r.weigh()
		}
		p.Votes.Late = late[p.ID]
		out[i] = p
	}
	s.board.Store(newBoard(out, plays, s.opt.Now()))
	s.retrack()
	return nil
}

// refresh takes over one post that has changed. What cannot be read now is read with the
// next whole publish.
func (s *Social) refresh(ctx context.Context, id int64) {
	ctx = context.WithoutCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.read(ctx, id)
	if err != nil {
		s.log.Error("cannot read a post that has changed", "post", id, "err", err)
		return
	}
	was := s.board.Load()
	posts := slices.DeleteFunc(slices.Clone(was.posts), func(o *Post) bool { return o.ID == id })
	if p.Visible() {
		if old := was.byID[id]; old != nil {
			p.Votes.Late = old.Votes.Late
		}
		posts = append(posts, &p)
	}
	s.board.Store(newBoard(posts, was.plays, s.opt.Now()))
	if old := was.byID[id]; (old != nil) != p.Visible() || old != nil && old.File != p.File {
		s.retrack()
	}
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
