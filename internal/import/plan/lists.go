package plan

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/onair/rotation"
)

// Limits of playlists here.
const (
	mostLists   = 200
	mostWindows = 50
	mostItems   = 20_000
	mostEvery   = 500
	longestName = 100 // characters of a person's or a webhook's name
	longestList = 80  // and of a playlist's
	longestWord = 500
	remoteEvery = 60 // minutes between two looks at a remote playlist
	usualSong   = 225 * time.Second
)

func (p *Plan) playlists(st *model.Station, lib Library, mem Memory) {
	fate := map[string]*Track{}
	for i := range p.Tracks {
		fate[p.Tracks[i].ID] = &p.Tracks[i]
	}
	here, song := newRack(lib.Playlists), usual(st.Tracks)
	for i := range st.Playlists {
		l := &st.Playlists[i]
		out := Playlist{ID: l.ID, From: strings.ToValidUTF8(l.Name, "�"), Settings: settingsOf(l)}
		for _, note := range l.Notes {
			out.Notes = append(out.Notes, wordsOf(note))
		}
		for _, id := range l.Items {
			switch t := fate[id]; {
			case t != nil && t.Do != Not:
				out.Items = append(out.Items, id)
				continue
			case t != nil && t.later:
				out.Lacks = append(out.Lacks, id)
			}
			out.Without++
		}
		out.decide(l)
		if out.Do == Bring {
			out.fit(l, song)
			out.remember(mem.Playlists[l.ID], here)
		}
		p.Playlists = append(p.Playlists, out)
	}
	for i := range p.Playlists {
		if out := &p.Playlists[i]; out.Do == Bring && !out.named {
			out.match(&st.Playlists[i], here)
		}
	}
	p.limit(here)
	for i := range p.Playlists {
		out := &p.Playlists[i]
		if out.Do == Bring && !out.named {
			out.Settings.Name = unique(out.Settings.Name, here.taken)
		}
		if was := oneLine(st.Playlists[i].Name, longestWord); was != out.Settings.Name {
			out.Was = was
		}
	}
	p.shares(st.Playlists)
}

func settingsOf(l *model.Playlist) Settings {
	s := Settings{
		Name: oneLine(l.Name, longestList), Kind: "hand", Order: l.Order, Plays: l.Plays, Share: 10, EverySongs: 4, When: slices.Clone(l.When), On: !l.Off,
	}
	if s.When == nil {
		s.When = []rotation.Window{}
	}
	if s.Name == "" {
		s.Name = "Playlist " + l.ID
	}
	if s.Order == "" {
		s.Order = "shuffle"
	}
	if s.Plays == "" {
		s.Plays = "clock"
	}
	return s
}

func (out *Playlist) not(en, ar string) { out.Do, out.Why = Not, &Words{en, ar} }

func (out *Playlist) note(en, ar string) { out.Notes = append(out.Notes, Words{en, ar}) }

// decide says whether a playlist comes over.
func (out *Playlist) decide(l *model.Playlist) {
	out.Do = Bring
	address, err := url.Parse(l.Remote)
	switch {
	case l.Remote != "" && l.Stream:
		out.not("It is a stream of another server, and a playlist relays no stream: put it on the air as a live source.", "هذا بث من خادم آخر، وقوائم التشغيل لا تعيد البث. أضفه مصدرًا للبث المباشر.")
	case l.Remote != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https"):
		out.not("Its address is not a web address.", "عنوانها ليس عنوان ويب.")
	case l.Remote != "":
		out.Settings.Kind, out.Settings.Address, out.Settings.EveryMinutes, out.Items = "remote", l.Remote, remoteEvery, nil
	case l.Query != nil:
		out.Settings.Kind, out.Settings.Query, out.Items = "smart", l.Query, nil
	case l.Smart != "" && len(out.Items) == 0:
		out.not("Its search cannot be carried over. Make a smart playlist here from: "+oneLine(l.Smart, longestWord), "لا يمكن نقل بحثها. أنشئ هنا قائمة من بحث بهذه الشروط: "+oneLine(l.Smart, longestWord))
	case len(l.Items) == 0:
		out.not("It has no tracks.", "لا مقاطع فيها.")
	case len(out.Items) == 0:
		out.not("None of its tracks comes over.", "لا يُنقل أي من مقاطعها.")
	}
}

// fit brings what a playlist says into our limits.
func (out *Playlist) fit(l *model.Playlist, song time.Duration) {
	s := &out.Settings
	if l.Smart != "" && l.Query == nil {
		out.note("It was a smart playlist; the tracks that its search had found come over as a list: "+oneLine(l.Smart, longestWord), "كانت قائمة من بحث، وتُنقل الأغاني التي وجدها البحث قائمةً يدوية: "+oneLine(l.Smart, longestWord))
	}
	switch s.Plays {
	case "songs":
		s.EverySongs = min(max(l.Every, 1), mostEvery)
		if l.Minutes > 0 {
			s.EverySongs = min(max(int((time.Duration(l.Minutes)*time.Minute+song/2)/song), 1), mostEvery)
			out.note(fmt.Sprintf("It played every %d minutes; here after every %d songs, which is about as long.", l.Minutes, s.EverySongs),
				fmt.Sprintf("كان الفاصل بين مرة وأخرى (بالدقائق) %d، وهنا تُذاع مرة بعد كل %s، وهي مدة قريبة.", l.Minutes, songs(s.EverySongs)))
		}
	case "once":
		if s.Order != "sequence" {
			s.Order = "sequence"
			out.note("It was shuffled; a playlist that plays once here plays in order, from its beginning.", "كانت عشوائية، وما يُذاع هنا مرة واحدة يُذاع من أوله بالترتيب.")
		}
		if len(s.When) == 0 {
			s.Plays = "clock"
			out.note("It has no time; give it one, or a place in a clock.", "لا موعد لها. حدّد لها موعدًا أو ضعها في قالب ساعة.")
		}
	case "hourly":
		s.Minute = min(max(l.Minute, 0), 59)
	}
	if len(s.When) > mostWindows {
		out.note(fmt.Sprintf("It had %d times; the first %d come.", len(s.When), mostWindows), fmt.Sprintf("عدد مواعيدها %d، ويُنقل أول %d منها.", len(s.When), mostWindows))
		s.When = s.When[:mostWindows]
	}
	if len(out.Items) > mostItems {
		out.note(fmt.Sprintf("It had %d tracks; the first %d come.", len(out.Items), mostItems), fmt.Sprintf("عدد مقاطعها %d، ويُنقل أول %d منها.", len(out.Items), mostItems))
		out.Items = out.Items[:mostItems]
	}
	if out.Without > 0 && s.Kind == "hand" {
		out.note(fmt.Sprintf("Tracks of it that do not come over: %d.", out.Without), fmt.Sprintf("عدد مقاطعها التي لا تُنقل: %d.", out.Without))
	}
}

// usual is how long a song lasts on average.
func usual(all []model.Track) time.Duration {
	var sum time.Duration
	n := 0
	for _, t := range all {
		if t.Length >= time.Minute && t.Length < 15*time.Minute {
			sum += t.Length
			n++
		}
	}
	if n == 0 {
		return usualSong
	}
	return sum / time.Duration(n)
}

// unique is a name that no other playlist has, and takes it.
func unique(name string, taken map[string]bool) string {
	out := name
	for n := 2; taken[rotation.Fold(out)]; n++ {
		end := fmt.Sprintf(" (%d)", n)
		out = strings.TrimSpace(oneLine(name, longestList-len(end))) + end
	}
	taken[rotation.Fold(out)] = true
	return out
}
