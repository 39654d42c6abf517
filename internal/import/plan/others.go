package plan

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/athir-radio/athir/internal/import/model"
)

const longestLogin = 60

// loginOf is a login as this station keeps it: without spaces, in small letters.
func loginOf(s string) string {
	s = strings.ToLower(norm.NFKC.String(strings.TrimSpace(s)))
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '_'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return oneLine(s, longestLogin)
}

func (p *Plan) people(st *model.Station, lib Library, mem Memory) {
	taken := map[string]bool{}
	for _, l := range lib.Logins {
		taken[loginOf(l)] = true
	}
	for _, s := range st.Streamers {
		out := Person{Login: loginOf(s.Login), Name: oneLine(s.Name, longestName), Do: Bring}
		if out.Name == "" {
			out.Name = oneLine(s.Login, longestName)
		}
		switch {
		case s.Off:
			out.Do, out.Why = Not, &Words{"The account is switched off there.", "الحساب متوقف هناك."}
		case out.Login == "":
			out.Do, out.Why = Not, &Words{"It has no login.", "لا اسم مستخدم له."}
		case mem.People[out.Login], taken[out.Login]:
			out.Do = There
		default:
			out.Notes = append(out.Notes, Words{
				"Passwords do not come over: the import gives a link by which a new one is set.",
				"كلمات المرور لا تُنقل. يعطي الاستيراد رابطًا لاختيار كلمة مرور جديدة.",
			})
			if len(s.When) > 0 {
				out.Notes = append(out.Notes, Words{"May go live at any time: presenters have no timetable here.", "يمكنه البث في أي وقت، فلا جدول للمقدّمين هنا."})
			}
			if out.Login != s.Login {
				out.Notes = append(out.Notes, Words{"The login there is " + oneLine(s.Login, longestName) + ".", "اسم المستخدم هناك: " + oneLine(s.Login, longestName) + "."})
			}
		}
		taken[out.Login] = true
		p.People = append(p.People, out)
	}
}

// eventOf is our event for one of AzuraCast's; empty: there is none.
func eventOf(theirs string) string {
	switch theirs {
	case "song_changed", "song_changed_live":
		return "track.change"
	case "live_connect":
		return "live.start"
	case "live_disconnect":
		return "live.stop"
	case "station_offline":
		return "dead_air.raised"
	case "station_online":
		return "dead_air.cleared"
	}
	return ""
}

func (p *Plan) webhooks(st *model.Station, lib Library, mem Memory) {
	taken := map[string]bool{}
	for _, a := range lib.Webhooks {
		taken[a] = true
	}
	for _, h := range st.Webhooks {
		out := Webhook{Name: oneLine(h.Name, longestName), Type: h.Type, Off: h.Off, Do: Bring}
		var none []string
		for _, e := range h.Events {
			if ours := eventOf(e); ours == "" {
				none = append(none, e)
			} else if !slices.Contains(out.Events, ours) {
				out.Events = append(out.Events, ours)
			}
		}
		address, err := url.Parse(h.Address)
		not := func(en, ar string) { out.Do, out.Why = Not, &Words{en, ar} }
		switch {
		case h.Type == "discord" || h.Type == "telegram" || h.Type == "email":
			not("Messages to "+h.Type+" are alarms here: set them up in the settings.", "رسائل "+h.Type+" هنا تنبيهات تُضبط في الإعدادات.")
		case h.Type != "generic":
			not("There is nothing here like "+h.Type+".", "لا مقابل هنا لـ "+h.Type+".")
		case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" || len(h.Address) > 2000:
			not("Its address is not a web address.", "عنوانه ليس عنوان ويب.")
		case len(out.Events) == 0:
			not("None of its events exists here.", "لا يوجد هنا أي من أحداثه.")
		case mem.Webhooks[h.Address], taken[h.Address]:
			out.Do, out.Address = There, h.Address
		default:
			out.Address = h.Address
			out.Notes = append(out.Notes, Words{"Messages have another form here and are signed: adapt the receiver (docs/webhooks.md).", "صيغة الرسائل هنا مختلفة وموقّعة، فيجب تعديل المستقبِل (docs/webhooks.md)."})
			if len(none) > 0 {
				out.Notes = append(out.Notes, Words{"Events that are not sent here: " + strings.Join(none, ", ") + ".", "أحداث لا تُرسل هنا: " + strings.Join(none, "، ") + "."})
			}
		}
		if out.Do == Bring {
			taken[out.Address] = true
		}
		p.Webhooks = append(p.Webhooks, out)
	}
}
