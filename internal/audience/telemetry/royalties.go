package telemetry

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/store"
)

// Month is one of the calendar, in the station's zone.
type Month struct {
	Year  int
	Month time.Month
}

// ParseMonth reads 2026-11.
func ParseMonth(text string) (Month, error) {
	at, err := time.Parse("2006-01", text)
	if err != nil {
		return Month{}, fmt.Errorf("month %q: must be as 2026-11", text)
	}
	return Month{at.Year(), at.Month()}, nil
}

// String is as ParseMonth reads it.
func (m Month) String() string { return fmt.Sprintf("%04d-%02d", m.Year, m.Month) }

// span is the month's first moment and that of the next. A month in which clocks change is an
// hour shorter or longer than others of its days.
func (m Month) span(zone *time.Location) (from, to time.Time) {
	// At noon, for in some zones a day begins at one o'clock.
	return midnight(time.Date(m.Year, m.Month, 1, 12, 0, 0, 0, zone)), midnight(time.Date(m.Year, m.Month+1, 1, 12, 0, 0, 0, zone))
}

// Use is how one recording was used in a month.
type Use struct {
	Title, Artist string
	Release
	Plays         int
	Aired         time.Duration
	ListenerHours float64
	Performances  int // see Aired.Performances
}

// Uses is the music of a month, by artist and title.
type Uses struct {
	Uses          []Use
	Plays         int
	ListenerHours float64
	Uncounted     time.Duration // of music while nobody counted listeners
	TuningHours   float64       // listener hours of the whole programme, by the history
}

// Performances is to how many listeners a recording was transmitted in an airing: those who
// listened when it began, and those who came while it aired. Whoever leaves and comes again
// meanwhile is two.
func (a *Aired) Performances() int {
	if !a.Counted {
		return 0
	}
	return a.Start + a.Came
}

// Length is how long it was on the air, up to now where it still is.
func (a *Aired) Length(now time.Time) time.Duration {
	if a.EndedAt.IsZero() {
		return max(0, now.Sub(a.StartedAt))
	}
	return max(0, a.EndedAt.Sub(a.StartedAt))
}

// ListenerHours are its average listeners times its length.
func (a *Aired) ListenerHours(now time.Time) float64 {
	if !a.Counted {
		return 0
	}
	return a.Average() * a.Length(now).Hours()
}

// Music calls fn with each song of the rotation that began in a month, the oldest first, with
// what is known of it by now where nothing was when it aired.
func (t *Telemetry) Music(ctx context.Context, m Month, fn func(*Aired) error) error {
	done, err := t.report(ctx)
	if err != nil {
		return err
	}
	defer done()
	from, to := m.span(t.book.zone)
	read := 0
	err = store.Each(ctx, t.book.db.Read(), func(rows *sql.Rows) error {
		a, err := scanAired(rows)
		if err != nil {
			return err
		}
		if known, there := t.known(&a); there {
			a.Release = a.or(known)
		}
		read++
		return fn(&a)
	}, `SELECT `+airedColumns+` FROM telemetry_airings WHERE started >= ? AND started < ? AND `+isMusic+` ORDER BY started, id LIMIT ?`,
		from.UnixMilli(), to.UnixMilli(), mostUses)
	if err != nil {
		return fmt.Errorf("read the music of %s: %w", m, err)
	}
	if read == mostUses {
		t.opt.Log.Warn("the report of a month leaves out what aired after its first songs", "month", m.String(), "songs", read)
	}
	return nil
}

const (
	// isMusic leaves out imaging, what was live, and emergency audio, of which it is not known
	// what they were.
	isMusic = `type = 'music' AND kind = 'rotation' AND path <> x''`
	// mostUses is more than a month of songs that are half a minute long.
	mostUses = 100_000
)

// Used sums up the music of a month by recording: by its ISRC and title, else by title, artist,
// album and label. One ISRC on all songs of an album, as some taggers write, does not make them
// one.
func (t *Telemetry) Used(ctx context.Context, m Month) (Uses, error) {
	var out Uses
	now, places := t.opt.Now(), map[string]int{}
	err := t.Music(ctx, m, func(a *Aired) error {
		key := strings.Join([]string{"isrc", a.ISRC, strings.ToLower(a.Title)}, "\x00")
		if a.ISRC == "" {
			key = strings.Join([]string{"", strings.ToLower(a.Title), strings.ToLower(a.Artist), strings.ToLower(a.Album), strings.ToLower(a.Label)}, "\x00")
		}
		i, known := places[key]
		if !known {
			i, places[key] = len(out.Uses), len(out.Uses)
			out.Uses = append(out.Uses, Use{})
		}
		u := &out.Uses[i]
		u.Title, u.Artist, u.Release = a.Title, cmp.Or(a.Artist, u.Artist), a.or(u.Release) // as of the latest
		u.Plays++
		u.Aired += a.Length(now)
		u.ListenerHours += a.ListenerHours(now)
		u.Performances += a.Performances()
		out.Plays++
		out.ListenerHours += a.ListenerHours(now)
		if !a.Counted {
			out.Uncounted += a.Length(now)
		}
		return nil
	})
	if err != nil {
		return Uses{}, err
	}
	from, to := m.span(t.book.zone)
	ways, err := t.book.ways(ctx, Day, from, to)
	if err != nil {
		return Uses{}, fmt.Errorf("read the listener hours of %s: %w", m, err)
	}
	for _, way := range ways {
		out.TuningHours += way.Hours()
	}
	slices.SortFunc(out.Uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Artist, b.Artist), cmp.Compare(a.Title, b.Title), cmp.Compare(a.ISRC, b.ISRC), cmp.Compare(a.Album, b.Album), cmp.Compare(a.Label, b.Label))
	})
	return out, nil
}

func (t *Telemetry) known(a *Aired) (Release, bool) {
	if t.opt.Known == nil {
		return Release{}, false
	}
	return t.opt.Known(a.Path, a.Title, a.Artist)
}
