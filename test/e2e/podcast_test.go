package e2e

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/podcast"
	"github.com/athir-radio/athir/internal/sound/audiofile"
	"github.com/athir-radio/athir/internal/sound/ffmpeg"
	"github.com/athir-radio/athir/internal/sound/loudness"
	"github.com/athir-radio/athir/test/aircheck"
)

// shownFeed is the part of a feed that this looks at.
type shownFeed struct {
	Channel struct {
		Title    string `xml:"title"`
		LiveItem []struct {
			Status string `xml:"status,attr"`
			Title  string `xml:"title"`
		} `xml:"https://podcastindex.org/namespace/1.0 liveItem"`
		Items []struct {
			Title     string `xml:"title"`
			Enclosure struct {
				URL    string `xml:"url,attr"`
				Length int64  `xml:"length,attr"`
				Type   string `xml:"type,attr"`
			} `xml:"enclosure"`
			Chapters *struct {
				URL string `xml:"url,attr"`
			} `xml:"https://podcastindex.org/namespace/1.0 chapters"`
		} `xml:"item"`
	} `xml:"channel"`
}

func (s *station) feed(slug string) (out shownFeed, err error) {
	body, err := s.get("player", "/podcasts/"+slug+"/feed.xml")
	if err == nil {
		err = xml.Unmarshal(body, &out)
	}
	return out, err
}

// show makes a show by the API.
func (s *station) show(own podcast.Own) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"own": own})
	if err != nil {
		s.t.Fatal(err)
	}
	if code, text := s.operate(http.MethodPost, "/api/station/podcasts", string(body)); code != http.StatusCreated {
		s.t.Fatalf("create show %s: %d %s", own.Slug, code, text)
	}
}

// A presenter goes live over the music, then in its place. What was said is an episode each, that
// everybody finds in the feed, at the station's loudness, and what the encoder told of the second is
// its chapters.
func TestABroadcastBecomesAnEpisode(t *testing.T) {
	t.Parallel()
	s := liveStation(t)
	air := s.listen()
	air.rotates(s, "the rotation before")
	s.show(podcast.Own{
		Slug: "nour", On: true, Title: "سهرات نور", Description: "سهرة كل خميس", Language: "ar", Categories: []string{"Music"},
		From: podcast.From{Kind: podcast.Live, Streams: []string{}, Types: []string{}, Shortest: 3},
	})
	if f, err := s.feed("nour"); err != nil || f.Channel.Title != "سهرات نور" || len(f.Channel.Items) != 0 {
		t.Errorf("the feed of a show that is new: %+v, %v", f, err)
	}

	const over, instead = freeTone, freeTone + 4
	id, key := s.publisher("نور", false)
	end := s.icecastSource(id, key, "/nour", over)
	stream := s.streamOf("نور")
	goLive := func(mode string, tone int) {
		t.Helper()
		s.eventually("the presenter is started, "+mode, func() bool { // an encoder connects a moment later
			code, _ := s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, `{"id":"`+stream+`","mode":"`+mode+`"}`)
			return code == http.StatusOK
		})
		air.airs(s, "the presenter, "+mode, tone)
		s.eventually("the feed tells that the show is on the air", func() bool {
			f, err := s.feed("nour")
			return err == nil && len(f.Channel.LiveItem) == 1 && f.Channel.LiveItem[0].Status == "live"
		})
	}
	goLive("over", over)
	from := time.Now()
	s.eventually("six seconds of it are heard", func() bool { return time.Since(from) > 6*time.Second })
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Fatalf("stop: %d %s", code, text)
	}
	air.rotates(s, "the music alone")
	end()

	end = s.icecastSource(id, key, "/nour", instead)
	goLive("replace", instead)
	told := []string{"عودت عيني", "ألف ليلة"}
	for _, song := range told {
		from = time.Now()
		s.eventually("three seconds more are heard", func() bool { return time.Since(from) > 3*time.Second })
		s.tell(id, key, "/nour", song)
	}
	from = time.Now()
	s.eventually("three seconds of the last are heard", func() bool { return time.Since(from) > 3*time.Second })
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Fatalf("stop: %d %s", code, text)
	}
	air.rotates(s, "the rotation after it")
	end()

	var f shownFeed
	s.atLeisure("both are in the feed", func() bool {
		var err error
		f, err = s.feed("nour")
		return err == nil && len(f.Channel.Items) == 2
	})
	if len(f.Channel.LiveItem) != 1 || f.Channel.LiveItem[0].Status != "ended" {
		t.Errorf("the feed tells of %+v", f.Channel.LiveItem)
	}
	recordings := s.recordingTimes()
	for i, tone := range []int{instead, over} { // the newest first
		item := f.Channel.Items[i]
		if item.Title != "برنامج نور" || item.Enclosure.Type != "audio/mpeg" {
			t.Errorf("episode of tone %d: %+v", tone, item)
		}
		file := s.episode(item.Enclosure.URL, item.Enclosure.Length)
		s.soundsRight(file, tone, recordings[i].ended.Sub(recordings[i].began))
		if (item.Chapters != nil) != (tone == instead) {
			t.Errorf("chapters of tone %d: %+v", tone, item.Chapters)
		}
		if item.Chapters != nil {
			s.chaptersRight(item.Chapters.URL, recordings[i].ended.Sub(recordings[i].began), told)
		}
	}
}

