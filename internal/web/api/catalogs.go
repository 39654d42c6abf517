package api

import (
	"context"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/station"
)

type singersAnswer struct {
	Body struct {
		Singers map[station.Category][]string `json:"singers"`
		Standing
	}
}

func (s *Server) singersOf(d policy.Document) *singersAnswer {
	out := &singersAnswer{}
	out.Body.Singers, out.Body.Standing = d.Singers, s.standing()
	return out
}

func (s *Server) singers(context.Context, *struct{}) (*singersAnswer, error) {
	return s.singersOf(s.opt.Policy.Current()), nil
}

type singersInput struct {
	Body struct {
		Category string   `json:"category" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
		Add      []string `json:"add,omitempty" maxItems:"1000"`
		Remove   []string `json:"remove,omitempty" maxItems:"1000"`
		Replace  []string `json:"replace,omitempty" maxItems:"1000" doc:"The whole list; empty takes the category away"`
	}
}

func (s *Server) setSingers(ctx context.Context, in *singersInput) (*singersAnswer, error) {
	var edits []policy.Edit
	for _, e := range []policy.Edit{
		{Action: policy.Add, Names: in.Body.Add}, {Action: policy.Remove, Names: in.Body.Remove}, {Action: policy.Replace, Names: in.Body.Replace},
	} {
		if e.Names != nil {
			e.Category = station.Category(in.Body.Category)
			edits = append(edits, e)
		}
	}
	if len(edits) != 1 {
		return nil, fieldError("body", "must contain exactly one of add, remove and replace")
	}
	c, err := s.opt.Policy.Singers(ctx, callerOf(ctx).Who(), edits[0])
	if err != nil {
		return nil, named(err, inBody("singers", string(edits[0].Action)))
	}
	return s.singersOf(c.Document), nil
}

type queriesAnswer struct {
	Body struct {
		Queries map[station.Category][]string `json:"queries"`
		Standing
	}
}

func (s *Server) queriesOf(d policy.Document) *queriesAnswer {
	out := &queriesAnswer{}
	out.Body.Queries, out.Body.Standing = d.Queries, s.standing()
	return out
}

func (s *Server) queries(context.Context, *struct{}) (*queriesAnswer, error) {
	return s.queriesOf(s.opt.Policy.Current()), nil
}

type queriesInput struct {
	Body struct {
		Category string   `json:"category" enum:"arabic_hits,english,mashups,ads,jingles,sweepers,sfx,shorts,news,social"`
		Queries  []string `json:"queries" maxItems:"1000" doc:"The whole list; empty takes the category away"`
	}
}

func (s *Server) setQueries(ctx context.Context, in *queriesInput) (*queriesAnswer, error) {
	c, err := s.opt.Policy.SetQueries(ctx, callerOf(ctx).Who(), policy.Edit{
		Category: station.Category(in.Body.Category), Action: policy.Replace, Names: in.Body.Queries,
	})
	if err != nil {
		return nil, named(err, inBody("queries", "queries"))
	}
	return s.queriesOf(c.Document), nil
}
