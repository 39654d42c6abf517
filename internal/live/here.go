package live

import "slices"

// Here returns the report with its times by another clock: that of who reads it. here
// converts epoch milliseconds; 0 says that there is no time.
func (r Report) Here(here func(ms int64) int64) Report {
	r.AirSince = here(r.AirSince)
	r.Sources = slices.Clone(r.Sources)
	for i := range r.Sources {
		r.Sources[i].Since = here(r.Sources[i].Since)
	}
	if r.Ended != nil {
		e := *r.Ended
		e.At = here(e.At)
		r.Ended = &e
	}
	if r.Recording != nil {
		rec := *r.Recording
		rec.Since = here(rec.Since)
		r.Recording = &rec
	}
	r.Carts.Playing = slices.Clone(r.Carts.Playing)
	for i := range r.Carts.Playing {
		r.Carts.Playing[i].StartedAt = here(r.Carts.Playing[i].StartedAt)
	}
	return r
}
