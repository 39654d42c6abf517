package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// mostTold is how many tracks that do not come are named in a table.
const mostTold = 20

// Sum counts the tracks of a plan.
type Sum struct {
	Bring, There, Not, Notes int
	Bytes                    int64
	Categories               map[station.Category]int
}

// Sum counts the tracks.
func (p *Plan) Sum() Sum {
	s := Sum{Categories: map[station.Category]int{}}
	for _, t := range p.Tracks {
		switch t.Do {
		case Bring:
			s.Bring++
			s.Bytes += t.Size
			s.Categories[t.Category]++
		case There:
			s.There++
		case Not:
			s.Not++
		}
		if t.Note != nil {
			s.Notes++
		}
	}
	return s
}

// page writes a plan in one language.
type page struct {
	out  io.Writer
	lang string
	err  error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

func (p *page) say(en, ar string) string { return Words{en, ar}.In(p.lang) }

func (p *page) rows(fill func(row func(cells ...any))) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fill(func(cells ...any) {
		for i, c := range cells {
			text := plain(fmt.Sprint(c))
			if i < len(cells)-1 {
				text += "\t"
			}
			_, _ = io.WriteString(w, text)
		}
		_, _ = io.WriteString(w, "\n")
	})
	if p.err == nil {
		p.err = w.Flush()
	}
}

// plain keeps what another system says from steering a terminal or breaking a table.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, s)
}

func (p *page) do(d Do) string {
	switch d {
	case Bring:
		return p.say("comes", "يُنقل")
	case There:
		return p.say("there already", "موجود")
	}
	return p.say("does not come", "لا يُنقل")
}

// Print writes the plan for people, in Arabic where lang is ar and else in English.
func (p *Plan) Print(out io.Writer, lang string) error {
	w := &page{out: out, lang: lang}
	w.line("%s", plain(strings.Join(slices.DeleteFunc([]string{p.System, p.Version, p.Station, p.Zone}, func(s string) bool { return s == "" }), ", ")))
	if len(p.Others) > 0 {
		w.line("%s %s", w.say("other stations, which do not come over:", "محطات أخرى لا تُنقل:"), plain(strings.Join(p.Others, ", ")))
	}
	for _, s := range p.Say {
		w.line("%s", s.In(lang))
	}
	w.tracks(p)
	w.playlists(p)
	w.others(p)
	return w.err
}

func (w *page) tracks(p *Plan) {
	s := p.Sum()
	w.line("\n%s", w.say("TRACKS", "المقاطع"))
	w.rows(func(row func(...any)) {
		size := ""
		if s.Bytes > 0 {
			size = fmt.Sprintf(w.say("%d MB", "%d ميغابايت"), (s.Bytes+1<<20-1)>>20)
		}
		row("  "+w.do(Bring), s.Bring, size)
		for _, c := range slices.Sorted(maps.Keys(s.Categories)) {
			row("    "+string(c), s.Categories[c], "")
		}
		row("  "+w.do(There), s.There, "")
		row("  "+w.do(Not), s.Not, "")
		row("  "+w.say("with titles, cues or crosses to set", "لها بيانات تُنقل"), s.Notes, "")
	})
	told := 0
	for _, t := range p.Tracks {
		if t.Do != Not {
			continue
		}
		if told++; told > mostTold {
			w.line("  %s", fmt.Sprintf(w.say("… and %d more: --json names all", "… و%d غيرها، والخيار ‎--json يعرضها كلها"), s.Not-mostTold))
			break
		}
		w.line("  - %s: %s", plain(t.From), t.Why.In(w.lang))
	}
}

func (w *page) playlists(p *Plan) {
	if len(p.Playlists) == 0 {
		return
	}
	w.line("\n%s", w.say("PLAYLISTS", "قوائم التشغيل"))
	w.rows(func(row func(...any)) {
		for _, l := range p.Playlists {
			name := l.Settings.Name
			if l.Was != "" {
				name += " ← " + l.Was
			}
			if l.Do == Not {
				row("  "+w.do(l.Do), name, "", "")
				continue
			}
			row("  "+w.do(l.Do), name, w.when(l), len(l.Items))
		}
	})
	for _, l := range p.Playlists {
		w.reasons(l.Settings.Name, l.Why, l.Notes)
	}
}

func (w *page) reasons(name string, why *Words, notes []Words) {
	if why != nil {
		w.line("  - %s: %s", plain(name), why.In(w.lang))
		return
	}
	for _, n := range notes {
		w.line("  - %s: %s", plain(name), n.In(w.lang))
	}
}

