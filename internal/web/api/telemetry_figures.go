package api

import (
	"context"
	"fmt"
	"strconv"

	"github.com/athir-radio/athir/internal/audience/telemetry"
	"github.com/athir-radio/athir/internal/kit/census"
	"github.com/athir-radio/athir/internal/station"
)

type tracksInput struct {
	Span
	Form
	Category string `query:"category" maxLength:"40" doc:"Of one category alone"`
	Sort     string `query:"sort" enum:"plays,hours,kept,left,title" default:"plays" doc:"The most first; titles from the first letter"`
	Limit    int    `query:"limit" minimum:"1" maximum:"20000" default:"100"`
}

// trackFigures is one track and its listeners.
type trackFigures struct {
	File          string   `json:"file"`
	Title         string   `json:"title" doc:"As of its latest airing"`
	Artist        string   `json:"artist"`
	Category      string   `json:"category"`
	Plays         int      `json:"plays" doc:"How often it aired"`
	Seconds       float64  `json:"seconds" doc:"How long, all plays together"`
	Counted       int      `json:"counted" doc:"Of its plays, those in which listeners were counted"`
	ListenerHours float64  `json:"listenerHours"`
	StartAverage  float64  `json:"startAverage" doc:"Listeners when it began, on average over the counted plays"`
	TuneIns       int      `json:"tuneIns" doc:"Listeners who came while it aired"`
	TuneOuts      int      `json:"tuneOuts" doc:"Listeners who left while it aired"`
	Reached       int      `json:"reached" doc:"Listeners when it began or who came while it aired, in counted plays that have ended: those of whom kept tells"`
	Kept          *float64 `json:"kept,omitempty" minimum:"0" maximum:"1" doc:"Of those who listened when it began or came while it aired, the share that had not left when it ended; missing where nobody was counted"`
}

type trackList struct {
	From   int64          `json:"from" doc:"Epoch milliseconds"`
	To     int64          `json:"to" doc:"Not included"`
	Tracks []trackFigures `json:"tracks" nullable:"false"`
	Total  int            `json:"total" doc:"Tracks that aired in the period"`
}

func (s *Server) listTracks(ctx context.Context, in *tracksInput) (*formedAnswer, error) {
	from, to, err := in.times()
	if err != nil {
		return nil, err
	}
	if in.Category != "" && !station.Category(in.Category).Valid() {
		return nil, fieldError("query.category", "must be a category of the station")
	}
	all, total, err := s.opt.Telemetry.Tracks(ctx, from, to, in.Category, telemetry.TrackSort(in.Sort), in.Limit)
	if err != nil {
		return nil, err
	}
	list := trackList{From: from.UnixMilli(), To: to.UnixMilli(), Tracks: make([]trackFigures, len(all)), Total: total}
	for i, t := range all {
		one := trackFigures{
			File: asShown(t.Path), Title: t.Title, Artist: t.Artist, Category: t.Category, Plays: t.Plays, Seconds: round(t.Aired.Seconds(), 1000),
			Counted: t.Counted, ListenerHours: round(t.ListenerHours, 10_000), StartAverage: round(t.Start, 100), TuneIns: t.Came, TuneOuts: t.Went,
			Reached: t.Reached,
		}
		if t.Reached > 0 {
			kept := round(t.Kept, 10_000)
			one.Kept = &kept
		}
		list.Tracks[i] = one
	}
	if !in.table() {
		return asJSON(list), nil
	}
	return asTable("tracks.csv", tracksTable(list.Tracks)), nil
}

func tracksTable(all []trackFigures) []byte {
	head := []string{"artist", "title", "file", "category", "plays", "seconds", "counted", "listener_hours", "start_average", "tune_ins", "tune_outs", "kept"}
	out, _ := sheet(head, func(row func(...string)) error {
		for _, t := range all {
			kept := ""
			if t.Kept != nil {
				kept = number(*t.Kept)
			}
			row(cell(t.Artist), cell(t.Title), cell(t.File), t.Category, strconv.Itoa(t.Plays), number(t.Seconds), strconv.Itoa(t.Counted),
				number(t.ListenerHours), number(t.StartAverage), strconv.Itoa(t.TuneIns), strconv.Itoa(t.TuneOuts), kept)
		}
		return nil
	})
	return out
}

