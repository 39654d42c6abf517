package webpush

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/kit/plain"
)

// Notice is something to tell the subscribers of a topic.
type Notice struct {
	Topic Topic
	// Key identifies the notice, also after a restart: a notice with the key of
	// the last one of its topic is not sent again. With an empty key it always is.
	Key string
	At  time.Time // when it happened; zero means now

	Artist string // of Artist and Own: the credit of the track, which may be of several
	Title  string // of Artist and Own: the track's; of Live: what is live, may be empty
	// Device of Own is whom it is for, by kit/client.DeviceKey. Step is what happened:
	// request_soon, request_aired or request_refused, post_approved, post_aired or
	// post_rejected; with the studio's words in Text.
	Device []byte
	Step   string
	// Problem of Alert: silence, frozen, gone, starved, unreachable, playlist, emergency or
	// database. Text, where it is not empty, replaces the words for it.
	Problem string
	Text    string
	Cleared bool   // of Alert: it is over
	URL     string // path that a click leads to; / when empty
}

// manner is how messages of a topic are sent.
type manner struct {
	ttl     time.Duration // how long a push service keeps it for a device that is off
	urgency string        // RFC 8030, 5.3
	quiet   bool          // quiet hours hold
	apart   time.Duration // least time between two notices of the topic, to anyone
}

func mannerOf(t Topic) manner {
	switch t {
	case Live:
		return manner{ttl: 30 * time.Minute, urgency: "high", quiet: true, apart: 5 * time.Minute}
	case Artist:
		return manner{ttl: 3 * time.Minute, urgency: "normal", quiet: true}
	case Bulletin:
		return manner{ttl: time.Hour, urgency: "low", quiet: true, apart: 10 * time.Minute}
	case Own:
		return manner{ttl: 10 * time.Minute, urgency: "high", quiet: true}
	case Alert:
		return manner{ttl: 24 * time.Hour, urgency: "high"}
	}
	return manner{}
}

// Message is the JSON that a service worker gets and shows. A newer message replaces
// an older one with the same tag.
type Message struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Tag   string `json:"tag"` // the topic
	URL   string `json:"url"`
	Icon  string `json:"icon,omitempty"`
	Lang  string `json:"lang"`
	Dir   string `json:"dir"` // rtl or ltr
	At    int64  `json:"at"`  // epoch milliseconds
}

const (
	longestTitle = 300 // bytes
	longestBody  = 600
	// shortTitle is for services that find the message too large.
	shortTitle = 120
)

// message returns a notice as a Message in a language, encoded.
func (p *Push) message(n *Notice, lang string, short bool) ([]byte, error) {
	m := Message{Tag: string(n.Topic), URL: n.URL, Icon: p.opt.Icon, Lang: lang, Dir: "ltr", At: n.At.UnixMilli()}
	if lang == "ar" {
		m.Dir = "rtl"
	}
	if m.URL == "" {
		m.URL = "/"
	}
	title, body := words(n, lang, p.opt.Station)
	m.Title, m.Body = clipped(title, longestTitle), clipped(body, longestBody)
	if short {
		m.Title, m.Body, m.Icon = clipped(title, shortTitle), "", ""
	}
	return json.Marshal(m)
}

// words returns title and body of a notice.
func words(n *Notice, lang, name string) (title, body string) {
	arabic := lang == "ar"
	pick := func(ar, en string) string {
		if arabic {
			return ar
		}
		return en
	}
	listen := pick("اضغط للاستماع", "Tap to listen")
	or := func(text, fallback string) string {
		if strings.TrimSpace(text) == "" {
			return fallback
		}
		return text
	}
	switch n.Topic {
	case Live:
		return pick(name+" على الهواء مباشرة الآن", name+" is live now"), or(n.Title, listen)
	case Artist:
		return pick(n.Artist+" الآن على "+name, n.Artist+" is on "+name+" now"), or(n.Title, listen)
	case Bulletin:
		return pick("النشرة الآن على "+name, "The bulletin is on "+name+" now"), listen
	case Own:
		return ownWords(n, name, pick)
	case Alert:
		return alertWords(n, name, pick)
	}
	return name, n.Text
}

func ownWords(n *Notice, name string, pick func(ar, en string) string) (title, body string) {
	body = n.Title
	if n.Artist != "" {
		body += " – " + n.Artist
	}
	switch n.Step {
	case "request_soon":
		return pick("طلبك بعد قليل على "+name, "Your request is coming up on "+name), body
	case "request_aired":
		return pick("طلبك الآن على "+name, "Your request is on "+name+" now"), body
	case "request_refused":
		if n.Text != "" {
			body += ": " + n.Text
		}
		return pick("نعتذر، لن نتمكن من بث طلبك", "Sorry, your request cannot be played"), body
	case "post_approved":
		return pick("قُبلت مشاركتك وستُذاع على "+name, "Your post was accepted and will air on "+name), body
	case "post_aired":
		return pick("مشاركتك الآن على "+name, "Your post is on "+name+" now"), body
	case "post_rejected":
		if n.Text != "" {
			body += ": " + n.Text
		}
		return pick("نعتذر، لم تُقبل مشاركتك", "Sorry, your post was not accepted"), body
	}
	return name, body
}

func alertWords(n *Notice, name string, pick func(ar, en string) string) (title, body string) {
	title = pick("إنذار: "+name, "Alert: "+name)
	if n.Cleared {
		title = pick("انتهى الإنذار: "+name, "Alert over: "+name)
	}
	switch {
	case n.Text != "":
		return title, n.Text
	case n.Cleared && n.Problem == "database":
		return title, pick("عاد ملف قاعدة البيانات إلى مكانه", "The database file is back in its place")
	case n.Cleared && n.Problem == "unreachable":
		return title, pick("عقدة البث تستجيب من جديد", "The broadcast node answers again")
	case n.Cleared:
		return title, pick("عاد الصوت إلى الهواء", "The station sounds again")
	}
	switch n.Problem {
	case "silence":
		return title, pick("صمت على الهواء", "There is silence on air")
	case "frozen":
		return title, pick("الصوت على الهواء متجمد", "The sound on air is frozen")
	case "gone":
		return title, pick("انقطع البث", "The stream is gone")
	case "starved":
		return title, pick("الجهاز لا يلحق بالبث، والصوت ينقطع", "The machine cannot keep up, and the sound breaks off")
	case "unreachable":
		return title, pick("عقدة البث لا تستجيب، وربما الموسيقى مستمرة", "The broadcast node does not answer; its music may go on")
	case "playlist":
		return title, pick("ملف قائمة التشغيل ليس هو الذي وُضع", "The playlist file is not the one that was put there")
	case "emergency":
		return title, pick("يُبث صوت الطوارئ", "The emergency audio is on air")
	case "database":
		return title, pick("اختفى ملف قاعدة البيانات: لا يُحفظ شيء الآن", "The database file is gone: nothing is kept now")
	}
	return title, pick("خلل على الهواء", "Something is wrong on air")
}

// clipped returns text from outside as one line of at most most bytes, without
// characters that would change the direction of the words around it.
func clipped(s string, most int) string {
	s = plain.Line(s)
	if len(s) <= most {
		return s
	}
	return strings.TrimSpace(strings.ToValidUTF8(s[:most-len("…")], "")) + "…"
}
