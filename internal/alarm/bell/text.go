package bell

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/athir-radio/athir/internal/alarm"
	"github.com/athir-radio/athir/internal/kit/plain"
)

// teller writes messages in the station's language.
type teller struct {
	station, lang, studio string
	zone                  *time.Location
}

// longestCause bounds what was found, in runes.
const longestCause = 200

func (w teller) pick(ar, en string) string {
	if w.lang == "ar" {
		return ar
	}
	return en
}

// message tells of facts, in at most longest UTF-16 units with the subject; 0: no bound.
// Where there is too much of it, it leaves out causes first, then what is to be done, and
// then since when.
func (w teller) message(facts map[alarm.Kind]fact, now time.Time, longest int) alarm.Message {
	var m alarm.Message
	for detail := withCauses; detail >= namesAlone; detail-- {
		m = w.inDetail(facts, now, detail)
		if longest == 0 || units(m.Subject)+2+units(m.Text) <= longest {
			return m
		}
	}
	m.Text = cut(m.Text, longest-units(m.Subject)-2)
	return m
}

// How much a message says of each alarm.
const (
	namesAlone = iota
	withTimes
	withRemedies
	withCauses
)

func (w teller) inDetail(facts map[alarm.Kind]fact, now time.Time, detail int) alarm.Message {
	var began, over, still []string
	first, others := "", 0
	head := func(line string) {
		if first == "" {
			first = line
		} else {
			others++
		}
	}
	for _, k := range alarm.Kinds() {
		f, ok := facts[k]
		words := alarm.WordsFor(k, w.lang)
		switch {
		case !ok:
		case f.On && f.Told:
			still = append(still, "· "+words.On+w.pick("، منذ ", ", since ")+w.clock(f.Since, now))
		case f.On:
			head(words.On)
			began = append(began, "⚠ "+words.On+w.onLines(f, words, now, detail))
		default:
			over = append(over, "✓ "+words.Off+w.overLines(f, words, now))
		}
	}
	title := w.pick("إنذار: ", "Alarm: ")
	if first == "" {
		title = w.pick("انتهى الإنذار: ", "Alarm over: ")
		for _, k := range alarm.Kinds() {
			if f, ok := facts[k]; ok && !f.On {
				head(alarm.WordsFor(k, w.lang).Off)
			}
		}
	}
	if others > 0 {
		first += w.pick(fmt.Sprintf(" (ومعه %d)", others), fmt.Sprintf(" (and %d more)", others))
	}
	if detail == namesAlone && len(began) > 0 {
		began = []string{strings.Join(began, "\n")}
	}
	parts := append(began, over...)
	if len(still) > 0 {
		parts = append(parts, w.pick("ما زال قائمًا:", "Still on:")+"\n"+strings.Join(still, "\n"))
	}
	parts = append(parts, w.pick("الاستوديو: ", "Studio: ")+w.studio)
	return alarm.Message{Subject: "[" + oneLine(w.station) + "] " + title + first, Text: strings.Join(parts, "\n\n")}
}

// onLines say since when, how often, why, and what to do.
func (w teller) onLines(f fact, words alarm.Words, now time.Time, detail int) string {
	if detail == namesAlone {
		return ""
	}
	lines := "\n" + w.pick("منذ ", "Since ") + w.clock(f.Since, now) + w.pick("، أي منذ ", ", for ") + w.long(now.Sub(f.Since)) + "."
	if f.Times > 1 {
		lines += " " + w.pick("حدث "+arabicTimes(f.Times)+" منذ آخر رسالة.", fmt.Sprintf("It began %d times since the last message.", f.Times))
	}
	if cause := oneLine(f.Cause); cause != "" && detail >= withCauses {
		if w.lang == "ar" {
			cause = "\u2068" + cause + "\u2069" // it is in English, whatever stands around it
		}
		lines += "\n" + w.pick("السبب: ", "Cause: ") + cause
	}
	if detail >= withRemedies {
		lines += "\n" + w.pick("ما العمل: ", "What to do: ") + words.Do
	}
	return lines
}

