package azuracast

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// list is a playlist as AzuraCast has it, in a dump and in the API.
type list struct {
	ID            int        `json:"id"`
	Name          string     `json:"name"`
	Type          string     `json:"type"`
	Source        string     `json:"source"`
	Order         string     `json:"order"`
	RemoteURL     string     `json:"remote_url"`
	RemoteType    string     `json:"remote_type"`
	Enabled       bool       `json:"is_enabled"`
	Jingle        bool       `json:"is_jingle"`
	PerSongs      int        `json:"play_per_songs"`
	PerMinutes    int        `json:"play_per_minutes"`
	HourMinute    int        `json:"play_per_hour_minute"`
	Weight        int        `json:"weight"`
	Options       []string   `json:"backend_options"`
	ScheduleItems []schedule `json:"schedule_items"`
	items         []string
	folders       int
	once          bool // it plays through once in a time
}

// schedule is when a playlist plays or a streamer may go live: times as HHMM, days by ISO 8601
// (1 is Monday), dates as 2026-12-01.
type schedule struct {
	Start    int    `json:"start_time"`
	End      int    `json:"end_time"`
	From     string `json:"start_date"`
	Until    string `json:"end_date"`
	Days     days   `json:"days"`
	LoopOnce bool   `json:"loop_once"`
}

// days are written as a list of numbers, or as one text with commas.
type days []int

