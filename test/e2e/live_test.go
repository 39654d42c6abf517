package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/test/aircheck"
)

// liveNow is the part of GET /api/station/live that tests look at.
type liveNow struct {
	Registry []struct {
		ID, URL, Title, Creator, Ingest string
		Votes                           int
		BlacklistedUntil                int64
	}
	Active *struct {
		ID, Title, Creator, Mode, Publisher string
	}
	OnAir   bool
	Next    string
	Sources []struct{ ID, URL, State, Why string }
	Ended   *struct {
		ID, Why, Next string
		Failed        bool
	}
	Sessions []struct {
		ID, Publisher, Name, State string
		Holds                      bool
	}
	Encoders  []struct{ Session, Stream, Protocol, Publisher string }
	Recording *struct{ Name, Problem string }
	Counters  struct{ FilledMs int64 }
	Desk      bool
	Phones    bool
}

func (s *station) live() (out liveNow, err error) {
	body, err := s.getAs("control", "/api/station/live", testStationKey)
	if err == nil {
		err = json.Unmarshal(body, &out)
	}
	return out, err
}

// publisher makes an account and returns its bearer token.
func (s *station) publisher(name string, auto bool) (id, secret string) {
	s.t.Helper()
	code, text := s.call(http.MethodPost, "control", "/api/station/live/publishers", testStationKey, fmt.Sprintf(`{"name":%q,"show":"برنامج %s","auto":%v}`, name, name, auto))
	var made struct{ ID, Secret string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || code != http.StatusCreated || made.Secret == "" {
		s.t.Fatalf("an account for %s: %d %s", name, code, text)
	}
	return made.ID, made.Secret
}

// liveOrder gives an order about live until it is answered, and returns the answer.
func (s *station) liveOrder(path, body string) (code int, text string) {
	s.t.Helper()
	return s.operate(http.MethodPost, "/api/station/live/"+path, body)
}

// encoder is an ffmpeg that sends a tone to an address of the station until ended.
func (s *station) encoder(tone int, args ...string) (end func()) {
	s.t.Helper()
	end, _ = s.encoding(tone, args...)
	return end
}

// encoding is encoder, and tells when it has ended, by itself or not.
func (s *station) encoding(tone int, args ...string) (end func(), ended <-chan struct{}) {
	s.t.Helper()
	cmd := sending(fmt.Sprintf("sine=%g:r=48000,volume=2", aircheck.Fine.Frequency(tone)), args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	done, once := make(chan struct{}), sync.Once{}
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	end = func() {
		once.Do(func() {
			_ = cmd.Process.Kill()
			<-done
			if s.t.Failed() {
				s.t.Logf("encoder of tone %d: %s", tone, said.String())
			}
		})
	}
	s.t.Cleanup(end)
	return end, done
}

// sending is an ffmpeg that sends what a filter makes, as fast as it is heard.
func sending(filter string, args ...string) *exec.Cmd {
	return exec.Command("ffmpeg", slices.Concat([]string{"-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", filter, "-ac", "2"}, args)...)
}

// toMount are ffmpeg's arguments to send to a mount of the live desk by the Icecast
// protocol, as an account of the station.
func (s *station) toMount(user, secret, mount string) []string {
	return []string{"-c:a", "libmp3lame", "-b:a", "128k", "-content_type", "audio/mpeg", "-f", "mp3",
		fmt.Sprintf("icecast://%s:%s@127.0.0.1:%d%s", user, secret, s.ports["live"], mount)}
}

// icecastSource sends a tone by the Icecast protocol, as an account of the station.
func (s *station) icecastSource(user, secret, mount string, tone int) (end func()) {
	s.t.Helper()
	return s.encoder(tone, s.toMount(user, secret, mount)...)
}

// liveStation is a station whose rotation is music of a few seconds; the tones from
// freeTone on are in none of it.
func liveStation(t *testing.T, opts ...option) *station {
	t.Helper()
	s := newStation(t, append([]option{withKeys, withWebhooks}, opts...)...)
	fill(t, s.media, []deck{{"music/arabic_hits", 0, 8, 20 * time.Second}, {"music/english", 8, 14, 20 * time.Second}})
	s.start().whole()
	return s
}

const freeTone = 60

// heardTone waits until a free tone is the last that is heard.
func (e *ear) airs(s *station, what string, tone int) {
	s.t.Helper()
	s.eventually(what, func() bool { return e.last(aircheck.Fine) == tone })
}

// rotates waits until the rotation is heard and told.
func (e *ear) rotates(s *station, what string) {
	s.t.Helper()
	s.eventually(what, func() bool {
		st, err := s.status()
		tone := e.last(aircheck.Fine)
		return err == nil && st.State == "music" && tone >= 0 && tone < freeTone
	})
}

// The life of a phone on the air: it takes the air by itself, everybody is told, its words
// are recorded from the first to the last, and when it hangs up the rotation is back. The
// registry has one pipe, however often it comes.
func TestAPhoneTakesTheAirAndGivesItBack(t *testing.T) {
	t.Parallel()
	s := liveStation(t)
	air := s.listen()
	air.rotates(s, "the rotation before")
	id, secret := s.publisher("سارة", true)

	refused := func(token string) (err error) {
		s.eventually("a phone is answered", func() bool { // with 503 where its key cannot be checked just now
			_, err = s.dialWHIP(token, freeTone)
			return err == nil || !strings.Contains(err.Error(), ": 503:")
		})
		return err
	}
	if err := refused(id + ".wrong"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a wrong key: %v", err)
	}
	for round := range 2 {
		tone := freeTone + round
		from := air.Position(time.Now())
		p := s.phone(id+"."+secret, tone)
		air.airs(s, "the phone is heard", tone)
		s.eventually("everybody is told", func() bool {
			st, err := s.status()
			return err == nil && st.State == "live" && st.NowPlaying.Title == "برنامج سارة" && st.NowPlaying.Artist == "سارة"
		})
		var now liveNow
		s.eventually(fmt.Sprintf("the desk tells of it, round %d", round), func() bool { // the engine may be the first to
			var err error
			now, err = s.live()
			return err == nil && now.Active != nil && now.OnAir && now.Active.Publisher == "سارة" && now.Recording != nil
		})
		if len(now.Registry) != 1 || now.Registry[0].Ingest != "pipe" {
			t.Errorf("round %d: %+v", round, now)
		}
		s.eventually("the WHIP server tells of a feed", func() bool {
			info, err := s.get("whip", "/whip-info")
			return err == nil && strings.Contains(string(info), `"live":true`)
		})
		p.hangUp()
		air.rotates(s, "the rotation after the phone")
		all := air.PCM()
		heard := aircheck.Fine.Analyse(all.Cut(from, all.Duration()))
		// All is counted once the desk has told of the end.
		s.eventually("nobody is live", func() bool {
			var err error
			now, err = s.live()
			return err == nil && now.Active == nil && now.Recording == nil
		})
		// The last word fades out and the music in, which is a dip of 0.2 s. A machine that is
		// short makes holes in what the phone sends; the desk counts them.
		if filled := time.Duration(now.Counters.FilledMs) * time.Millisecond; heard.Gap.Length() > filled+400*time.Millisecond {
			t.Errorf("silence of %s on the air, %s filled: %+v", heard.Gap.Length(), filled, heard.Segments)
		}
	}
	s.recorded(freeTone, freeTone+1)
	if code, text := s.liveOrder("publishers/"+id+"/revoke", ""); code != http.StatusOK {
		t.Fatalf("revoke: %d %s", code, text)
	}
	if err := refused(id + "." + secret); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a revoked key: %v", err)
	}
}

// recorded compares the recordings, oldest first, with the tones that were live.
func (s *station) recorded(tones ...int) {
	s.t.Helper()
	var list struct {
		Recordings []struct {
			Name       string
			Title      string
			DurationMs int64
		}
	}
	body, err := s.getAs("control", "/api/station/live/recordings", testStationKey)
	if err == nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil || len(list.Recordings) != len(tones) {
		s.t.Errorf("recordings: %s, %v; want %d", body, err, len(tones))
		return
	}
	slices.Reverse(list.Recordings)
	for i, rec := range list.Recordings {
		audio, err := s.getAs("control", "/api/station/live/recordings/"+rec.Name, testStationKey)
		if err != nil {
			s.t.Error(err)
			continue
		}
		file := filepath.Join(s.t.TempDir(), "recording.mp3")
		if err := os.WriteFile(file, audio, 0o600); err != nil {
			s.t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		pcm, err := aircheck.Capture(ctx, file, time.Minute)
		cancel()
		if err != nil {
			s.t.Error(err)
			continue
		}
		heard := aircheck.Fine.Analyse(pcm)
		if len(heard.Segments) == 0 || slices.ContainsFunc(heard.Segments, func(seg aircheck.Segment) bool { return seg.ID != tones[i] }) {
			s.t.Errorf("recording %s of %s holds %+v, want tone %d", rec.Name, pcm.Duration(), heard.Segments, tones[i])
		}
	}
}

// The mission's table of the takeover, row by row, as it is heard.
func TestTheTakeoverTableIsHeard(t *testing.T) {
	t.Parallel()
	s := liveStation(t)
	air := s.listen()
	air.rotates(s, "the rotation before")

	// No candidate: the normal mix goes on, and it is no error.
	if code, text := s.liveOrder("start", ""); code != http.StatusOK || strings.Contains(text, `"active"`) {
		t.Errorf("start without a candidate: %d %s", code, text)
	}
	if code, text := s.liveOrder("start", `{"id":"LIVE00000000"}`); code != http.StatusNotFound {
		t.Errorf("start of what is unknown: %d %s", code, text)
	}
	// A pipe without a feed: the probe of the WHIP server says so.
	code, text := s.liveOrder("register", fmt.Sprintf(`{"url":"pipe:%s","title":"هاتف","ingest":"webrtc"}`, filepath.Join(s.data, "node", "live", "whip.pcm")))
	var made struct{ Stream struct{ ID, Ingest string } }
	if err := json.Unmarshal([]byte(text), &made); err != nil || code != http.StatusOK || made.Stream.Ingest != "pipe" {
		t.Fatalf("register: %d %s", code, text)
	}
	if code, text := s.liveOrder("start", `{"id":"`+made.Stream.ID+`"}`); code != http.StatusConflict {
		t.Errorf("start of a phone that is not there: %d %s", code, text)
	}
	if code, text := s.liveOrder("remove", `{"id":"`+made.Stream.ID+`"}`); code != http.StatusOK {
		t.Errorf("remove: %d %s", code, text)
	}

	// Two encoders wait; the studio starts one by name, then the best.
	one, two := freeTone, freeTone+1
	firstID, firstKey := s.publisher("نور", false)
	secondID, secondKey := s.publisher("ليلى", false)
	endOne := s.icecastSource(firstID, firstKey, "/nour", one)
	endTwo := s.icecastSource(secondID, secondKey, "/laila", two)
	ids := map[string]string{}
	s.eventually("both encoders are registered", func() bool {
		now, err := s.live()
		if err != nil {
			return false
		}
		for _, stream := range now.Registry {
			ids[stream.Creator] = stream.ID
		}
		return ids["نور"] != "" && ids["ليلى"] != ""
	})
	if st, err := s.status(); err != nil || st.State != "music" {
		t.Errorf("who waits for the studio took the air: %+v, %v", st.State, err)
	}
	if code, text := s.liveOrder("start", `{"id":"`+ids["ليلى"]+`"}`); code != http.StatusOK {
		t.Fatalf("start by name: %d %s", code, text)
	}
	air.airs(s, "the second encoder", two)
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Errorf("stop: %d %s", code, text)
	}
	air.rotates(s, "the rotation after stop")

	// The best: who was live last is ranked first, but for one that is left out.
	if code, text := s.liveOrder("blacklist", `{"id":"`+ids["ليلى"]+`"}`); code != http.StatusOK {
		t.Errorf("blacklist: %d %s", code, text)
	}
	if code, text := s.liveOrder("start", ""); code != http.StatusOK {
		t.Fatalf("start of the best: %d %s", code, text)
	}
	air.airs(s, "the first encoder", one)
	if code, text := s.liveOrder("blacklist", `{"id":"`+ids["ليلى"]+`","lift":true}`); code != http.StatusOK {
		t.Errorf("blacklist lifted: %d %s", code, text)
	}
	s.eventually("the second would follow", func() bool { now, err := s.live(); return err == nil && now.Next == ids["ليلى"] })

	// It dies: the next-ranked follows, without the rotation between.
	from := air.Position(time.Now())
	endOne()
	air.airs(s, "the second encoder follows", two)
	s.only(air, from, one, two)
	s.eventually("the station says who is on the air", func() bool {
		now, err := s.live()
		return err == nil && now.Active != nil && now.Active.ID == ids["ليلى"]
	})
	// The last dies: the normal mix.
	endTwo()
	air.rotates(s, "the rotation after the last encoder")

	// The server restarts: the registry stays, the takeover does not.
	endTwo = s.icecastSource(secondID, secondKey, "/laila", two)
	defer endTwo()
	s.eventually("the encoder is back", func() bool {
		code, _ := s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, `{"id":"`+ids["ليلى"]+`"}`)
		return code == http.StatusOK
	})
	air.airs(s, "the second encoder again", two)
	s.kill("control")
	air.rotates(s, "the rotation after a restart of the control plane")
	s.eventually("the registry is kept, the takeover is not", func() bool {
		now, err := s.live()
		return err == nil && now.Active == nil && len(now.Registry) == 2
	})
}