// when says when a playlist plays.
func (w *page) when(l Playlist) string {
	s := l.Settings
	var out string
	switch s.Plays {
	case "only":
		out = w.say("plays alone", "تُذاع وحدها")
	case "share":
		out = fmt.Sprintf(w.say("%d %% of the music", "%d٪ من الموسيقى"), s.Share)
	case "songs":
		out = w.say(fmt.Sprintf("after every %d songs", s.EverySongs), "بعد كل "+songs(s.EverySongs))
	case "hourly":
		out = fmt.Sprintf(w.say("each hour at :%02d", "كل ساعة عند الدقيقة %02d"), s.Minute)
	case "once":
		out = w.say("once, from the beginning", "مرة واحدة من أولها")
	default:
		out = w.say("where a clock asks for it", "حيث يطلبها قالب الساعة")
	}
	switch s.Order {
	case "sequence":
		out += w.say(", in order", "، بالترتيب")
	case "shuffle":
		out += w.say(", shuffled", "، عشوائيًا")
	default:
		out += w.say(", by turns", "، بالدور")
	}
	for _, when := range s.When {
		out += w.say("; ", "؛ ") + w.window(when)
	}
	if !s.On {
		out += w.say("; off", "؛ متوقفة")
	}
	return out
}

// songs counts songs in Arabic.
func songs(n int) string {
	switch {
	case n == 1:
		return "أغنية"
	case n == 2:
		return "أغنيتين"
	case n%100 >= 3 && n%100 <= 10:
		return fmt.Sprintf("%d أغانٍ", n)
	}
	return fmt.Sprintf("%d أغنية", n)
}

func (w *page) window(v rotation.Window) string {
	out := v.Start.String() + "–" + v.End.String()
	if v.Start == v.End {
		out = w.say("from ", "من ") + v.Start.String()
	}
	for _, d := range v.Days {
		name, _ := d.MarshalText()
		if w.lang == "ar" {
			name = []byte(dayNames()[d])
		}
		out += " " + string(name)
	}
	date := func(n int) string { return fmt.Sprintf("%04d-%02d-%02d", n/10_000, n/100%100, n%100) }
	if v.From != 0 {
		out += w.say(" since ", " من ") + date(int(v.From))
	}
	if v.Until != 0 {
		out += w.say(" until ", " حتى ") + date(int(v.Until))
	}
	return out
}

func dayNames() map[rotation.Weekday]string {
	return map[rotation.Weekday]string{0: "الأحد", 1: "الاثنين", 2: "الثلاثاء", 3: "الأربعاء", 4: "الخميس", 5: "الجمعة", 6: "السبت"}
}

func (w *page) others(p *Plan) {
	if len(p.People) > 0 {
		w.line("\n%s", w.say("PRESENTERS", "المقدّمون"))
		w.rows(func(row func(...any)) {
			for _, one := range p.People {
				row("  "+w.do(one.Do), one.Login, one.Name)
			}
		})
		for _, one := range p.People {
			w.reasons(one.Login, one.Why, one.Notes)
		}
	}
	if len(p.Webhooks) > 0 {
		w.line("\n%s", w.say("WEBHOOKS", "الإخطارات الآلية"))
		w.rows(func(row func(...any)) {
			for _, h := range p.Webhooks {
				row("  "+w.do(h.Do), h.Name, h.Type, strings.Join(h.Events, ", "))
			}
		})
		for _, h := range p.Webhooks {
			w.reasons(h.Name, h.Why, h.Notes)
		}
	}
	if len(p.Left) > 0 {
		w.line("\n%s", w.say("WHAT ELSE DOES NOT COME OVER", "ما لا يُنقل غير ذلك"))
		w.rows(func(row func(...any)) {
			for _, l := range p.Left {
				count := ""
				if l.Count > 0 {
					count = fmt.Sprint(l.Count)
				}
				row("  "+w.kind(l.Kind), count, l.Why.In(w.lang))
			}
		})
	}
}

// kind is what a kind of thing is called.
func (w *page) kind(kind string) string {
	ar := map[string]string{
		"mounts": "نقاط البث", "relays": "إعادة البث", "hls": "بث HLS", "requests": "الطلبات", "history": "سجلّ البث", "listeners": "المستمعون", "podcasts": "البودكاست",
		"sftp": "حسابات SFTP", "users": "المستخدمون", "fields": "الحقول المخصصة", "recordings": "التسجيلات", "streamers": "المقدّمون", "webhooks": "الإخطارات الآلية",
		"shows": "البرامج", "logs": "السجلّات", "past shows": "برامج انتهت", "schedule": "الجدول المرتّب يدويًا", "rebroadcasts": "الإعادات", "source logins": "بيانات دخول البرامج",
		"webstreams": "روابط البث", "pending files": "ملفات لم يكتمل استيرادها هناك", "unusable files": "ملفات بمسارات غير صالحة",
	}
	if w.lang == "ar" && ar[kind] != "" {
		return ar[kind]
	}
	return kind
}
