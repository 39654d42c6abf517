package audiofile

import (
	"cmp"
	"strconv"
	"strings"
)

// tags collects the texts of all the tags in a file; the first to name a field wins.
type tags struct {
	title, album, genre             string
	artists, albumArtists           []string
	license, licenseURL, copyright  string
	comment, performer, description string
	isrc                            string
	labels                          [3]string // by rank: LABEL, PUBLISHER, ORGANIZATION
	composers                       []string
}

// set stores one field under its Vorbis comment name, upper or lower case.
func (t *tags) set(key, value string) {
	value = clean(value)
	if value == "" {
		return
	}
	first := func(field *string) {
		if *field == "" {
			*field = value
		}
	}
	switch strings.ToUpper(key) {
	case "TITLE":
		first(&t.title)
	case "ARTIST":
		t.artists = append(t.artists, value)
	case "ALBUMARTIST", "ALBUM ARTIST", "ALBUM_ARTIST":
		t.albumArtists = append(t.albumArtists, value)
	case "PERFORMER":
		first(&t.performer)
	case "ALBUM":
		first(&t.album)
	case "GENRE":
		first(&t.genre)
	case "LICENSE", "LICENCE":
		first(&t.license)
	case "COPYRIGHTURL", "LICENSEURL":
		first(&t.licenseURL)
	case "COPYRIGHT":
		first(&t.copyright)
	case "COMMENT":
		first(&t.comment)
	case "DESCRIPTION":
		first(&t.description)
	case "ISRC", "TSRC":
		first(&t.isrc)
	case "LABEL", "RECORD LABEL":
		first(&t.labels[0])
	case "PUBLISHER":
		first(&t.labels[1])
	case "ORGANIZATION":
		first(&t.labels[2])
	case "COMPOSER":
		t.composers = append(t.composers, value)
	}
}

func (t *tags) fill(info *Info) {
	info.Title, info.Album, info.Genre = t.title, t.album, genreName(t.genre)
	info.ISRC, info.Label = t.isrc, cmp.Or(t.labels[:]...)
	info.Composer = capped(strings.Join(dedupe(t.composers), " & "))
	for _, artists := range [][]string{t.artists, t.albumArtists, {t.performer}} {
		if info.Artist == "" {
			info.Artist = capped(strings.Join(dedupe(artists), " & "))
		}
	}
	for _, text := range []string{t.license, t.licenseURL, licenceURLIn(t.comment), licenceURLIn(t.description), t.copyright} {
		if info.License == "" {
			info.License = text
		}
	}
}

// Tagged picks licence, ISRC, label and composer out of tags another reader found, by the
// same rules.
func Tagged(tagged map[string]string) Info {
	var t tags
	for key, value := range tagged {
		t.set(key, value)
	}
	var info Info
	t.fill(&info)
	return Info{License: info.License, ISRC: info.ISRC, Label: info.Label, Composer: info.Composer}
}

// licenceURLIn finds the address of a licence in free text: many free albums
// carry it in the comment alone.
func licenceURLIn(text string) string {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, `<>()[]"'.,;`)
		if strings.Contains(word, "creativecommons.org/") || strings.Contains(word, "artlibre.org/") ||
			strings.Contains(word, "gnu.org/licenses") {
			return word
		}
	}
	return ""
}

func dedupe(values []string) []string {
	var out []string
	for _, v := range values {
		if v != "" && (len(out) == 0 || out[len(out)-1] != v) {
			out = append(out, v)
		}
	}
	return out
}

// genreName turns ID3's "(17)", "17" and "(17)Rock" into a name.
func genreName(g string) string {
	number := g
	if rest, ok := strings.CutPrefix(g, "("); ok {
		var tail string
		if number, tail, ok = strings.Cut(rest, ")"); ok && tail != "" {
			return tail
		}
	}
	if n, err := strconv.Atoi(number); err == nil && n >= 0 {
		if names := strings.Split(id3Genres, ","); n < len(names) {
			return names[n]
		}
	}
	return g
}

// id3Genres are the genres 0 to 79 of ID3v1.
const id3Genres = "Blues,Classic Rock,Country,Dance,Disco,Funk,Grunge,Hip-Hop,Jazz,Metal,New Age,Oldies,Other,Pop,R&B,Rap," +
	"Reggae,Rock,Techno,Industrial,Alternative,Ska,Death Metal,Pranks,Soundtrack,Euro-Techno,Ambient,Trip-Hop,Vocal," +
	"Jazz+Funk,Fusion,Trance,Classical,Instrumental,Acid,House,Game,Sound Clip,Gospel,Noise,AlternRock,Bass,Soul,Punk," +
	"Space,Meditative,Instrumental Pop,Instrumental Rock,Ethnic,Gothic,Darkwave,Techno-Industrial,Electronic,Pop-Folk," +
	"Eurodance,Dream,Southern Rock,Comedy,Cult,Gangsta,Top 40,Christian Rap,Pop/Funk,Jungle,Native American,Cabaret," +
	"New Wave,Psychedelic,Rave,Showtunes,Trailer,Lo-Fi,Tribal,Acid Punk,Acid Jazz,Polka,Retro,Musical,Rock & Roll,Hard Rock"
