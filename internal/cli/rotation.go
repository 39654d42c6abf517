package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/kit/store"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/onair/scheduler"
	"github.com/athir-radio/athir/internal/station"
)

type rotationCmd struct {
	Data string `help:"Data directory of the station, which may be running." default:"data" placeholder:"DIR" env:"ATHIR_DATA"`
	JSON bool   `name:"json" help:"Print one JSON object, as described above."`
}

// Help describes the JSON.
func (rotationCmd) Help() string {
	return `Reads the database and changes nothing.

With --json, an object; times are epoch milliseconds:
  cursor     entries heard or passed over: the position of the next one
  daypart    key of the daypart it was built in
  built_at, starts_at   when it was built, and planned to begin
  reason     why it was built
  on_air     what is heard: kind, path, title, artist, started_at, and position
             (-1: in no entry of this rotation); null before anything was
  entries    in order, each with position, path (relative to the media folder),
             title, artist, category, type (music, or how it is annotated),
             duration_ms, daypart, slot (number of its imaging break, 0 is none),
             clock and due (of a timed event), expected_at (of entries to come),
             on_air, aired, relaxed (rules that gave way) and why (reason, wanted,
             considered, passedOver). A path that is no UTF-8 also as path_b64.`
}

// Run prints the committed rotation.
func (c rotationCmd) Run(g globals) error {
	file := filepath.Join(c.Data, "athir.db")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no station in %s: %s does not exist: name its data directory with --data", c.Data, file)
	}
	cfg, _, err := config.Load(config.Source{DataDir: c.Data, Env: os.Environ()})
	if err != nil {
		return err
	}
	db, err := store.OpenReadOnly(g.ctx, cfg.Database())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	view, err := scheduler.Committed(g.ctx, db)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(g.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(rotationReport(view))
	}
	return printRotation(g.out, view, cfg.Timezone.Location)
}

// committed is the rotation for scripts: see rotationCmd.Help.
type committed struct {
	Cursor   int              `json:"cursor"`
	Daypart  string           `json:"daypart"`
	BuiltAt  int64            `json:"built_at"`
	StartsAt int64            `json:"starts_at"`
	Reason   string           `json:"reason"`
	OnAir    *committedOnAir  `json:"on_air"`
	Entries  []committedEntry `json:"entries"`
}

type committedTrack struct {
	Path       string `json:"path"`
	PathBase64 []byte `json:"path_b64,omitempty"`
	Title      string `json:"title"`
	Artist     string `json:"artist"`
}

type committedOnAir struct {
	committedTrack
	Kind      scheduler.Kind `json:"kind"`
	StartedAt int64          `json:"started_at"`
	Position  int            `json:"position"`
}

type committedEntry struct {
	Position int `json:"position"`
	committedTrack
	Category   station.Category `json:"category"`
	Type       string           `json:"type"`
	DurationMS int64            `json:"duration_ms"`
	Daypart    string           `json:"daypart"`
	Slot       int              `json:"slot"`
	Clock      string           `json:"clock,omitempty"`
	Due        int64            `json:"due,omitempty"`
	ExpectedAt int64            `json:"expected_at,omitempty"`
	OnAir      bool             `json:"on_air"`
	Aired      bool             `json:"aired"`
	Failed     string           `json:"failed,omitempty"`
	Relaxed    []rotation.Rule  `json:"relaxed"`
	Why        rotation.Why     `json:"why"`
}

func rotationReport(v *scheduler.View) committed {
	out := committed{
		Cursor: v.Consumed, Daypart: v.Rotation.Daypart, Reason: v.Reason,
		BuiltAt: millis(v.Rotation.BuiltAt), StartsAt: millis(v.Rotation.Starts), Entries: []committedEntry{},
	}
	if air := v.OnAir; !air.StartedAt.IsZero() {
		out.OnAir = &committedOnAir{committedTrackOf(air.Track), air.Kind, millis(air.StartedAt), air.Index}
	}
	for _, it := range v.Items() {
		e := committedEntry{
			Position: it.Index, committedTrack: committedTrackOf(it.Track), Category: it.Track.Category, Type: it.Type,
			DurationMS: it.Track.Duration.Milliseconds(), Daypart: v.Rotation.Daypart, Slot: it.Slot, Clock: it.Clock, Due: millis(it.Due),
			ExpectedAt: millis(it.ExpectedAt), OnAir: it.OnAir, Aired: it.Aired, Failed: it.Failed, Relaxed: it.Relaxed, Why: it.Why,
		}
		if e.Relaxed == nil {
			e.Relaxed = []rotation.Rule{}
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

func committedTrackOf(t station.Track) committedTrack {
	out := committedTrack{Path: t.Path, Title: t.Title, Artist: t.Artist}
	if !utf8.ValidString(t.Path) {
		out.PathBase64 = []byte(t.Path)
	}
	return out
}

// millis is 0 for no time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func printRotation(out io.Writer, v *scheduler.View, zone *time.Location) error {
	if len(v.Rotation.Entries) == 0 {
		_, err := fmt.Fprintln(out, "No rotation was committed yet.")
		return err
	}
	fmt.Fprintf(out, "%d entries, %d heard or passed over; built %s, daypart %s: %s\n\n", len(v.Rotation.Entries), v.Consumed,
		v.Rotation.BuiltAt.In(zone).Format("2006-01-02 15:04:05"), v.Rotation.Daypart, v.Reason)
	return table(out, 0, func(w io.Writer) {
		fmt.Fprintln(w, "\t#\tSTARTS\tTYPE\tCATEGORY\tTITLE\tARTIST\tWHY\tRELAXED")
		for _, it := range v.Items() {
			mark, starts := " ", ""
			switch {
			case it.OnAir:
				mark, starts = "▶", "on air"
			case it.Failed != "":
				mark, starts = "✗", "failed"
			case it.Aired:
				mark = "·"
			default:
				starts = it.ExpectedAt.In(zone).Format(time.TimeOnly)
			}
			title := it.Track.Title
			if title == "" {
				title = it.Track.Path
			}
			relaxed := make([]string, len(it.Relaxed))
			for i, r := range it.Relaxed {
				relaxed[i] = string(r)
			}
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark, it.Index, starts, it.Type, it.Track.Category,
				shown(title), shown(it.Track.Artist), shown(cmp.Or(it.Failed, it.Why.Reason)), strings.Join(relaxed, " "))
		}
	})
}

// widest is the most of a text that a table shows, in characters.
const widest = 40

// shown is text from a file's tags as a terminal may have it.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	if letters := []rune(text); len(letters) > widest {
		return string(letters[:widest-1]) + "…"
	}
	return text
}
