// Package face is how the station looks to its listeners: name, texts, languages, colour, links,
// contact, logo, icon and a style sheet of the operator's own. It keeps them, and refuses what
// would make a page unsafe or unreadable. It serves nothing.
//
// The face is a table of its own and not a part of the station configuration: that is watched by
// the planner and goes back to its defaults by one order, and a name must neither replan the air
// nor be lost with a mood.
package face

import "cmp"

// Both is a text in the two languages of pages.
type Both struct {
	AR string `json:"ar"`
	EN string `json:"en"`
}

// In is the text of a language, or else that of the other.
func (b Both) In(language string) string {
	if language == English {
		return cmp.Or(b.EN, b.AR)
	}
	return cmp.Or(b.AR, b.EN)
}

// whole has a text in both languages where it has one in any.
func (b Both) whole() Both { return Both{b.In(Arabic), b.In(English)} }

// The languages of pages.
const (
	Arabic  = "ar"
	English = "en"
)

// Link is one that listeners see.
type Link struct {
	Label Both   `json:"label"`
	URL   string `json:"url" maxLength:"500" doc:"https:, http:, mailto: or tel:"`
}

// Contact is how listeners reach the station; each may be empty.
type Contact struct {
	Email    string `json:"email"`
	Phone    string `json:"phone"`
	WhatsApp string `json:"whatsapp" doc:"A number with its country, as +9665…"`
	Address  Both   `json:"address"`
}

// Own is what the operator says. Empty texts are those of the settings.
type Own struct {
	Name      Both     `json:"name" doc:"40 characters at most each; empty: the name of athir.yaml"`
	Tagline   Both     `json:"tagline" doc:"120 characters at most each"`
	About     Both     `json:"about" doc:"2,000 characters at most each; lines stay"`
	Languages []string `json:"languages" nullable:"false" enum:"ar,en" minItems:"1" maxItems:"2" doc:"Those that listeners may choose from, the first one first"`
	Accent    string   `json:"accent" doc:"#rrggbb; empty: the pages' own colour"`
	Links     []Link   `json:"links" nullable:"false" maxItems:"12"`
	Contact   Contact  `json:"contact"`
	Credit    bool     `json:"credit" doc:"Whether the small line that names Athir is shown"`
	CSS       string   `json:"css" doc:"A style sheet of your own for listeners' pages, 64 kB at most"`
}

// Face is what listeners get: GET /api/face, and what every page is served with.
type Face struct {
	Version   int64    `json:"version" doc:"Grows with every change; 0: nothing was ever set"`
	Name      Both     `json:"name" doc:"Never empty: a language without a name of its own has the other's"`
	Tagline   Both     `json:"tagline"`
	About     Both     `json:"about"`
	Languages []string `json:"languages" nullable:"false" doc:"Those that listeners may choose from, the first one first"`
	Accent    string   `json:"accent" doc:"#rrggbb; empty: the pages' own"`
	Links     []Link   `json:"links" nullable:"false"`
	Contact   Contact  `json:"contact"`
	Logo      string   `json:"logo" doc:"Its path; empty: there is none"`
	Credit    bool     `json:"credit" doc:"Whether the small line that names Athir is shown"`
}

// Language is the first, in which a page is served.
func (f *Face) Language() string { return f.Languages[0] }

// Title is the name in the language of the page.
func (f *Face) Title() string { return f.Name.In(f.Language()) }

// Defaults are what the settings say.
type Defaults struct {
	Name     string `json:"name" doc:"Of athir.yaml"`
	Language string `json:"language" enum:"ar,en" doc:"Of athir.yaml"`
}

// State is the face at one moment. Nobody writes to it.
type State struct {
	Version  int64
	Own      Own
	Logo     []byte // PNG; nil: none
	Icon     []byte // PNG, 512 × 512; nil: none of its own
	Defaults Defaults
}

// Plain is the face of a station whose operator said nothing.
func Plain(d Defaults) *State {
	s := &State{Own: Own{Credit: true}, Defaults: d}
	s.Own.complete(d)
	return s
}

// complete fills in what has a default but no text.
func (o *Own) complete(d Defaults) {
	if len(o.Languages) == 0 {
		o.Languages = []string{Arabic, English}
		if d.Language == English {
			o.Languages = []string{English, Arabic}
		}
	}
	if o.Links == nil {
		o.Links = []Link{}
	}
}

// Face is the state as listeners get it.
func (s *State) Face() Face {
	o := &s.Own
	name := o.Name.whole()
	if name == (Both{}) {
		name = Both{s.Defaults.Name, s.Defaults.Name}
	}
	f := Face{
		Version: s.Version, Name: name, Tagline: o.Tagline.whole(), About: o.About.whole(), Languages: o.Languages, Accent: o.Accent, Links: make([]Link, len(o.Links)),
		Contact: o.Contact, Credit: o.Credit,
	}
	for i, l := range o.Links {
		f.Links[i] = Link{l.Label.whole(), l.URL}
	}
	f.Contact.Address = o.Contact.Address.whole()
	if s.Logo != nil {
		f.Logo = s.Address(LogoPath)
	}
	return f
}
