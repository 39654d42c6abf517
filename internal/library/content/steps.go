package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/athir-radio/athir/internal/library/content/source"
	"github.com/athir-radio/athir/internal/station"
)

// inboxMost is how many files of the inbox one run takes.
const inboxMost = 500

func (r *run) inbox(ctx context.Context) error {
	for _, src := range r.c.opt.Sources {
		if src.Name() != source.NameInbox {
			continue
		}
		found, err := r.search(src, source.Want{Target: inboxMost})
		if err != nil {
			r.problem(StepInbox, err)
		}
		r.takeAll(ctx, StepInbox, "", len(found), offers(src, found))
	}
	return nil
}

func (r *run) songs(ctx context.Context) error {
	wants := apportion(r.result.Request.Songs, r.c.opt.Shares)
	for _, category := range r.emptiest(wants) {
		if r.fetching.Err() != nil {
			break
		}
		r.category(ctx, StepSongs, category, wants[category])
	}
	return r.late(ctx)
}

func (r *run) ads(ctx context.Context) error {
	if n := r.result.Request.Ads; n > 0 {
		r.category(ctx, StepAds, station.Ads, n)
	}
	return r.late(ctx)
}

func (r *run) late(ctx context.Context) error {
	if ctx.Err() == nil && r.fetching.Err() != nil {
		return context.Cause(r.fetching)
	}
	return nil
}

// apportion divides a target by shares, by largest remainder.
func apportion(target int, shares map[station.Category]float64) map[station.Category]int {
	all := 0.0
	for _, s := range shares {
		all += max(0, s)
	}
	out := map[station.Category]int{}
	if all == 0 {
		return out
	}
	left := target
	rest := map[station.Category]float64{}
	for category, s := range shares {
		whole, part := math.Modf(float64(target) * max(0, s) / all)
		out[category], rest[category] = int(whole), part
		left -= int(whole)
	}
	order := slices.SortedFunc(maps.Keys(rest), func(a, b station.Category) int {
		return cmp.Or(cmp.Compare(rest[b], rest[a]), cmp.Compare(a, b))
	})
	for _, category := range order[:min(max(0, left), len(order))] {
		out[category]++
	}
	return out
}

// emptiest orders categories by how little their decks have of what they
// should: a run that is cut short has then done what mattered most.
func (r *run) emptiest(wants map[station.Category]int) []station.Category {
	have := map[station.Category]int{}
	for _, t := range r.c.opt.Registry.Tracks() {
		have[t.Category]++
	}
	fill := func(c station.Category) float64 { return float64(have[c]) / r.c.opt.Shares[c] }
	order := slices.SortedFunc(maps.Keys(wants), func(a, b station.Category) int {
		return cmp.Or(cmp.Compare(fill(a), fill(b)), cmp.Compare(a, b))
	})
	return slices.DeleteFunc(order, func(c station.Category) bool { return wants[c] == 0 })
}

// offer is a candidate and who offers it.
type offer struct {
	src  source.Source
	cand source.Candidate
}

func offers(src source.Source, found []source.Candidate) (out []offer) {
	for _, cand := range found {
		out = append(out, offer{src, cand})
	}
	return out
}

// category looks for new material of one category in every source but the
// inbox, and takes from them in turn.
func (r *run) category(ctx context.Context, step Step, category station.Category, want int) {
	r.result.count(category).Wanted += want
	r.takeAll(ctx, step, category, want, r.offered(ctx, step, category, want))
}

// offered lists what every source but the inbox has for a category, one from each in
// turn.
func (r *run) offered(ctx context.Context, step Step, category station.Category, want int) []offer {
	n := r.result.count(category)
	w := source.Want{Category: category, Kind: kindOf(category).name, Target: want + want/2 + 1}
	if cat := r.c.opt.Catalog; cat != nil {
		w.Singers, w.Queries = cat.Singers()[category], cat.Queries()[category]
	}
	var all sync.WaitGroup // in parallel: only the slowest costs time
	by, wrong := make([][]offer, len(r.c.opt.Sources)), make([]error, len(r.c.opt.Sources))
	for i, src := range r.c.opt.Sources {
		if src.Name() == source.NameInbox || r.fetching.Err() != nil {
			continue
		}
		if why := r.left(src, src.Name()); why != "" {
			wrong[i] = fmt.Errorf("not searched: %s", why)
			continue
		}
		r.show(Progress{Step: step, Total: want, Detail: fmt.Sprintf("%s: %s", category, src.Name())})
		all.Go(func() {
			found, err := r.search(src, w)
			by[i], wrong[i] = offers(src, found), err
		})
	}
	all.Wait()
	for i, src := range r.c.opt.Sources {
		if err := wrong[i]; err != nil && !errors.Is(err, station.ErrUnavailable) && ctx.Err() == nil {
			r.problem(step, fmt.Errorf("%s, %s: %w", src.Name(), category, err))
		}
		n.Found += len(by[i])
	}
	return inTurn(by)
}

