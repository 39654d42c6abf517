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

// FieldError names the wrong field of a request and says why, for people. Its kind
// is station.ErrInvalid.
type FieldError struct{ Field, Why string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Why }

// Unwrap returns the kind.
func (e *FieldError) Unwrap() error { return station.ErrInvalid }

// Check fills in defaults and refuses wrong fields with a *FieldError. Fetch begins
// with it; the API calls it to answer before the fetch is queued.
func (r *FetchRequest) Check() error {
	if r.Kind != "" && !slices.Contains(Kinds(), r.Kind) {
		return &FieldError{"kind", fmt.Sprintf("%q is none: there are %s", r.Kind, strings.Join(Kinds(), ", "))}
	}
	if r.Category == "" {
		var ok bool
		if r.Category, ok = categoryOfKind(r.Kind); !ok {
			return &FieldError{"category", "name one, or a kind"}
		}
	}
	if !fetchable(r.Category) {
		return &FieldError{"category", fmt.Sprintf("nothing is fetched for %q", r.Category)}
	}
	if own := kindOf(r.Category).name; r.Kind != "" && r.Kind != own {
		return &FieldError{"kind", fmt.Sprintf("%s holds the kind %s, not %s: leave one of the two out", r.Category, own, r.Kind)}
	}
	if r.Target < 1 || r.Target > most {
		return &FieldError{"target", fmt.Sprintf("must be 1 to %d", most)}
	}
	return nil
}

// Fetch brings in new material of one category, and archives nothing. Errors as
// Refresh.
func (c *Content) Fetch(ctx context.Context, req FetchRequest, progress func(Progress)) (Result, error) {
	if err := req.Check(); err != nil {
		return Result{}, err
	}
	end, err := c.begin("fetch")
	if err != nil {
		return Result{}, err
	}
	defer end()
	return c.perform(ctx, byFetch, Request{}, progress, func(ctx context.Context, r *run) {
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
