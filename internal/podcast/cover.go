package podcast

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png" // a kind of picture that is taken
	"maps"
	"math"
	"sync"
	"time"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a kind of picture that is taken

	"github.com/athir-radio/athir/internal/kit/exif"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// MostCoverBytes bounds a cover as it is sent, mostPixels what it is unpacked to.
	MostCoverBytes = 8 << 20
	mostPixels     = 40_000_000
	// Directories take squares between these.
	leastSide, mostSide = 1400, 3000
	lightCover          = 1 << 20 // bytes that a cover is brought below where that can be
	faceFor             = 10 * time.Minute
)

// covers holds covers as they are served.
type covers struct {
	turn chan struct{} // a picture is unpacked, which takes up to 200 MB

	mu   sync.Mutex
	own  map[string][]byte // by stamp
	face []byte            // of shows that have none
	made time.Time         // when face was
	of   string            // the stamp of what it was made of
}

// SetCover gives a show a cover: a PNG, JPEG or WebP of which the middle is taken. Errors:
// station.ErrNotFound; station.ErrInvalid and station.ErrTooLarge, naming the field.
func (p *Podcasts) SetCover(ctx context.Context, slug string, data []byte) (*Show, error) {
	if _, err := p.Show(slug); err != nil {
		return nil, err
	}
	if err := checkCover(data); err != nil {
		return nil, err
	}
	select {
	case p.cover.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	picture, err := remade(data)
	<-p.cover.turn
	if err != nil {
		return nil, err
	}
	return p.keepCover(ctx, slug, picture)
}

// RemoveCover takes a show's own cover away; one that is not there is no error. The error is of
// kind station.ErrNotFound.
func (p *Podcasts) RemoveCover(ctx context.Context, slug string) (*Show, error) {
	return p.keepCover(ctx, slug, nil)
}

func (p *Podcasts) keepCover(ctx context.Context, slug string, picture []byte) (*Show, error) {
	p.turn.Lock()
	before, ok := p.book.Load().shelves[slug]
	if !ok {
		p.turn.Unlock()
		return nil, noShow(slug)
	}
	after := before.clone()
	after.Cover = ""
	if picture != nil {
		after.Cover = stampOf(picture)
	}
	after.Version++
	after.touch(p.opt.Now())
	err := p.commit(ctx, slug, before, after, func(tx *sql.Tx) error {
		if picture == nil {
			_, err := tx.ExecContext(ctx, `DELETE FROM podcast_covers WHERE show = ?`, slug)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO podcast_covers (show, jpeg) VALUES (?, ?)`, slug, picture)
		return err
	})
	p.turn.Unlock()
	if err != nil {
		return nil, err
	}
	p.cover.tidy(p.book.Load())
	return p.Show(slug)
}

// tidy forgets covers that no show has.
func (c *covers) tidy(b *book) {
	named := map[string]bool{}
	for _, s := range b.shelves {
		named[s.Cover] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.own, func(stamp string, _ []byte) bool { return !named[stamp] })
}

// Cover is the cover of a show, a square JPEG, and its stamp, which changes with it. Where the show
// has none it is the station's. The error is of kind station.ErrNotFound.
func (p *Podcasts) Cover(ctx context.Context, slug string) (data []byte, stamp string, err error) {
	show, err := p.Show(slug)
	if err != nil {
		return nil, "", err
	}
	if show.Cover == "" {
		data, err := p.faceCover(ctx)
		return data, stampOf(data), err
	}
	p.cover.mu.Lock()
	data = p.cover.own[show.Cover]
	p.cover.mu.Unlock()
	if data != nil {
		return data, show.Cover, nil
	}
	err = p.opt.DB.Read().QueryRowContext(ctx, `SELECT jpeg FROM podcast_covers WHERE show = ?`, slug).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, "", fmt.Errorf("the cover of show %s was just removed: %w", slug, station.ErrNotFound)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the cover of show %s: %w", slug, err)
	}
	stamp = stampOf(data) // it may be a newer one
	p.cover.mu.Lock()
	p.cover.own[stamp] = data
	p.cover.mu.Unlock()
	return data, stamp, nil
}

// faceCover is the station's, made anew when the face changes and every few minutes; one that
// is being made anew is waited for only where there is none yet.
func (p *Podcasts) faceCover(ctx context.Context) ([]byte, error) {
	c := &p.cover
	stamp := p.opt.CoverStamp()
	have, newest := c.drawn(stamp, p.opt.Now())
	if newest {
		return have, nil
	}
	if have != nil {
		select {
		case c.turn <- struct{}{}:
		default:
			return have, nil
		}
	} else {
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { <-c.turn }()
	if have, newest = c.drawn(stamp, p.opt.Now()); newest {
		return have, nil
	}
	data, err := p.face(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.face, c.made, c.of = data, p.opt.Now(), stamp
	c.mu.Unlock()
	return data, nil
}

// drawn is the station's cover as it was last made, and whether it need not be made anew.
func (c *covers) drawn(stamp string, now time.Time) (data []byte, newest bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := now.Sub(c.made)
	return c.face, c.face != nil && c.of == stamp && age >= 0 && age < faceFor
}

// drawn is the cover that the station's face gives, or a plain one.
func (p *Podcasts) drawn(ctx context.Context) ([]byte, error) {
	var from image.Image
	if p.opt.StationCover != nil {
		from = p.opt.StationCover(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if from == nil || from.Bounds().Empty() {
		return encoded(plainCover())
	}
	return encoded(square(from, leastSide))
}

func stampOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// checkCover refuses what is no cover, before it is unpacked.
func checkCover(data []byte) error {
	if len(data) > MostCoverBytes {
		return fmt.Errorf("cover: the picture has more than %d MiB, make it smaller: %w", MostCoverBytes>>20, station.ErrTooLarge)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return station.Wrong("cover", "must be a PNG, JPEG or WebP", "الصورة بصيغة PNG أو JPEG أو WebP")
	case min(config.Width, config.Height) < leastSide:
		return station.Wrong("cover", fmt.Sprintf("has %d × %d pixels, %d each way are the least that podcast directories take", config.Width, config.Height, leastSide),
			fmt.Sprintf("الصورة صغيرة: %d بكسل في كل اتجاه على الأقل، فأدلة البودكاست لا تقبل أصغر منها", leastSide))
	case config.Width > mostPixels/config.Height:
		return station.Wrong("cover", fmt.Sprintf("has %d × %d pixels, %d million in all are the most: make it smaller", config.Width, config.Height, mostPixels/1_000_000), "أبعاد الصورة كبيرة: صغّرها")
	}
	return nil
}

// remade is a cover made anew of a picture: nothing of the file itself, its place and camera
// included, is kept.
func remade(data []byte) ([]byte, error) {
	from, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, station.Wrong("cover", "is damaged, or no whole picture", "ملف الصورة تالف")
	}
	turn := exif.OrientationOf(data)
	side := min(from.Bounds().Dx(), from.Bounds().Dy(), mostSide)
	var out []byte
	for _, most := range []int{mostSide, 2048, leastSide} {
		if side < most && out != nil {
			continue
		}
		if out, err = encoded(exif.Turned(square(from, min(side, most)), turn)); err != nil || len(out) <= lightCover {
			return out, err
		}
	}
	return out, nil
}

func encoded(picture image.Image) ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 86}); err != nil {
		return nil, fmt.Errorf("write a cover: %w", err)
	}
	return out.Bytes(), nil
}

// square is the middle of a picture, scaled. What is transparent becomes white.
func square(from image.Image, side int) *image.RGBA {
	b := from.Bounds()
	n := min(b.Dx(), b.Dy())
	middle := image.Rect(0, 0, n, n).Add(image.Pt(b.Min.X+(b.Dx()-n)/2, b.Min.Y+(b.Dy()-n)/2))
	out := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	if n == side {
		draw.Draw(out, out.Bounds(), from, middle.Min, draw.Over)
	} else {
		draw.CatmullRom.Scale(out, out.Bounds(), from, middle, draw.Over, nil)
	}
	return out
}

// plainCover is one for a station without a face: waves from a point.
func plainCover() image.Image {
	const side = leastSide
	out := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			away := math.Hypot(float64(x)-side/2, float64(y)-side/2)
			c := color.RGBA{0x12, 0x2b, 0x39, 0xff}
			if away < 90 || away > 170 && math.Mod(away-170, 130) < 36 && away < 600 {
				c = color.RGBA{0xf2, 0xd4, 0x9b, 0xff}
			}
			out.SetRGBA(x, y, c)
		}
	}
	return out
}
