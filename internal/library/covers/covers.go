// Package covers keeps the pictures that an operator gives to tracks: each once, whatever
// tracks have it, in the sizes that pages show. A picture is made anew from what was sent:
// nothing of the file itself, its place and camera included, is served.
package covers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png" // a kind of picture that is taken
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a kind of picture that is taken

	"github.com/athir-radio/athir/internal/kit/exif"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// MostBytes bounds a picture as it is sent, mostPixels what it is unpacked to.
	MostBytes  = 8 << 20
	mostPixels = 16_000_000
	// leastSide is the least that looks like anything on a lock screen.
	leastSide = 64
	quality   = 86 // of JPEG
	// reserve stays free of the disk, but 5 % at most of a small one.
	reserve = 1 << 30
)

// Sizes are the sides of the squares that pictures are kept in, in pixels.
func Sizes() []int { return []int{96, 320, 640} }

// Covers is a folder of pictures. Its methods may be called from any goroutine.
type Covers struct {
	dir   string
	space func(dir string) (free, size uint64, err error)
	// turn is held while a picture is unpacked, which takes 64 MB, and while one is removed.
	turn sync.Mutex
}

// Open makes the folder, which holds nothing else.
func Open(dir string) (*Covers, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of covers: %w", err)
	}
	return &Covers{dir: dir, space: file.Space}, nil
}

// Put keeps a picture and returns its id, which the same bytes always have. The error is of kind
// station.ErrInvalid for what is no picture, or too large, and station.ErrFull where the disk
// has no room.
func (c *Covers) Put(data []byte) (id string, err error) {
	sum := sha256.Sum256(data)
	id = hex.EncodeToString(sum[:16])
	if c.Keep(id) {
		return id, nil
	}
	if err := check(data); err != nil {
		return "", err
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	free, all, err := c.space(c.dir)
	if err != nil {
		return "", fmt.Errorf("look at the disk of %s: %w", c.dir, err)
	}
	if free < min(reserve, all/20) {
		return "", fmt.Errorf("picture: the station's disk is nearly full, %d MB are free: free some space, then send it again: %w", free>>20, station.ErrFull)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return "", invalid("is damaged: %v", err)
	}
	upright := exif.OrientationOf(data)
	// The largest last: it stands for all.
	for _, size := range Sizes() {
		var out bytes.Buffer
		if err := jpeg.Encode(&out, exif.Turned(square(picture, size), upright), &jpeg.Options{Quality: quality}); err != nil {
			return "", fmt.Errorf("write a cover: %w", err)
		}
		if err := file.WriteAtomic(c.path(id, size), out.Bytes(), 0o600); err != nil {
			return "", fmt.Errorf("write a cover: %w", err)
		}
	}
	return id, nil
}

func (c *Covers) path(id string, size int) string {
	return filepath.Join(c.dir, fmt.Sprintf("%s-%d.jpg", id, size))
}

func (c *Covers) whole(id string) bool {
	_, err := os.Stat(c.path(id, slices.Max(Sizes())))
	return err == nil
}

// Open opens a picture in the least size that has so many pixels a side, or the largest. The
// error is of kind station.ErrNotFound where there is no such picture.
func (c *Covers) Open(id string, side int) (*os.File, error) {
	if !station.CoverID(id) {
		return nil, fmt.Errorf("cover %.40q: %w", id, station.ErrNotFound)
	}
	size := slices.Max(Sizes())
	for _, s := range Sizes() {
		if s >= side {
			size = min(size, s)
		}
	}
	f, err := os.Open(c.path(id, size))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cover %s: %w", id, station.ErrNotFound)
	}
	return f, err
}

// Has reports whether there is a picture of that id.
func (c *Covers) Has(id string) bool { return station.CoverID(id) && c.whole(id) }

// Keep reports whether there is a picture of that id, and has Sweep leave it for a while: it
// is about to be named.
func (c *Covers) Keep(id string) bool {
	c.turn.Lock()
	defer c.turn.Unlock()
	if !c.Has(id) {
		return false
	}
	now := time.Now()
	return os.Chtimes(c.path(id, slices.Max(Sizes())), now, now) == nil
}

// Sweep removes the pictures that nothing names, and which were neither sent nor about to be
// named since a time.
func (c *Covers) Sweep(named map[string]bool, since time.Time) (removed int, err error) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return 0, fmt.Errorf("read the folder of covers: %w", err)
	}
	looked := map[string]bool{}
	for _, f := range files {
		id, _, _ := strings.Cut(f.Name(), "-")
		if !station.CoverID(id) || named[id] || looked[id] {
			continue
		}
		looked[id] = true
		gone, err := c.remove(id, since)
		if err != nil {
			return removed, fmt.Errorf("remove a cover: %w", err)
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

// remove removes a picture; whole tells that it was one. The largest size tells how old it is,
// and goes first: what is left after a kill is no picture, which Put writes anew.
func (c *Covers) remove(id string, since time.Time) (whole bool, err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	sizes := Sizes()
	slices.Sort(sizes)
	for _, size := range slices.Backward(sizes) {
		info, err := os.Stat(c.path(id, size))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.ModTime().After(since) && !whole {
			return false, nil
		}
		if err == nil {
			err = os.Remove(c.path(id, size))
		}
		if err != nil {
			return whole, err
		}
		whole = whole || size == slices.Max(sizes)
	}
	return whole, nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("picture: %s: %w", fmt.Sprintf(format, args...), station.ErrInvalid)
}

// check refuses what is no picture, before it is unpacked.
func check(data []byte) error {
	if len(data) > MostBytes {
		return invalid("has more than %d MiB", MostBytes>>20)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return invalid("must be a JPEG, PNG or WebP")
	case config.Width < leastSide || config.Height < leastSide:
		return invalid("has %d × %d pixels, %d each way are the least", config.Width, config.Height, leastSide)
	case config.Width > mostPixels/config.Height:
		return invalid("has %d × %d pixels, %d million in all are the most: make it smaller", config.Width, config.Height, mostPixels/1_000_000)
	}
	return nil
}

// square cuts the middle out of a picture and scales it. What is transparent becomes white.
func square(from image.Image, side int) *image.RGBA {
	b := from.Bounds()
	n := min(b.Dx(), b.Dy())
	middle := image.Rect(0, 0, n, n).Add(image.Pt(b.Min.X+(b.Dx()-n)/2, b.Min.Y+(b.Dy()-n)/2))
	side = min(side, n)
	out := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.CatmullRom.Scale(out, out.Bounds(), from, middle, draw.Over, nil)
	return out
}
