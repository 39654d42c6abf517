package pages

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/athir-radio/athir/internal/face"
)

// facePath is where programs get the face itself.
const facePath = "/api/face"

// Dress is a face as it is served: the face, and its files by their paths. It does not change.
type Dress struct {
	face  face.Face
	files map[string]*file
}

// paths are those of all files that a face may have.
func paths() []string {
	out := []string{face.LogoPath, face.MaskablePath, face.FaviconPath, face.ThemePath, face.CustomPath, face.ManifestPath, "/icon.svg"}
	for _, size := range iconSizes() {
		out = append(out, face.IconPath(size), oldIcon(size))
	}
	return out
}

func iconSizes() []int { return []int{180, 192, 512} }

// oldIcon is where icons were before stations had faces: notifications and the home screens of
// phones still ask there.
func oldIcon(size int) string { return "/icon-" + strconv.Itoa(size) + ".png" }

const (
	// keptLong is for addresses with the version of the face in them. A backup may bring an
	// older version back, so it is not for good.
	keptLong = "public, max-age=86400"
	// keptBriefly is for those without.
	keptBriefly = "public, max-age=300"
)

// The grounds of pages by day and by night (web/src/look/base.css).
const (
	noonGround  = "#e9efec"
	nightGround = "#0b1618"
)

func newDress(s *face.State, built fs.FS) (*Dress, error) {
	d := &Dress{face: s.Face(), files: map[string]*file{}}
	if err := d.pictures(s, built); err != nil {
		return nil, err
	}
	data, err := json.Marshal(d.face)
	if err != nil {
		return nil, fmt.Errorf("write the face: %w", err)
	}
	d.text(facePath, "application/json", data)
	d.text(face.ThemePath, contentTypes[".css"], []byte(face.Theme(s.Own.Accent)))
	d.text(face.CustomPath, contentTypes[".css"], []byte(s.Own.CSS))
	has := func(page Page) bool {
		_, err := fs.Stat(built, string(page))
		return err == nil
	}
	manifest, err := json.MarshalIndent(manifestOf(&d.face, has), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	d.text(face.ManifestPath, contentTypes[".webmanifest"], manifest)
	return d, nil
}

func (d *Dress) add(path, contentType string, body []byte) *file {
	f := newFile(contentType, keptBriefly, body)
	d.files[path] = f
	return f
}

func (d *Dress) text(path, contentType string, body []byte) {
	d.add(path, contentType, body).gzip = zipped(body)
}

// zipped is nil for what gains nothing by it.
func zipped(body []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = z.Write(body) // a buffer takes all
	_ = z.Close()
	if out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}

// pictures makes the icons: of the operator's icon, or of the logo, or else they are those that
// were built.
func (d *Dress) pictures(s *face.State, built fs.FS) error {
	if s.Logo != nil {
		d.add(face.LogoPath, contentTypes[".png"], s.Logo)
	}
	from := s.Icon
	if from == nil {
		from = s.Logo
	}
	if from == nil {
		return d.builtIcons(built)
	}
	picture, err := png.Decode(bytes.NewReader(from))
	if err != nil {
		return fmt.Errorf("read the station's icon: %w", err)
	}
	ground := image.NewUniform(groundOf(picture))
	for _, size := range iconSizes() {
		under := image.Image(nil)
		if size == 180 { // of Apple, which lays what is transparent on black
			under = ground
		}
		icon, err := face.Encode(face.Square(picture, size, size, under))
		if err != nil {
			return err
		}
		d.add(face.IconPath(size), contentTypes[".png"], icon)
		d.add(oldIcon(size), contentTypes[".png"], icon)
		if size == 192 {
			d.text("/icon.svg", contentTypes[".svg"], fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 192 192"><image width="192" height="192" href="data:image/png;base64,%s"/></svg>`, base64.StdEncoding.EncodeToString(icon)))
		}
	}
	// Of a maskable icon the middle, 80 % across, is always seen; a square fits into that circle
	// at 56 %.
	maskable, err := face.Encode(face.Square(picture, 512, 288, ground))
	if err != nil {
		return err
	}
	d.add(face.MaskablePath, contentTypes[".png"], maskable)
	return d.favicon(picture)
}

// builtIcons are those of a station that has none.
func (d *Dress) builtIcons(built fs.FS) error {
	for _, size := range iconSizes() {
		icon, err := fs.ReadFile(built, strings.TrimPrefix(oldIcon(size), "/"))
		if err != nil {
			return nil //nolint:nilerr // a fresh clone has no pages, and no icons
		}
		d.add(face.IconPath(size), contentTypes[".png"], icon)
		if size != 512 {
			continue
		}
		d.add(face.MaskablePath, contentTypes[".png"], icon) // it was drawn to be
		picture, err := png.Decode(bytes.NewReader(icon))
		if err != nil {
			return fmt.Errorf("read the icon that was built: %w", err)
		}
		return d.favicon(picture)
	}
	return nil
}

// favicon is a file of two small pictures (ICO, with PNG in it).
func (d *Dress) favicon(picture image.Image) error {
	var pictures [][]byte
	sizes := []int{16, 32}
	for _, size := range sizes {
		one, err := face.Encode(face.Square(picture, size, size, nil))
		if err != nil {
			return err
		}
		pictures = append(pictures, one)
	}
	out := []byte{0, 0, 1, 0, byte(len(sizes)), 0}
	at := len(out) + 16*len(sizes)
	for i, size := range sizes {
		out = append(out, byte(size), byte(size), 0, 0, 1, 0, 32, 0)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(pictures[i]))) //nolint:gosec // a few kB
		out = binary.LittleEndian.AppendUint32(out, uint32(at))               //nolint:gosec // as well
		at += len(pictures[i])
	}
	d.add(face.FaviconPath, contentTypes[".ico"], append(out, slices.Concat(pictures...)...))
	return nil
}

