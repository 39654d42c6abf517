package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/athir-radio/athir/internal/onair/policy"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
	"github.com/athir-radio/athir/internal/web/problem"
)

// Standing says whether a restart would bring what is in force.
type Standing struct {
	Saved      bool   `json:"saved" doc:"Whether a restart would bring it"`
	KeepsEdits bool   `json:"keepsEdits" doc:"Whether each change is saved as it is made (keep_edits)"`
	Unsaved    string `json:"unsaved,omitempty" doc:"Why what is in force could not be saved: it is tried again, and lost if the station restarts before"`
}

func (s *Server) standing() Standing {
	out := Standing{Saved: s.opt.Policy.Saved(), KeepsEdits: s.opt.Policy.Keeps()}
	if err := s.opt.Policy.Unsaved(); err != nil && !out.Saved {
		out.Unsaved = problem.Of(err).Detail
	}
	return out
}

type configAnswer struct {
	Body struct {
		Config policy.Document `json:"config"`
		Standing
	}
}

// document returns the configuration without the live streams, which have routes of
// their own.
func document(d policy.Document) policy.Document {
	d.Live = nil
	return d
}

func (s *Server) config(context.Context, *struct{}) (*configAnswer, error) {
	out := &configAnswer{}
	out.Body.Config, out.Body.Standing = document(s.opt.Policy.Current()), s.standing()
	return out, nil
}

type changedAnswer struct {
	Body struct {
		Config policy.Document `json:"config"`
		Standing
		Rebuilt bool            `json:"rebuilt" doc:"Whether the rotation on air was rebuilt because of it"`
		Lost    []rotation.Lost `json:"lost" nullable:"false" doc:"What dayparts did that no longer holds: windows of one category that fell, and windows that none covers any more. A list replaces the one before it"`
		Change  int64           `json:"change,omitempty" doc:"Id by which this change is undone; missing where no setting was changed"`
		Left    []string        `json:"left,omitempty" doc:"Of an undo: settings that were changed again since, and stay"`
	}
}

func (s *Server) changed(c policy.Change, err error) (*changedAnswer, error) {
	if err != nil {
		return nil, err
	}
	out := &changedAnswer{}
	out.Body.Config, out.Body.Standing, out.Body.Rebuilt = document(c.Document), s.standing(), c.Rebuilt
	out.Body.Change = c.ID
	out.Body.Lost = append([]rotation.Lost{}, c.Lost...) // never null
	return out, nil
}

// patch is a JSON body that the policy gets as it was sent: huma's validation knows
// neither null in a merge patch nor the knobs' ranges, and would name only some of
// the wrong fields.
type patch struct {
	RawBody []byte `contentType:"application/json"`
}

// patches is an endpoint that takes a merge patch of T.
func patches[T any](fn func(ctx context.Context, body json.RawMessage) (*changedAnswer, error), notes ...note) endpoint {
	return func(s *Server, _ *http.ServeMux, api huma.API, op huma.Operation) {
		op = noted(api, op, reflect.TypeFor[patch](), notes)
		op.SkipValidateBody = true
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
		huma.Register(api, op, func(ctx context.Context, in *patch) (*changedAnswer, error) {
			var out *changedAnswer
			err := problem.ErrMalformed
			if json.Valid(in.RawBody) {
				out, err = fn(ctx, bytes.Clone(in.RawBody)) // huma reuses the buffer
			}
			return out, s.answered(op, err)
		})
		schemas := api.OpenAPI().Components.Schemas
		op.RequestBody.Content["application/json"].Schema = orList(partial(schemas, schemas.Schema(reflect.TypeFor[T](), true, "")))
	}
}

// orList documents a body that may also be sent as just its only list.
func orList(of *huma.Schema) *huma.Schema {
	for _, member := range of.Properties {
		if len(of.Properties) == 1 && member.Type == huma.TypeArray {
			return &huma.Schema{OneOf: []*huma.Schema{of, member}}
		}
	}
	return of
}

// partial returns the schema with all members optional, also those of its objects.
func partial(all huma.Registry, of *huma.Schema) *huma.Schema {
	if of.Ref != "" {
		of = all.SchemaFromRef(of.Ref)
	}
	if of.Type != huma.TypeObject {
		return of
	}
	out := *of
	out.Required, out.Properties = nil, maps.Clone(of.Properties)
	for name, member := range out.Properties {
		out.Properties[name] = partial(all, member)
	}
	return &out
}

// patchConfig patches the document except the live streams, which are not shown here.
func (s *Server) patchConfig(ctx context.Context, body json.RawMessage) (*changedAnswer, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) == nil && members["live"] != nil {
		return nil, fieldError("body.live", "cannot be changed here")
	}
	return s.changed(s.opt.Policy.Patch(ctx, callerOf(ctx).Who(), body))
}

// section patches one member of the document.
func (s *Server) section(key string) func(context.Context, json.RawMessage) (*changedAnswer, error) {
	return func(ctx context.Context, body json.RawMessage) (*changedAnswer, error) {
		return s.patchMember(ctx, key, body, inBody(key))
	}
}

