package face

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // a kind of picture that is taken
	"image/png"
	"sync"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a kind of picture that is taken

	"github.com/athir-radio/athir/internal/kit/exif"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// MostBytes bounds a picture as it is sent, mostPixels what it is unpacked to.
	MostBytes  = 4 << 20
	mostPixels = 16_000_000
	leastSide  = 32
	// The logo is kept within these, whatever its shape; the icon is a square.
	mostWide, mostHigh = 1024, 512
	iconSide           = 512
)

// Kind is which picture of a face.
type Kind string

// The pictures of a face; the names are those of fields.
const (
	Logo Kind = "logo"
	Icon Kind = "icon"
)

// painter makes pictures anew, one at a time: one takes 64 MB while it is unpacked.
type painter struct{ turn sync.Mutex }

// png is a picture made anew: nothing of the file itself, its place and camera included, is
// kept. What is transparent stays so.
func (p *painter) png(kind Kind, data []byte) ([]byte, error) {
	if len(data) > MostBytes {
		return nil, fmt.Errorf("%s: the picture has more than %d MiB, make it smaller: %w", kind, MostBytes>>20, station.ErrTooLarge)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return nil, station.Wrong(string(kind), "must be a PNG, JPEG or WebP", "الصورة بصيغة PNG أو JPEG أو WebP")
	case config.Width < leastSide || config.Height < leastSide:
		return nil, station.Wrong(string(kind), fmt.Sprintf("has %d × %d pixels, %d each way are the least", config.Width, config.Height, leastSide), fmt.Sprintf("الصورة صغيرة: %d بكسل في كل اتجاه على الأقل", leastSide))
	case config.Width > mostPixels/config.Height:
		return nil, station.Wrong(string(kind), fmt.Sprintf("has %d × %d pixels, %d million in all are the most: make it smaller", config.Width, config.Height, mostPixels/1_000_000), "أبعاد الصورة كبيرة: صغّرها")
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	from, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, station.Wrong(string(kind), "is damaged, or no whole picture", "ملف الصورة تالف")
	}
	wide, high := mostWide, mostHigh
	if kind == Icon {
		wide, high = iconSide, iconSide
	}
	turn := exif.OrientationOf(data)
	if turn >= 5 { // it lies on its side
		wide, high = high, wide
	}
	picture := exif.Turned(fit(from, wide, high), turn)
	if kind == Icon {
		picture = Square(picture, iconSide, iconSide, nil)
	}
	return Encode(picture)
}

// Encode writes a picture.
func Encode(picture image.Image) ([]byte, error) {
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture); err != nil {
		return nil, fmt.Errorf("write a picture: %w", err)
	}
	return out.Bytes(), nil
}

// fit scales a picture down so that it fits.
func fit(from image.Image, wide, high int) *image.RGBA {
	b := from.Bounds()
	w, h := b.Dx(), b.Dy()
	if w > wide {
		w, h = wide, max(1, h*wide/w)
	}
	if h > high {
		w, h = max(1, w*high/h), high
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(out, out.Bounds(), from, b, draw.Src, nil)
	return out
}

// Square puts a picture into the middle of a square, on a ground, or on none where that is nil.
// Of the side, the picture takes within.
func Square(from image.Image, side, within int, ground image.Image) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, side, side))
	if ground != nil {
		draw.Draw(out, out.Bounds(), ground, image.Point{}, draw.Src)
	}
	b := from.Bounds()
	w, h := within, max(1, b.Dy()*within/b.Dx())
	if h > within {
		w, h = max(1, b.Dx()*within/b.Dy()), within
	}
	at := image.Rect(0, 0, w, h).Add(image.Pt((side-w)/2, (side-h)/2))
	draw.CatmullRom.Scale(out, at, from, b, draw.Over, nil)
	return out
}