// groundOf is what a picture stands on where it may not be transparent: its own colour at the
// corner, or else that of the two grounds from which it differs more.
func groundOf(picture image.Image) color.Color {
	b := picture.Bounds()
	corner := picture.At(b.Min.X, b.Min.Y)
	if _, _, _, a := corner.RGBA(); a == 0xffff {
		return corner
	}
	light, weight := 0.0, 0.0
	for y := b.Min.Y; y < b.Max.Y; y += max(1, b.Dy()/64) {
		for x := b.Min.X; x < b.Max.X; x += max(1, b.Dx()/64) {
			r, g, b, a := picture.At(x, y).RGBA()
			light += 0.3*float64(r) + 0.59*float64(g) + 0.11*float64(b)
			weight += float64(a)
		}
	}
	if light > weight/2 {
		return color.RGBA{0x0b, 0x16, 0x18, 0xff}
	}
	return color.White
}

// serve answers a request for a file of the face.
func (d *Dress) serve(w http.ResponseWriter, r *http.Request) bool {
	f, ok := d.files[r.URL.Path]
	if !ok {
		return false
	}
	answer := *f
	switch v := r.URL.Query().Get("v"); {
	case v == strconv.FormatInt(d.face.Version, 10):
		answer.cacheControl = keptLong
	case v != "": // of another version, which this one must not be kept for
		answer.cacheControl = "no-cache"
	}
	if strings.HasPrefix(f.contentType, "image/") { // other sites show them, as they show links
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	answer.serve(w, r)
	return true
}

// Name is the station's, in its first language.
func (d *Dress) Name() string { return d.face.Title() }

// Icon is the address of the station's icon.
func (d *Dress) Icon() string { return face.Address(face.IconPath(512), d.face.Version) }

// address is a path with the version of the face; empty where it has no such file.
func (d *Dress) address(path string) string {
	if f := d.files[path]; f == nil || len(f.plain) == 0 {
		return ""
	}
	return face.Address(path, d.face.Version)
}

// Wardrobe makes a face into what is served, once for each version.
type Wardrobe struct {
	state func() *face.State
	built fs.FS

	mu   sync.Mutex
	of   *face.State
	made *Dress
}

// NewWardrobe makes one of the faces that state returns.
func NewWardrobe(state func() *face.State) *Wardrobe {
	return &Wardrobe{state: state, built: builtIn()}
}

// Now is the face of now. Those who ask for the first time since a change wait until its icons
// are drawn: an older file must not be kept under the new address.
func (c *Wardrobe) Now() *Dress {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state()
	if c.of == s {
		return c.made
	}
	d, err := newDress(s, c.built)
	if err != nil { // pictures are read before they are kept
		plain := *s
		plain.Logo, plain.Icon = nil, nil
		if d, err = newDress(&plain, c.built); err != nil {
			d = &Dress{face: plain.Face(), files: map[string]*file{}}
		}
	}
	c.of, c.made = s, d
	return d
}

type manifest struct {
	Name        string     `json:"name"`
	ShortName   string     `json:"short_name"`
	Description string     `json:"description,omitempty"`
	Lang        string     `json:"lang"`
	Dir         string     `json:"dir"`
	ID          string     `json:"id"`
	StartURL    string     `json:"start_url"`
	Scope       string     `json:"scope"`
	Display     string     `json:"display"`
	Background  string     `json:"background_color"`
	Theme       string     `json:"theme_color"`
	Icons       []icon     `json:"icons"`
	Shortcuts   []shortcut `json:"shortcuts"`
}

type icon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose"`
}

type shortcut struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// manifestOf is the web app manifest (https://www.w3.org/TR/appmanifest/).
func manifestOf(f *face.Face, has func(Page) bool) manifest {
	of := func(path string) string { return face.Address(path, f.Version) }
	m := manifest{
		Name: f.Title(), ShortName: shortened(f.Title()), Description: f.Tagline.In(f.Language()), Lang: f.Language(), Dir: direction(f.Language()),
		ID: "/", StartURL: "/", Scope: "/", Display: "standalone", Background: nightGround, Theme: nightGround, Shortcuts: []shortcut{},
		Icons: []icon{
			{of(face.IconPath(192)), "192x192", "image/png", "any"},
			{of(face.IconPath(512)), "512x512", "image/png", "any"},
			{of(face.MaskablePath), "512x512", "image/png", "maskable"},
		},
	}
	words := wordsIn(f.Language())
	if has(Chat) {
		m.Shortcuts = append(m.Shortcuts, shortcut{words.chat, Chat.url()})
	}
	if has(History) {
		m.Shortcuts = append(m.Shortcuts, shortcut{words.history, History.url()})
	}
	if has(Podcasts) {
		m.Shortcuts = append(m.Shortcuts, shortcut{words.podcasts, Podcasts.url()})
	}
	return m
}

// shortened is a name as it fits beneath an icon: whole words where one fits.
func shortened(name string) string {
	const most = 12 // as Android shows
	if text := []rune(name); len(text) > most {
		cut := string(text[:most+1])
		if at := strings.LastIndexByte(cut, ' '); at > 0 {
			return strings.TrimSpace(cut[:at])
		}
		return string(text[:most])
	}
	return name
}

func direction(language string) string {
	if language == face.Arabic {
		return "rtl"
	}
	return "ltr"
}

// tagline is what a page says of the station where nothing more is known.
func tagline(f *face.Face) string {
	about, _, _ := strings.Cut(f.About.In(f.Language()), "\n")
	return cmp.Or(f.Tagline.In(f.Language()), about, fmt.Sprintf(wordsIn(f.Language()).live, f.Title()))
}