// sectionList replaces one list of the document; the body is the list itself,
// or an object that holds it under name.
func (s *Server) sectionList(key, name string) func(context.Context, json.RawMessage) (*changedAnswer, error) {
	return func(ctx context.Context, body json.RawMessage) (*changedAnswer, error) {
		if bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
			return s.patchMember(ctx, key, body, inBody(key))
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			return nil, problem.ErrMalformed
		}
		var wrong policy.InvalidError
		list, sent := members[name]
		if !sent {
			wrong.Fields = append(wrong.Fields, policy.Field{Path: name, Want: "must be given"})
		}
		delete(members, name)
		for _, other := range slices.Sorted(maps.Keys(members)) {
			wrong.Fields = append(wrong.Fields, policy.Field{Path: other, Want: "is not a known field"})
		}
		if len(wrong.Fields) > 0 {
			return nil, &wrong
		}
		return s.patchMember(ctx, key, list, inBody(key, name))
	}
}

func (s *Server) patchMember(ctx context.Context, key string, value json.RawMessage, at place) (*changedAnswer, error) {
	// value is one JSON value, so it cannot change other members.
	c, err := s.opt.Policy.Patch(ctx, callerOf(ctx).Who(), fmt.Appendf(nil, "{%q:%s}", key, value))
	return s.changed(c, named(err, at))
}

func (s *Server) clearDayparts(ctx context.Context, _ *struct{}) (*changedAnswer, error) {
	return s.changed(s.opt.Policy.Patch(ctx, callerOf(ctx).Who(), json.RawMessage(`{"DAYPARTS":null}`)))
}

type weights struct {
	Body struct {
		MashupChance *float64 `json:"MASHUP_CHANCE,omitempty" minimum:"0" maximum:"1"`
		SFXChance    *float64 `json:"STOCHASTIC_SFX_CHANCE,omitempty" minimum:"0" maximum:"1"`
	}
}

func (s *Server) setWeights(ctx context.Context, in *weights) (*changedAnswer, error) {
	body, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	return s.patchConfig(ctx, body)
}

// The bodies of sections that are lists, for the documentation.
type (
	dayparts struct {
		Dayparts []rotation.Daypart `json:"dayparts"`
	}
	clocks struct {
		Clocks []rotation.HourClock `json:"clocks"`
	}
	genres = map[station.Category]float64
)

type clocksAnswer struct{ Body clocks }

func (s *Server) clocks(context.Context, *struct{}) (*clocksAnswer, error) {
	out := &clocksAnswer{clocks{s.opt.Policy.Current().Clocks}}
	if out.Body.Clocks == nil {
		out.Body.Clocks = []rotation.HourClock{}
	}
	return out, nil
}

type savedAnswer struct {
	Body struct {
		Saved bool `json:"saved"`
	}
}

func (s *Server) saveConfig(ctx context.Context, _ *struct{}) (*savedAnswer, error) {
	if err := s.opt.Policy.Save(ctx); err != nil {
		return nil, err
	}
	out := &savedAnswer{}
	out.Body.Saved = s.opt.Policy.Saved()
	return out, nil
}

func (s *Server) resetConfig(ctx context.Context, _ *struct{}) (*changedAnswer, error) {
	return s.changed(s.opt.Policy.Reset(ctx, callerOf(ctx).Who()))
}

type changesAnswer struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		Changes []policy.Past `json:"changes" nullable:"false"`
	}
}

func (s *Server) configHistory(context.Context, *struct{}) (*changesAnswer, error) {
	out := &changesAnswer{CacheControl: "no-store"}
	out.Body.Changes = s.opt.Policy.History()
	return out, nil
}

type undoInput struct {
	Body *struct {
		ID int64 `json:"id,omitempty" minimum:"1" doc:"Of the change; without: the newest that is neither undone nor an undo"`
	}
}

func (s *Server) undoConfig(ctx context.Context, in *undoInput) (*changedAnswer, error) {
	id := int64(0)
	if in.Body != nil {
		id = in.Body.ID
	}
	c, left, err := s.opt.Policy.Undo(ctx, callerOf(ctx).Who(), id)
	out, err := s.changed(c, err)
	if err == nil {
		out.Body.Left = left
	}
	return out, err
}

type moodAnswer struct {
	Body struct {
		Mood  string   `json:"mood" doc:"Preset in force; empty is none"`
		Moods []string `json:"moods" doc:"All presets"`
	}
}

func (s *Server) mood(context.Context, *struct{}) (*moodAnswer, error) {
	out := &moodAnswer{}
	out.Body.Mood, out.Body.Moods = s.opt.Policy.Current().Mood, policy.Moods()
	return out, nil
}

type moodInput struct {
	Body struct {
		Mood string `json:"mood" maxLength:"100" doc:"Name of a preset; empty takes the one in force away"`
	}
}

func (s *Server) setMood(ctx context.Context, in *moodInput) (*changedAnswer, error) {
	c, err := s.opt.Policy.Mood(ctx, callerOf(ctx).Who(), in.Body.Mood)
	return s.changed(c, named(err, inBody("MOOD", "mood")))
}