type audienceInput struct {
	Span
	Form
}

type deviceShare struct {
	Name          string  `json:"name" enum:"android,iphone,ipad,windows,mac,linux,player,speaker,car,bot,other"`
	ListenerHours float64 `json:"listenerHours"`
	Share         float64 `json:"share" doc:"Of all, 0 to 1"`
}

type countryShare struct {
	Code          string  `json:"code" doc:"ISO 3166-1 alpha-2; ZZ where it is not known"`
	ListenerHours float64 `json:"listenerHours"`
	Share         float64 `json:"share"`
}

type wayShare struct {
	Name          string  `json:"name" enum:"hls,stream,icecast"`
	ListenerHours float64 `json:"listenerHours"`
	Share         float64 `json:"share"`
}

// geoState is by what countries are told.
type geoState struct {
	On      bool   `json:"on" doc:"Countries are told"`
	File    string `json:"file,omitempty" doc:"Name of the database; missing where none is set"`
	BuiltAt int64  `json:"builtAt,omitempty" doc:"When it was made"`
	Problem string `json:"problem,omitempty" doc:"What is wrong with it"`
}

type audienceBody struct {
	Timezone  string         `json:"timezone" doc:"Whose hours and days these are"`
	Devices   []deviceShare  `json:"devices" nullable:"false" doc:"The most first"`
	Countries []countryShare `json:"countries" nullable:"false"`
	Ways      []wayShare     `json:"ways" nullable:"false" doc:"Counted since before devices and countries were"`
	Geo       geoState       `json:"geo"`
	Since     int64          `json:"since,omitempty" doc:"Begin of the first day of which devices and countries are known; missing where nothing is"`
}

func (s *Server) audience(ctx context.Context, in *audienceInput) (*formedAnswer, error) {
	from, to, err := in.times()
	if err != nil {
		return nil, err
	}
	told, err := s.opt.Telemetry.Audience(ctx, from, to)
	if err != nil {
		return nil, err
	}
	body := audienceBody{Timezone: s.opt.Zone.String(), Devices: []deviceShare{}, Countries: []countryShare{}, Ways: []wayShare{}}
	shares(told.Devices, func(name string, hours, share float64) {
		body.Devices = append(body.Devices, deviceShare{name, hours, share})
	})
	shares(told.Countries, func(code string, hours, share float64) {
		body.Countries = append(body.Countries, countryShare{code, hours, share})
	})
	shares(told.Ways, func(name string, hours, share float64) { body.Ways = append(body.Ways, wayShare{name, hours, share}) })
	if !told.Since.IsZero() {
		body.Since = told.Since.UnixMilli()
	}
	if in.table() {
		return asTable("audience.csv", audienceTable(body)), nil
	}
	if s.opt.Countries != nil {
		body.Geo = geoOf(s.opt.Countries())
	}
	return asJSON(body), nil
}

func geoOf(state census.State) geoState {
	out := geoState{On: state.On, File: state.File, Problem: state.Problem}
	if !state.BuiltAt.IsZero() {
		out.BuiltAt = state.BuiltAt.UnixMilli()
	}
	return out
}

func shares(all []telemetry.Share, add func(name string, hours, share float64)) {
	var sum int64
	for _, one := range all {
		sum += one.Seconds
	}
	for _, one := range all {
		add(one.Name, round(one.Hours(), 10_000), round(float64(one.Seconds)/float64(max(sum, 1)), 10_000))
	}
}

func audienceTable(body audienceBody) []byte {
	out, _ := sheet([]string{"kind", "name", "listener_hours", "share"}, func(row func(...string)) error {
		for _, d := range body.Devices {
			row("device", d.Name, number(d.ListenerHours), number(d.Share))
		}
		for _, c := range body.Countries {
			row("country", c.Code, number(c.ListenerHours), number(c.Share))
		}
		for _, w := range body.Ways {
			row("way", w.Name, number(w.ListenerHours), number(w.Share))
		}
		return nil
	})
	return out
}

