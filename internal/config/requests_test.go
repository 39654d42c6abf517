package config

import (
	"strings"
	"testing"
)

func TestWrongSettingsOfRequestsAreNamed(t *testing.T) {
	right := Requests{Enabled: true, Categories: []string{"english"}, EveryMinutes: 30, PerDay: 5, Waiting: 20, RestMinutes: 180, ExpireHours: 4}
	if wrong := right.validate(); len(wrong) != 0 {
		t.Fatal(wrong)
	}
	for name, change := range map[string]func(*Requests){
		"categories": func(r *Requests) { r.Categories = []string{"news"} }, "categories: name one": func(r *Requests) { r.Categories = nil },
		"every_minutes": func(r *Requests) { r.EveryMinutes = -1 }, "per_day": func(r *Requests) { r.PerDay = 0 }, "waiting": func(r *Requests) { r.Waiting = 201 },
		"rest_minutes": func(r *Requests) { r.RestMinutes = 1e9 }, "expire_hours": func(r *Requests) { r.ExpireHours = 0 },
	} {
		r := right
		change(&r)
		if wrong := r.validate(); len(wrong) != 1 || !strings.HasPrefix(wrong[0].Error(), "requests."+name) {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	if wrong := (Requests{PerDay: 1, Waiting: 1, ExpireHours: 1}).validate(); len(wrong) != 0 {
		t.Errorf("switched off: %v", wrong)
	}
}