// overLines say what is over, and for how long it was.
func (w teller) overLines(f fact, words alarm.Words, now time.Time) string {
	var b strings.Builder
	b.WriteString("\n" + w.pick("كان: ", "It was: ") + words.On)
	switch {
	case f.Since.IsZero():
	case f.Ended.IsZero():
		b.WriteString(w.pick("، منذ ", ", since ") + w.clock(f.Since, now) + w.pick("، وانتهى أثناء إعادة تشغيل المحطة.", "; it ended while the station restarted."))
		return b.String()
	default:
		b.WriteString(w.pick("، من ", ", from ") + w.clock(f.Since, now) + w.pick(" إلى ", " to ") + w.clock(f.Ended, now) +
			w.pick("، أي ", ", ") + w.long(f.Ended.Sub(f.Since)) + ".")
	}
	if f.Times > 1 {
		b.WriteString(" " + w.pick("حدث "+arabicTimes(f.Times)+" منذ آخر رسالة.", fmt.Sprintf("It began %d times since the last message.", f.Times)))
	}
	return b.String()
}

// test is the message of a test.
func (w teller) test(now time.Time) alarm.Message {
	return alarm.Message{
		Subject: "[" + oneLine(w.station) + "] " + w.pick("تجربة الإنذارات", "Test of the alarms"),
		Text: w.pick(
			"هذه رسالة تجريبية أُرسلت في "+w.clock(now, now)+". إن وصلتك فستصلك الإنذارات هنا. لا يوجد خلل.",
			"This is a test, sent at "+w.clock(now, now)+". If you read it, alarms will reach you here. Nothing is wrong.",
		) + "\n\n" + w.pick("الاستوديو: ", "Studio: ") + w.studio,
	}
}

// clock is a time of day in the station's zone, with the date where it is another day.
func (w teller) clock(t, now time.Time) string {
	t, now = t.In(w.zone), now.In(w.zone)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// long is a duration in words, in its largest unit.
func (w teller) long(d time.Duration) string {
	d = max(0, d)
	n, one, two, few, many, english := int(d.Round(time.Second)/time.Second), "ثانية واحدة", "ثانيتين", "ثوانٍ", "ثانية", "second"
	switch {
	case d >= 48*time.Hour:
		n, one, two, few, many, english = int(d/(24*time.Hour)), "يوم واحد", "يومين", "أيام", "يومًا", "day"
	case d >= 90*time.Minute:
		n, one, two, few, many, english = int(d.Round(time.Hour)/time.Hour), "ساعة واحدة", "ساعتين", "ساعات", "ساعة", "hour"
	case d >= 90*time.Second:
		n, one, two, few, many, english = int(d.Round(time.Minute)/time.Minute), "دقيقة واحدة", "دقيقتين", "دقائق", "دقيقة", "minute"
	}
	if w.lang == "ar" {
		return arabicCount(n, one, two, few, many)
	}
	if n != 1 {
		english += "s"
	}
	return fmt.Sprintf("%d %s", n, english)
}

func arabicTimes(n int) string {
	return arabicCount(n, "مرة واحدة", "مرتين", "مرات", "مرة")
}

// arabicCount is a number of things: one and two are words of their own, three to ten take
// the plural, all others the singular; so do the last two digits of larger ones.
func arabicCount(n int, one, two, few, many string) string {
	switch {
	case n == 1:
		return one
	case n == 2:
		return two
	case n%100 >= 3 && n%100 <= 10:
		return fmt.Sprintf("%d %s", n, few)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// oneLine is text from outside as one bounded line without characters that would turn the
// words around it.
func oneLine(s string) string {
	s = plain.Line(s)
	if r := []rune(s); len(r) > longestCause {
		return string(r[:longestCause-1]) + "…"
	}
	return s
}

func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// cut ends a text at a bound.
func cut(s string, most int) string {
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > most-1 {
			return s[:i] + "…"
		}
	}
	return s
}