type royaltiesInput struct {
	Form
	Month string `query:"month" required:"true" pattern:"^[0-9]{4}-(0[1-9]|1[0-2])$" doc:"As 2026-11, of the station's own clock"`
	As    string `query:"form" enum:"soundexchange,cue" default:"soundexchange" doc:"Whose columns the table has; JSON has the same for both"`
	// The two are of soundexchange alone.
	Measure      string `query:"measure" enum:"performances,hours" default:"performances" doc:"What is reported of listeners: actual total performances, or aggregate tuning hours with play frequency"`
	Transmission string `query:"transmission" enum:"A,B,C,D,E,F,G,H,I,J,K" default:"A" doc:"Transmission category, by its letter in 37 CFR 370.4(d)(2)(ii), where D to G stand for none by now"`
}

type royaltiesBody struct {
	Month            string           `json:"month"`
	Timezone         string           `json:"timezone"`
	Plays            int              `json:"plays"`
	ListenerHours    float64          `json:"listenerHours" doc:"Of music alone"`
	UncountedSeconds float64          `json:"uncountedSeconds" doc:"Music that aired while nobody counted listeners"`
	Missing          royaltiesMissing `json:"missing" doc:"How many rows lack what"`
	Rows             []royaltiesRow   `json:"rows" nullable:"false"`
}

type royaltiesMissing struct {
	ISRC   int `json:"isrc"`
	Album  int `json:"album"`
	Label  int `json:"label"`
	Artist int `json:"artist"`
}

type royaltiesRow struct {
	Title         string  `json:"title"`
	Artist        string  `json:"artist"`
	Album         string  `json:"album"`
	ISRC          string  `json:"isrc"`
	Label         string  `json:"label"`
	Composer      string  `json:"composer"`
	Plays         int     `json:"plays"`
	Seconds       float64 `json:"seconds"`
	ListenerHours float64 `json:"listenerHours"`
	Performances  int     `json:"performances" doc:"Listeners when it began and those who came while it aired, all plays together"`
}

// royalties is a report so far where the month is still going on.
func (s *Server) royalties(ctx context.Context, in *royaltiesInput) (*formedAnswer, error) {
	month, err := telemetry.ParseMonth(in.Month)
	if err != nil {
		return nil, fieldError("query.month", "must be as 2026-11")
	}
	if in.table() && in.As == "cue" {
		table, err := s.cueSheet(ctx, month)
		if err != nil {
			return nil, err
		}
		return asTable(fmt.Sprintf("cue-sheet-%s.csv", month), table), nil
	}
	used, err := s.opt.Telemetry.Used(ctx, month)
	if err != nil {
		return nil, err
	}
	if in.table() {
		return asTable(fmt.Sprintf("soundexchange-%s.csv", month), s.reportOfUse(used, in.Transmission, in.Measure == "hours")), nil
	}
	body := royaltiesBody{
		Month: month.String(), Timezone: s.opt.Zone.String(), Plays: used.Plays, ListenerHours: round(used.ListenerHours, 10_000),
		UncountedSeconds: round(used.Uncounted.Seconds(), 1000), Rows: make([]royaltiesRow, len(used.Uses)),
	}
	for i, u := range used.Uses {
		body.Rows[i] = royaltiesRow{
			Title: u.Title, Artist: u.Artist, Album: u.Album, ISRC: u.ISRC, Label: u.Label, Composer: u.Composer,
			Plays: u.Plays, Seconds: round(u.Aired.Seconds(), 1000), ListenerHours: round(u.ListenerHours, 10_000), Performances: u.Performances,
		}
		for _, lack := range []struct {
			of    string
			count *int
		}{{u.ISRC, &body.Missing.ISRC}, {u.Album, &body.Missing.Album}, {u.Label, &body.Missing.Label}, {u.Artist, &body.Missing.Artist}} {
			if lack.of == "" {
				*lack.count++
			}
		}
	}
	return asJSON(body), nil
}