// Encoders of other makes go live: RTMP as OBS sends it, and a stream of somebody else's
// Icecast by its address. The studio disconnects one, and it does not come back by itself.
func TestOtherWaysIntoTheLiveDesk(t *testing.T) {
	t.Parallel()
	s := liveStation(t, func(s *station) { s.env = append(s.env, "ATHIR_LIVE_NETWORKS=127.0.0.0/8") })
	air := s.listen()
	air.rotates(s, "the rotation before")
	user, secret := s.publisher("عمر", true)

	_, ended := s.encoding(freeTone, "-c:a", "aac", "-b:a", "128k", "-f", "flv",
		fmt.Sprintf("rtmp://127.0.0.1:%d/live/%s?password=%s", s.ports["rtmp"], user, secret))
	air.airs(s, "an RTMP encoder takes the air", freeTone)
	s.kick("rtmp")
	testkit.Receive(t, "the end of the RTMP encoder", ended)
	air.rotates(s, "the rotation after the RTMP encoder was disconnected")
	// It connects again, by the other protocol: but for that it would be on the air by itself.
	_, ended = s.encoding(freeTone+2, s.toMount(user, secret, "/omar")...)
	if now := s.kick("source"); now.Active != nil {
		t.Errorf("who was disconnected is on the air again: %+v", now.Active)
	}
	testkit.Receive(t, "the end of the other encoder", ended)

	// The address of a mount: an encoder sends to the station's own Icecast beside /main.
	end := s.encoder(freeTone+1, "-c:a", "libmp3lame", "-b:a", "128k", "-content_type", "audio/mpeg", "-f", "mp3",
		fmt.Sprintf("icecast://source:%s@127.0.0.1:%d/guest", testSourcePassword, s.ports["icecast"]))
	defer end()
	code, text := s.liveOrder("register", fmt.Sprintf(`{"url":"http://127.0.0.1:%d/guest","title":"ضيف","creator":"إذاعة أخرى","ingest":"rtmp"}`, s.ports["icecast"]))
	var made struct{ Stream struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &made); err != nil || code != http.StatusOK {
		t.Fatalf("register: %d %s", code, text)
	}
	s.eventually("the other station is on the air", func() bool {
		code, _ := s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, `{"id":"`+made.Stream.ID+`"}`)
		return code == http.StatusOK
	})
	air.airs(s, "the other station is heard", freeTone+1)
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Errorf("stop: %d %s", code, text)
	}
	air.rotates(s, "the rotation after the other station")
}

// kick has the studio disconnect the one encoder that is there, of a protocol, and returns
// what stood before.
func (s *station) kick(protocol string) (before liveNow) {
	s.t.Helper()
	s.eventually("an encoder by "+protocol+" is listed", func() bool {
		var err error
		before, err = s.live()
		return err == nil && len(before.Encoders) == 1 && before.Encoders[0].Protocol == protocol
	})
	if code, text := s.liveOrder("kick", fmt.Sprintf(`{"session":%q}`, before.Encoders[0].Session)); code != http.StatusOK {
		s.t.Fatalf("kick: %d %s", code, text)
	}
	return before
}
