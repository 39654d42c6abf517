package content

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/athir-radio/athir/internal/station"
)

// FetchRequest asks for new material of one category (mission: POST
// /api/station/content/fetch).
type FetchRequest struct {
	// Category may be empty with a kind: then it is the one the kind airs in.
	Category station.Category `json:"category"`
	Target   int              `json:"target"` // files
	Kind     string           `json:"kind"`   // one of Kinds; empty: what the category holds
}

// check fills in what follows from the rest and refuses what does not fit.
func (r *FetchRequest) check() error {
	if r.Kind != "" && !slices.Contains(Kinds(), r.Kind) {
		return fmt.Errorf("kind %q: %w: there are %s", r.Kind, station.ErrInvalid, strings.Join(Kinds(), ", "))
	}
	if r.Category == "" {
		var ok bool
		if r.Category, ok = categoryOfKind(r.Kind); !ok {
			return fmt.Errorf("category: %w: name one, or a kind", station.ErrInvalid)
		}
	}
	if !fetchable(r.Category) {
		return fmt.Errorf("category %q: %w: nothing is fetched for it", r.Category, station.ErrInvalid)
	}
	if own := kindOf(r.Category).name; r.Kind != "" && r.Kind != own {
		return fmt.Errorf("kind %q: %w: %s holds the kind %s", r.Kind, station.ErrInvalid, r.Category, own)
	}
	if r.Target < 1 || r.Target > most {
		return fmt.Errorf("target: %w: must be 1 to %d", station.ErrInvalid, most)
	}
	return nil
}

// Fetch brings in new material of one category, and archives nothing. Errors as
// Refresh.
func (c *Content) Fetch(ctx context.Context, req FetchRequest, progress func(Progress)) (Result, error) {
	if err := req.check(); err != nil {
		return Result{}, err
	}
	end, err := c.begin("fetch")
	if err != nil {
		return Result{}, err
	}
	defer end()
	return c.perform(ctx, "fetch", Request{}, progress, func(ctx context.Context, r *run) {
		if err := c.Recover(ctx); err != nil {
			r.problem(StepRecover, err)
			return
		}
		r.category(ctx, StepFetch, req.Category, req.Target)
		if ctx.Err() != nil {
			return
		}
		r.show(Progress{Step: StepScan})
		if err := r.scan(ctx); err != nil {
			r.problem(StepScan, err)
		}
	})
}
