package telemetry

import (
	"context"
	"math"
	"time"
)

// By is the length of a point of the history.
type By string

// The lengths.
const (
	Minute By = "minute"
	Hour   By = "hour"
	Day    By = "day"
)

// Kept is how long points of this length are kept.
func (b By) Kept() time.Duration {
	const day = 24 * time.Hour
	switch b {
	case Minute:
		return day
	case Hour:
		return 60 * day
	default:
		return 2 * 365 * day
	}
}

// begin returns when the point that holds a moment begins. Hours and days are
// those of the zone's wall clock.
func (b By) begin(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	switch b {
	case Minute:
		return at.Truncate(time.Minute)
	case Hour:
		// By offset, not by name: the hour that DST repeats is two points.
		_, offset := at.Zone()
		shift := time.Duration(offset) * time.Second
		return at.Add(shift).Truncate(time.Hour).Add(-shift)
	default:
		return midnight(at)
	}
}

// midnight returns the first moment of at's day, in its zone. Where DST begins at
// midnight, as in Cairo, that is one o'clock.
func midnight(at time.Time) time.Time {
	y, m, d := at.Date()
	first := time.Date(y, m, d, 0, 0, 0, 0, at.Location())
	if first.Day() != d {
		_, first = first.ZoneBounds()
	}
	return first
}

// sums add up counts.
type sums struct {
	n                                   int64
	counted, total, hls, stream, direct int64
	fewest, most                        int
	bits, mostBits                      float64
	came, went                          int64
}

func (s *sums) add(c Count) {
	if s.n == 0 || c.Parts.Total < s.fewest {
		s.fewest = c.Parts.Total
	}
	s.most = max(s.most, c.Parts.Total)
	s.n++
	s.counted += int64(c.Listeners)
	s.total += int64(c.Parts.Total)
	s.hls += int64(c.Parts.HLS)
	s.stream += int64(c.Parts.Stream)
	s.direct += int64(c.Parts.Icecast)
	s.bits += c.Bandwidth.Total
	s.mostBits = max(s.mostBits, c.Bandwidth.Total)
	s.came += int64(c.came)
	s.went += int64(c.went)
}

// Point is one minute, hour or day of the history.
type Point struct {
	At      int64 `json:"at" doc:"Epoch milliseconds of its begin"`
	Samples int64 `json:"samples" doc:"Times it was counted; every 5 s"`
	// Listeners are all: HLS, /stream and direct.
	Listeners struct {
		Average float64 `json:"average"`
		Min     int     `json:"min"`
		Max     int     `json:"max"`
	} `json:"listeners" doc:"All listeners"`
	HLS       float64 `json:"hls" doc:"HLS sessions, on average"`
	Stream    float64 `json:"stream" doc:"Listeners of /stream, on average"`
	Icecast   float64 `json:"icecast" doc:"Listeners of the master mount, on average"`
	Bandwidth struct {
		Average float64 `json:"average"`
		Max     float64 `json:"max"`
	} `json:"bandwidth" doc:"Bits per second"`
	TuneIns  int64 `json:"tuneIns"`
	TuneOuts int64 `json:"tuneOuts"`
}

func (s *sums) point(at int64) Point {
	p := Point{At: at, Samples: s.n, TuneIns: s.came, TuneOuts: s.went}
	n := float64(s.n)
	p.Listeners.Average, p.Listeners.Min, p.Listeners.Max = hundredths(float64(s.total)/n), s.fewest, s.most
	p.HLS, p.Stream, p.Icecast = hundredths(float64(s.hls)/n), hundredths(float64(s.stream)/n), hundredths(float64(s.direct)/n)
	p.Bandwidth.Average, p.Bandwidth.Max = math.Round(s.bits/n), math.Round(s.mostBits)
	return p
}

func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

// History returns the points that begin in [from, to), oldest first, at most
// 1,500. Times in which nothing was counted have no point.
func (t *Telemetry) History(ctx context.Context, by By, from, to time.Time) ([]Point, error) {
	return t.book.history(ctx, by, from, to)
}

// Airings returns at most limit airings that began in [from, to), newest first.
func (t *Telemetry) Airings(ctx context.Context, from, to time.Time, limit int) ([]Aired, error) {
	return t.book.airings(ctx, from, to, limit)
}

// AiringsOf returns at most limit airings of one path, newest first.
func (t *Telemetry) AiringsOf(ctx context.Context, path string, limit int) ([]Aired, error) {
	return t.book.airingsOf(ctx, path, limit)
}