// inTurn deals out lists one from each.
func inTurn(by [][]offer) (out []offer) {
	for i := 0; ; i++ {
		some := false
		for _, list := range by {
			if i < len(list) {
				out, some = append(out, list[i]), true
			}
		}
		if !some {
			return out
		}
	}
}

func (r *run) search(src source.Source, w source.Want) ([]source.Candidate, error) {
	w.Known = func(name, id string) bool { return r.c.known(r.fetching, name, id) }
	var found []source.Candidate
	err := r.ask(src, src.Name(), r.c.opt.SearchTime, func(ctx context.Context) (err error) {
		found, err = src.Search(ctx, w)
		return err
	})
	r.c.healthOf(src.Name(), err)
	return found[:min(len(found), max(0, w.Target))], err
}

// takeAll takes offers, some in parallel, until want files are placed.
func (r *run) takeAll(ctx context.Context, step Step, category station.Category, want int, list []offer) {
	type done struct {
		offer
		taken
	}
	results := make(chan done, r.c.opt.Parallel)
	flying, placed, handled := 0, 0, 0
	waitedFor, dropped := map[string]int{}, map[string]int{}
	var stop error
	for {
		if placed+flying < want {
			list = r.drop(list, dropped)
		}
		for stop == nil && flying < r.c.opt.Parallel && len(list) > 0 && placed+flying < want && r.fetching.Err() == nil {
			i := r.nextOffer(list, waitedFor)
			if i < 0 {
				break
			}
			if stop = r.c.space(); stop != nil {
				break
			}
			o := list[i]
			list = slices.Delete(list, i, i+1)
			flying++
			waitedFor[place(o.src, o.cand)]++
			go func() { results <- done{o, r.take(r.fetching, o.src, o.cand, category)} }()
		}
		if flying == 0 {
			break
		}
		d := <-results
		flying--
		waitedFor[place(d.src, d.cand)]--
		handled++
		if d.placed {
			placed++
		}
		if errors.Is(d.err, errNoSpace) {
			stop = d.err
		}
		r.tally(ctx, step, d.src.Name(), d.cand, d.taken)
		count := placed
		if step == StepInbox { // all of it is processed, taken or refused
			count = handled
		}
		r.show(Progress{Step: step, Done: count, Total: want, Detail: cmp.Or(d.cand.Title, d.cand.ID)})
	}
	for _, why := range slices.Sorted(maps.Keys(dropped)) {
		r.problem(step, fmt.Errorf("%d of %s left for another run: %s", dropped[why], cmp.Or(string(category), string(step)), why))
	}
	if stop != nil {
		r.problem(step, stop)
	}
}

func (r *run) tally(ctx context.Context, step Step, name string, cand source.Candidate, t taken) {
	n := r.result.count(t.category)
	if t.fetched {
		n.Fetched++
	}
	if t.placed {
		n.Added++
	}
	if t.refusal != nil {
		n.refuse(t.refusal.Code)
		r.c.log.Info("candidate refused", "source", name, "id", cand.ID, "title", cand.Title, "reason", t.refusal.Code, "why", t.refusal.English)
	}
	if t.err != nil && ctx.Err() == nil && !errors.Is(t.err, errNoSpace) {
		n.Failed++
		r.problem(step, fmt.Errorf("%s, %s: %w", name, cmp.Or(cand.Title, cand.ID), t.err))
	}
	if name != source.NameInbox && !t.fetched && t.err != nil {
		r.c.healthOf(name, t.err)
	}
}

// imaging makes a new set and then archives the previous one: if making fails, the
// decks stay as they were.
func (r *run) imaging(ctx context.Context) error {
	im := r.c.opt.Imaging
	if im == nil {
		return nil
	}
	old, err := im.Old(ctx)
	if err != nil {
		return fmt.Errorf("list the present imaging: %w", err)
	}
	made, failed, err := im.Make(ctx, r.hold(), func(done, total int, detail string) {
		r.show(Progress{Step: StepImaging, Done: done, Total: total, Detail: detail})
	})
	r.result.Imaging = made
	for _, err := range failed {
		r.problem(StepImaging, err)
	}
	if err != nil {
		return fmt.Errorf("make imaging: %w", err)
	}
	if made == 0 {
		return errors.New("no imaging was made: the present set stays")
	}
	if err := r.scan(ctx); err != nil {
		return err
	}
	return r.leave(ctx, old, ReasonReplaced)
}

// leave archives files and counts them.
func (r *run) leave(ctx context.Context, paths []string, reason string) error {
	if len(paths) == 0 {
		return nil
	}
	category := r.c.categories(paths)
	m, err := r.c.archive(ctx, paths, reason, r.id)
	for _, p := range m.Archived {
		r.result.count(category[p]).Archived++
		r.archive++
	}
	for _, p := range m.Kept {
		r.result.count(category[p]).Kept++
	}
	return err
}