// UnmarshalJSON implements json.Unmarshaler.
func (d *days) UnmarshalJSON(b []byte) error {
	var all []json.Number
	var one string
	if json.Unmarshal(b, &one) == nil {
		*d = daysOf(one)
		return nil
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	*d = nil
	for _, n := range all {
		*d = append(*d, daysOf(string(n))...)
	}
	return nil
}

func daysOf(text string) (out days) {
	for field := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(field)); err == nil && n >= 0 && n <= 7 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// onceFor is how long a playlist may begin whose schedule ends when it starts.
const onceFor = 15

// window is the schedule in our terms; false where it can never hold.
func (s schedule) window() (rotation.Window, bool) {
	minutes := func(code int) (rotation.TimeOfDay, bool) {
		ok := code >= 0 && code/100 <= 24 && code%100 < 60 && code <= 2400
		return rotation.TimeOfDay((code/100%24)*60 + code%100), ok
	}
	start, ok := minutes(s.Start)
	end, also := minutes(s.End)
	if !ok || !also {
		return rotation.Window{}, false
	}
	if s.Start == s.End && !s.LoopOnce { // as written: from 0000 to 2400 is a whole day
		end = (start + onceFor) % (24 * 60)
	}
	from, ok := dateOf(s.From)
	until, also := dateOf(s.Until)
	if !ok || !also {
		return rotation.Window{}, false
	}
	w := rotation.Window{Start: start, End: end, From: from, Until: until}
	for _, d := range s.Days {
		if day := rotation.Weekday(d % 7); !slices.Contains(w.Days, day) {
			w.Days = append(w.Days, day)
		}
	}
	slices.Sort(w.Days)
	return w, w.From == 0 || w.Until == 0 || w.From <= w.Until
}

// dateOf reads a date, with a time after it or not; none is 0.
func dateOf(text string) (_ station.Date, ok bool) {
	if text == "" {
		return 0, true
	}
	t, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	if err != nil {
		return 0, false
	}
	return station.DateOf(t), true
}

func windows(all []schedule) (out []rotation.Window, lost int) {
	for _, s := range all {
		if w, ok := s.window(); ok {
			out = append(out, w)
		} else {
			lost++
		}
	}
	return out, lost
}

// playlist says it in our terms. AzuraCast plays scheduled playlists before all others, so one
// with a schedule plays alone while it is open.
func (l *list) playlist() model.Playlist {
	p := model.Playlist{
		ID: strconv.Itoa(l.ID), Name: clean(l.Name), Off: !l.Enabled, Jingles: l.Jingle, Items: l.items,
		Weight: min(max(l.Weight, 1), 25),
	}
	note := func(en, ar string) { p.Notes = append(p.Notes, model.Note{En: en, Ar: ar}) }
	l.once = slices.Contains(l.Options, "loop_once") // of versions before it was a schedule's
	for i := range l.ScheduleItems {
		l.ScheduleItems[i].LoopOnce = l.ScheduleItems[i].LoopOnce || l.once
		l.once = l.once || l.ScheduleItems[i].LoopOnce
	}
	var lost int
	if p.When, lost = windows(l.ScheduleItems); lost > 0 {
		note(fmt.Sprintf("%d of its times cannot be read, and are left out.", lost), fmt.Sprintf("تعذّرت قراءة %d من مواعيدها، فلم تُنقل.", lost))
	}
	switch l.Order {
	case "sequential":
		p.Order = "sequence"
	case "random":
		p.Order = "turns"
	default:
		p.Order = "shuffle"
	}
	l.plays(&p, note)
	if strings.EqualFold(l.Source, "remote_url") {
		p.Remote, p.Stream = strings.TrimSpace(l.RemoteURL), l.RemoteType != "playlist"
	}
	if slices.Contains(l.Options, "interrupt") {
		note("It cut off what was playing; here it waits for the end of the song.", "كانت تقطع ما يُذاع، وهنا تنتظر نهاية الأغنية.")
	}
	if slices.Contains(l.Options, "single_track") {
		note("It played one track each time; here it goes on for as long as its time lasts.", "كان يُذاع منها مقطع واحد كل مرة، وهنا تستمر طوال وقتها.")
	}
	if slices.Contains(l.Options, "prioritize") {
		note("It played before requests; here requests wait only while a playlist plays alone.", "كانت تسبق طلبات المستمعين، وهنا لا تنتظر الطلبات إلا حين تُذاع القائمة وحدها.")
	}
	if slices.Contains(l.Options, "merge") {
		note("It played as one long track, without anything between its tracks; here jingles and requests may come between them.", "كانت مقاطعها تُذاع كمقطع واحد متصل، وهنا قد تتخللها الفواصل وطلبات المستمعين.")
	}
	if l.once && p.Plays != "once" {
		note("It was to play through only once each time; here it goes on as said.", "كانت تُذاع مرة واحدة فقط في كل موعد، وهنا تستمر كما هو مذكور.")
	}
	if l.folders > 0 {
		note("It took in whatever was put into its folders; the tracks that it has now come over.", "كانت تضم كل ما يوضع في مجلداتها، وتُنقل مقاطعها الحالية فقط.")
	}
	return p
}

func (l *list) plays(p *model.Playlist, note func(en, ar string)) {
	switch l.Type {
	case "once_per_x_songs":
		p.Plays, p.Every = "songs", max(l.PerSongs, 1)
	case "once_per_x_minutes":
		p.Plays, p.Minutes = "songs", max(l.PerMinutes, 1)
	case "once_per_hour":
		p.Plays, p.Minute = "hourly", min(max(l.HourMinute, 0), 59)
	case "custom":
		p.Plays = "clock"
		note("When it played was written in Liquidsoap's settings, which do not come over; give it a place in a clock.", "كانت مواعيدها مكتوبة في إعدادات Liquidsoap ولا تُنقل. ضعها في قالب ساعة.")
	default: // "default", and "scheduled" of old versions
		p.Plays = "share"
		switch {
		case len(p.When) > 0:
			p.Plays = "only"
		case len(l.ScheduleItems) > 0: // all lost: it must not play at any time
			p.Plays = "clock"
			note("None of its times is left: give it times, or a place in a clock.", "لم يبقَ لها موعد. حدّد لها مواعيد أو ضعها في قالب ساعة.")
		}
		if l.once && len(p.When) > 0 {
			p.Plays = "once"
		}
	}
}
