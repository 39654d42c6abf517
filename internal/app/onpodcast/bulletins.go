package onpodcast

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/library/bulletin"
	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/production"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/station"
)

// mostNoted is of how many bulletins is kept what they say: far more than the deck has.
const mostNoted = 200

// bulletins are those of the news deck. What each says is noted as it is made: the file does not
// tell it.
type bulletins struct {
	media  string // the media root
	noted  string // folder of what they say
	arabic bool   // titles are in Arabic
	zone   *time.Location
	log    *slog.Logger
}

// said is what a bulletin says.
type said struct {
	Text     string            `json:"text"`
	Chapters []podcast.Chapter `json:"chapters"`
}

// note keeps what a bulletin says that was made.
func (b *bulletins) note(made production.BulletinMade) {
	if err := b.write(made); err != nil { // it is an episode without words then
		b.log.Warn("cannot note what a bulletin says", "file", made.File, "err", err)
	}
}

func (b *bulletins) write(made production.BulletinMade) error {
	var s said
	for _, part := range made.Segments {
		if part.Voice == "" {
			continue // it is not in it
		}
		s.Text += part.Text + "\n"
		s.Chapters = append(s.Chapters, podcast.Chapter{StartMS: part.At.Milliseconds(), Title: b.named(bulletin.Kind(part.Kind))})
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.noted, 0o700); err != nil {
		return err
	}
	if err := file.WriteAtomic(b.noteOf(made.File), data, 0o600); err != nil {
		return err
	}
	return b.prune()
}

func (b *bulletins) noteOf(key string) string {
	return filepath.Join(b.noted, strings.TrimSuffix(filepath.Base(key), ".mp3")+".json")
}

// prune removes the oldest notes: their names sort by the time that they tell.
func (b *bulletins) prune() error {
	all, err := os.ReadDir(b.noted)
	if err != nil {
		return err
	}
	for _, old := range all[:max(0, len(all)-mostNoted)] {
		if err := os.Remove(filepath.Join(b.noted, old.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Offers implements podcast.Origin.
func (b *bulletins) Offers(context.Context) ([]podcast.Raw, error) {
	deck := filepath.Join(b.media, string(station.News))
	all, err := os.ReadDir(deck)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("list bulletins: %w: %w", err, station.ErrUnavailable)
	}
	var out []podcast.Raw
	for _, f := range all {
		key := string(station.News) + "/" + f.Name()
		if at := bulletin.Tells(key); at.IsZero() || !f.Type().IsRegular() {
			continue
		}
		if raw, err := b.read(key); err == nil { // else it has just been archived
			out = append(out, raw)
		}
	}
	slices.SortFunc(out, func(a, b podcast.Raw) int {
		return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(b.Source.Key, a.Source.Key))
	})
	return out, nil
}

// Find implements podcast.Origin.
func (b *bulletins) Find(_ context.Context, key string) (podcast.Raw, error) {
	if err := b.check(key); err != nil {
		return podcast.Raw{}, err
	}
	return b.read(key)
}

// check refuses names that no bulletin has, and so all paths that lead out of the deck.
func (b *bulletins) check(key string) error {
	deck, name, ok := strings.Cut(key, "/")
	if !ok || deck != string(station.News) || strings.ContainsAny(name, "/\x00") || bulletin.Tells(key).IsZero() {
		return fmt.Errorf("bulletin %.80q: %w", key, station.ErrNotFound)
	}
	return nil
}

func (b *bulletins) read(key string) (podcast.Raw, error) {
	at := bulletin.Tells(key)
	raw := podcast.Raw{Source: podcast.Source{Kind: podcast.Bulletins, Key: key}, Title: b.title(at), Began: at, From: at, Listeners: -1}
	f, err := os.Open(filepath.Join(b.media, key))
	if err != nil {
		return raw, missing("bulletin", key, err)
	}
	defer f.Close() //nolint:errcheck // only read
	stat, err := f.Stat()
	if err != nil {
		return raw, err
	}
	if info, err := audiofile.Read(f, stat.Size()); err == nil {
		raw.Duration = info.Duration
	}
	var s said
	if data, err := os.ReadFile(b.noteOf(key)); err == nil && json.Unmarshal(data, &s) == nil {
		raw.Text, raw.Chapters = strings.TrimSpace(s.Text), s.Chapters
	}
	return raw, nil
}

// Fetch implements podcast.Origin.
func (b *bulletins) Fetch(ctx context.Context, key, to string) error {
	if err := b.check(key); err != nil {
		return err
	}
	return copyFile(ctx, "bulletin", key, filepath.Join(b.media, key), to)
}

// Standing implements podcast.Origin.
func (b *bulletins) Standing(context.Context, string) (podcast.Standing, error) {
	return podcast.Free, nil
}

// title names a bulletin by the time that it tells.
func (b *bulletins) title(at time.Time) string {
	at = at.In(b.zone)
	if !b.arabic {
		return at.Format("Bulletin of Monday 2 January 2006, 15:04")
	}
	days := [...]string{"الأحد", "الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت"}
	months := [...]string{"يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"}
	return fmt.Sprintf("نشرة %s %d %s %d، الساعة %s", days[at.Weekday()], at.Day(), months[at.Month()-1], at.Year(), at.Format("15:04"))
}

// named is a part of a bulletin as a chapter.
func (b *bulletins) named(k bulletin.Kind) string {
	names, ok := map[bulletin.Kind][2]string{
		bulletin.Time: {"The time", "الساعة الآن"}, bulletin.Date: {"The date", "تاريخ اليوم"}, bulletin.Weather: {"The weather", "الطقس"},
		bulletin.Headlines: {"The headlines", "العناوين"}, bulletin.Programme: {"Coming up", "في البرنامج"}, bulletin.Return: {"Back to the music", "عودة إلى الموسيقى"},
	}[k]
	switch {
	case !ok:
		return string(k)
	case b.arabic:
		return names[1]
	}
	return names[0]
}