// episode fetches the file of an episode, whose address is on the front that it was asked at.
func (s *station) episode(address string, length int64) (file string) {
	s.t.Helper()
	_, path, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"), "/")
	if !ok {
		s.t.Fatalf("the address of an episode is %q", address)
	}
	body, err := s.get("player", "/"+path)
	if err != nil || int64(len(body)) != length {
		s.t.Fatalf("%d bytes of %s, %d are told: %v", len(body), address, length, err)
	}
	file = filepath.Join(s.t.TempDir(), "episode.mp3")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// soundsRight decodes an episode: the tone that was sent and no other, at the station's loudness,
// for as long as it was live, and its header says so.
func (s *station) soundsRight(file string, tone int, lasted time.Duration) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	pcm, err := aircheck.Capture(ctx, file, 10*time.Minute)
	if err != nil {
		s.t.Error(err)
		return
	}
	heard := aircheck.Fine.Analyse(pcm)
	if len(heard.Segments) == 0 || slices.ContainsFunc(heard.Segments, func(seg aircheck.Segment) bool { return seg.ID != tone }) {
		s.t.Errorf("%s of %+v, want tone %d alone", pcm.Duration(), heard.Segments, tone)
	}
	if (pcm.Duration() - lasted).Abs() > 3*time.Second {
		s.t.Errorf("it plays %s, and was live for %s", pcm.Duration(), lasted)
	}
	meter := loudness.NewMeter(48000, loudness.Stereo)
	err = ffmpeg.Decode(ctx, file, ffmpeg.Decoding{Rate: 48000, Channels: 2}, func(frames []float32) error {
		meter.Write(frames)
		return nil
	})
	if got := meter.Result(); err != nil || math.Abs(got.Integrated+14) > 1 || got.TruePeak > -1.5 {
		s.t.Errorf("it is at %.2f LUFS, %.2f dBTP: %v", got.Integrated, got.TruePeak, err)
	}
	f, err := os.Open(file) //nolint:gosec // test
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	stat, err := f.Stat()
	if err != nil {
		s.t.Fatal(err)
	}
	if info, err := audiofile.Read(f, stat.Size()); err != nil || info.Title != "برنامج نور" || info.Artist != "نور" || (info.Duration-pcm.Duration()).Abs() > 100*time.Millisecond {
		s.t.Errorf("its tags say %+v, %v", info, err)
	}
}

// tell tells the live desk what an encoder plays, as DJ programs do.
func (s *station) tell(user, secret, mount, title string) {
	s.t.Helper()
	ask := url.Values{"mode": {"updinfo"}, "mount": {mount}, "song": {"أم كلثوم - " + title}}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/admin/metadata?%s", s.ports["live"], ask.Encode()), http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.SetBasicAuth(user, secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		s.t.Errorf("the desk answers a title with %s", resp.Status)
	}
}

// chaptersRight compares the chapters of a recording with what its encoder told: all of it, in its
// order, each later than the one before and within the recording. That each stands where its song is
// heard is shown where no clock is asked, in internal/live/record.
func (s *station) chaptersRight(address string, lasted time.Duration, told []string) {
	s.t.Helper()
	_, path, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"), "/")
	body, err := s.get("player", "/"+path)
	var list struct {
		Chapters []struct {
			StartTime float64
			Title     string
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil || len(list.Chapters) != 1+len(told) {
		s.t.Errorf("chapters: %s, %v", body, err)
		return
	}
	for i, c := range list.Chapters[1:] {
		if c.StartTime <= list.Chapters[i].StartTime || c.StartTime >= lasted.Seconds() || !strings.Contains(c.Title, told[i]) {
			s.t.Errorf("chapter %q at %g s of %s, after one at %g s; told was %q", c.Title, c.StartTime, lasted, list.Chapters[i].StartTime, told[i])
		}
	}
}

type recordedFrom struct{ began, ended time.Time }

// recordingTimes are when the recordings began and ended, the newest first.
func (s *station) recordingTimes() (out []recordedFrom) {
	s.t.Helper()
	var list struct {
		Recordings []struct{ StartedAt, DurationMs int64 }
	}
	body, err := s.getAs("control", "/api/station/live/recordings", testStationKey)
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil || len(list.Recordings) != 2 {
		s.t.Fatalf("recordings: %s, %v", body, err)
	}
	for _, r := range list.Recordings {
		began := time.UnixMilli(r.StartedAt)
		out = append(out, recordedFrom{began, began.Add(time.Duration(r.DurationMs) * time.Millisecond)})
	}
	return out
}
