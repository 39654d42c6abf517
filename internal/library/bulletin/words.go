package bulletin

import (
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/library/bulletin/arabic"
)

// What the bulletin says besides time, weather and headlines. The offline
// voice drops vowels that are not written, so all of it carries its tashkeel.
const (
	stationName   = "أَثِيرْ"
	cairo         = "القَاهِرَةِ" // genitive: after a preposition or in a construct
	cairoZone     = "Africa/Cairo"
	headlinesOpen = "إِلَيْكُمْ أَهَمَّ العَنَاوِينِ."
)

func opening(station string) string {
	return "هُنَا " + station + ". أَهْلًا بِكُمْ."
}

func closing(station string) string {
	return "كَانَتْ هَذِهِ نَشْرَةَ " + station + ". نَعُودُ الآنَ إِلَى المُوسِيقَى."
}

// courtesies close the programme where it is short.
func courtesies(station string) []string {
	return []string{
		"تَسْتَمِعُونَ إِلَى " + station + "، مُوسِيقَى عَلَى مَدَارِ السَّاعَةِ.", "نُرَحِّبُ بِكُمْ أَيْنَمَا كُنْتُمْ.",
		"شُكْرًا لِأَنَّكُمْ مَعَنَا.", "نَتَمَنَّى لَكُمْ وَقْتًا طَيِّبًا مَعَ المُوسِيقَى.",
	}
}

// TimeSentence tells the time in a zone. Cairo is named; another place's name
// has no known tashkeel, so there the time stands for itself.
func TimeSentence(at time.Time, zone *time.Location) string {
	local, place := at.In(zone), ""
	if zone.String() == cairoZone {
		place = cairo
	}
	return arabic.TimeSentence(local.Hour(), local.Minute(), place)
}

// write writes what a bulletin says. A missing part is a problem of its segment, never
// of the bulletin.
func (m *Maker) write(at time.Time, out outside, headlines func() ([]string, error)) Script {
	weather, news := Segment{Kind: Weather}, Segment{Kind: Headlines}
	if out.err != nil {
		weather.Problem = out.err.Error()
	} else {
		weather = said(Weather, arabic.WeatherSentence(out.weather, cairo))
	}
	if lines, err := headlines(); err != nil {
		news.Problem = err.Error()
	} else {
		news = said(Headlines, append([]string{headlinesOpen}, sentences(lines)...)...)
	}
	s := Script{At: at, Segments: []Segment{
		said(Time, opening(m.o.Station), TimeSentence(at, m.o.Zone)),
		weather,
		news,
		said(Return, closing(m.o.Station)),
	}}
	if short(s.Segments) {
		s.Spares = m.spares(at)
	}
	return s
}

// sentences ends each headline, so that the voice falls between them.
func sentences(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line, " .،؛,;:…")
		if !strings.HasSuffix(line, "!") && !strings.HasSuffix(line, "؟") && !strings.HasSuffix(line, "?") {
			out[i] += "."
		}
	}
	return out
}
