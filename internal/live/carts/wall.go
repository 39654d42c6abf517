package carts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/athir-radio/athir/internal/live"
	"github.com/athir-radio/athir/internal/station"
)

const (
	// Slots of a page: five columns of four.
	Slots     = 20
	MostPages = live.MostCarts / Slots
	// LongestName are characters of a label or the name of a page.
	LongestName = 40
	// LongestFile are bytes of a path; mostFiles of all of a wall, which the desk is told at once.
	LongestFile, mostFiles = 1024, 96 << 10
	// LeastGain and MostGain are in dB.
	LeastGain, MostGain = -24, 12
	// LongestMS is how long a file may be. A little over a minute passes: what is too much is
	// faded out.
	LongestMS = live.LongestCartMS + 500
)

// Colours are those that a cart may have: names, as each theme has a shade of its own for them.
func Colours() []string {
	return []string{"", "grey", "red", "amber", "green", "teal", "blue", "violet", "pink"}
}

// Cart is a button of the wall.
type Cart struct {
	Slot   int     `json:"slot" minimum:"0" maximum:"19" doc:"Its place on the page, row by row"`
	File   string  `json:"file" minLength:"1" maxLength:"1024" doc:"Of the library, as /api/library shows it"`
	Label  string  `json:"label" maxLength:"40" doc:"On the button; without one it shows the title"`
	Colour string  `json:"colour" enum:",grey,red,amber,green,teal,blue,violet,pink" doc:"By name: each theme has its own shade of it"`
	GainDB float64 `json:"gainDb" minimum:"-24" maximum:"12" doc:"Added to the level of the file"`
	Key    string  `json:"key" maxLength:"1" pattern:"^[0-9a-z]?$" doc:"The key that fires it: a digit or a letter of the Latin layout; unique on its page"`
	Loop   bool    `json:"loop" doc:"It plays until it is stopped"`
}

// Page is a tab of the wall.
type Page struct {
	Name  string `json:"name" minLength:"1" maxLength:"40"`
	Carts []Cart `json:"carts" nullable:"false" maxItems:"20"`
}

// Wall is all of it. Version is 0 before it was ever set.
type Wall struct {
	Version int64
	Pages   []Page
}

// At is the cart at a place; nil: there is none.
func (w *Wall) At(page, slot int) *Cart {
	if page < 0 || page >= len(w.Pages) {
		return nil
	}
	carts := w.Pages[page].Carts
	i := slices.IndexFunc(carts, func(c Cart) bool { return c.Slot == slot })
	if i < 0 {
		return nil
	}
	return &carts[i]
}

// clean checks pages, and returns them with their texts on one line and carts in order.
func clean(pages []Page) ([]Page, error) {
	if len(pages) > MostPages {
		return nil, station.Wrong("pages", fmt.Sprintf("must be at most %d", MostPages), fmt.Sprintf("الصفحات %d على الأكثر", MostPages))
	}
	out, files := make([]Page, len(pages)), 0
	for i, p := range pages {
		at := fmt.Sprintf("pages[%d].", i)
		p.Name = live.Line(p.Name)
		if n := utf8.RuneCountInString(p.Name); n == 0 || n > LongestName {
			return nil, station.Wrong(at+"name", fmt.Sprintf("must have 1 to %d characters", LongestName), fmt.Sprintf("اسم الصفحة من حرف واحد إلى %d حرفًا", LongestName))
		}
		p.Carts = slices.Clone(p.Carts)
		slices.SortStableFunc(p.Carts, func(a, b Cart) int { return a.Slot - b.Slot })
		keys := map[string]bool{}
		for j := range p.Carts {
			c := &p.Carts[j]
			if j > 0 && p.Carts[j-1].Slot == c.Slot {
				return nil, station.Wrong(at+"carts", fmt.Sprintf("slot %d is there twice", c.Slot), "زران في المكان نفسه")
			}
			if c.Key != "" && keys[c.Key] {
				return nil, station.Wrong(at+"carts", fmt.Sprintf("key %s is there twice: choose another for one of them", c.Key), fmt.Sprintf("المفتاح %s مستخدم مرتين في الصفحة: اختر غيره لأحدهما", c.Key))
			}
			keys[c.Key] = true
			if err := c.clean(fmt.Sprintf("%scarts[%d].", at, j)); err != nil {
				return nil, err
			}
			files += len(c.File)
		}
		out[i] = p
	}
	if files > mostFiles {
		return nil, station.Wrong("pages", fmt.Sprintf("name files of %d bytes in all, %d at most: use shorter paths", files, mostFiles), "مسارات الملفات طويلة جدًا: استخدم أقصر منها")
	}
	return out, nil
}

func (c *Cart) clean(at string) error {
	c.Label = live.Line(c.Label)
	switch {
	case c.Slot < 0 || c.Slot >= Slots:
		return station.Wrong(at+"slot", fmt.Sprintf("must be 0 to %d", Slots-1), "مكان الزر خارج الصفحة")
	case c.File == "" || len(c.File) > LongestFile || strings.ContainsRune(c.File, 0):
		return station.Wrong(at+"file", fmt.Sprintf("must be a path of the library, %d bytes at most", LongestFile), "اختر ملفًا من المكتبة")
	case utf8.RuneCountInString(c.Label) > LongestName:
		return station.Wrong(at+"label", fmt.Sprintf("must have at most %d characters", LongestName), fmt.Sprintf("اسم الزر %d حرفًا على الأكثر", LongestName))
	case !slices.Contains(Colours(), c.Colour):
		return station.Wrong(at+"colour", "must be one of "+strings.Join(Colours()[1:], ", ")+", or empty", "اختر لونًا من القائمة")
	case math.IsNaN(c.GainDB) || c.GainDB < LeastGain || c.GainDB > MostGain:
		return station.Wrong(at+"gainDb", fmt.Sprintf("must be %d to %d", LeastGain, MostGain), "مستوى الصوت من −24 إلى +12 ديسيبل")
	case len(c.Key) > 1 || strings.Trim(c.Key, "0123456789abcdefghijklmnopqrstuvwxyz") != "":
		return station.Wrong(at+"key", "must be a digit, a letter from a to z, or empty", "المفتاح رقم أو حرف لاتيني واحد")
	}
	return nil
}
