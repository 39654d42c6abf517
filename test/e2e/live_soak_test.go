//go:build soak

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/athir-radio/athir/test/aircheck"
)

// setting is a figure of the environment, for a shorter or longer run.
func setting(name string, usual float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil && v > 0 {
		return v
	}
	return usual
}

// rounds is how often each takeover is done.
func rounds() int { return int(setting("ATHIR_LIVE_ROUNDS", 20)) }

// tookRow prints what was measured beside its target.
func tookRow(t *testing.T, what string, all []time.Duration, target string) {
	t.Helper()
	if len(all) == 0 {
		t.Errorf("%s: nothing was measured", what)
		return
	}
	slices.Sort(all)
	t.Logf("LIVE %-44s median %6.0f ms  worst %6.0f ms  of %2d  target %s",
		what, all[len(all)/2].Seconds()*1000, all[len(all)-1].Seconds()*1000, len(all), target)
}

// A presenter connects and says something at once, for 0.4 s, then something else. The
// first of it is heard and recorded each time, and there is no silence before it.
func TestSoakFirstWords(t *testing.T) {
	s := liveStation(t)
	air := s.listen()
	id, secret := s.publisher("نور", false)
	word, then := freeTone, freeTone+8
	var silences, words []time.Duration
	for range rounds() {
		air.rotates(s, "the rotation before")
		from := air.Position(time.Now())
		step := aircheck.Fine.Frequency(then) - aircheck.Fine.Frequency(word)
		cmd := sending(fmt.Sprintf("aevalsrc=0.25*sin(2*PI*t*(%g+%g*gte(t\\,0.4))):s=48000", aircheck.Fine.Frequency(word), step), s.toMount(id, secret, "/nour")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.eventually("it is started as it connects", func() bool {
			now, err := s.live()
			if err == nil && len(now.Registry) == 1 && now.Active == nil {
				s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, "")
			}
			return air.last(aircheck.Fine) == then
		})
		all := air.PCM()
		report := aircheck.Fine.Analyse(all.Cut(from, all.Duration()))
		silences = append(silences, report.Gap.Length())
		at := slices.IndexFunc(report.Segments, func(seg aircheck.Segment) bool { return seg.ID == word })
		if at < 0 {
			t.Errorf("the first word is not heard:\n%s", report)
		} else {
			words = append(words, report.Segments[at].Length())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		air.rotates(s, "the rotation after")
		s.liveOrder("stop", "")
	}
	tookRow(t, "silence at a takeover", silences, "0 ms")
	tookRow(t, "of the first 400 ms on the air", words, "400 ms")
	list, err := s.recordings()
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	for _, rec := range list {
		if slices.Contains(s.played(rec.Name).Order(), word) {
			heard++
		}
	}
	t.Logf("LIVE the first word is in %d of %d recordings", heard, len(list))
	if heard < rounds() {
		t.Errorf("the first word is in %d recordings, want %d", heard, rounds())
	}
}

// Of two who are connected the one on the air goes, closed or frozen; the other follows,
// and no song comes between.
func TestSoakFailover(t *testing.T) {
	s := liveStation(t)
	air := s.listen()
	air.rotates(s, "the rotation before")
	var id, secret, mount [2]string
	var cmd [2]*exec.Cmd
	connect := func(i int) {
		cmd[i] = sending(fmt.Sprintf("sine=%g:r=48000,volume=2", aircheck.Fine.Frequency(freeTone+4*i)), s.toMount(id[i], secret[i], mount[i])...)
		if err := cmd[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	ready := func(i int, states ...string) {
		s.eventually("an encoder is "+states[0], func() bool {
			now, err := s.live()
			if err != nil {
				return false
			}
			for _, source := range now.Sources {
				if source.URL == "source:"+mount[i] && slices.Contains(states, source.State) {
					return true
				}
			}
			return false
		})
	}
	for i, name := range []string{"نور", "ليلى"} {
		id[i], secret[i] = s.publisher(name, false)
		mount[i] = []string{"/nour", "/laila"}[i]
		connect(i)
	}
	t.Cleanup(func() {
		for i := range cmd {
			_ = cmd[i].Process.Kill()
			_ = cmd[i].Wait()
		}
	})
	first := s.streamOf("نور")
	s.streamOf("ليلى")
	if code, text := s.liveOrder("start", `{"id":"`+first+`"}`); code != http.StatusOK {
		t.Fatalf("start: %d %s", code, text)
	}
	air.airs(s, "the first", freeTone)
	on := 0
	for _, how := range []string{"closed", "frozen"} {
		var silences []time.Duration
		for range rounds() {
			other := 1 - on
			ready(other, "ready")
			s.eventually("two seconds of the one on the air", func() bool {
				all := air.PCM()
				heard := aircheck.Fine.Analyse(all.Cut(all.Duration()-2*time.Second, all.Duration()))
				return len(heard.Segments) == 1 && heard.Segments[0].ID == freeTone+4*on
			})
			from := air.Position(time.Now())
			signal := syscall.SIGKILL
			if how == "frozen" {
				signal = syscall.SIGSTOP
			}
			_ = cmd[on].Process.Signal(signal)
			air.airs(s, "the other follows", freeTone+4*other)
			s.only(air, from, freeTone, freeTone+4)
			all := air.PCM()
			silences = append(silences, aircheck.Fine.Analyse(all.Cut(from, all.Duration())).Gap.Length())
			_ = cmd[on].Process.Kill()
			_ = cmd[on].Wait()
			s.eventually("the one that went is gone", func() bool {
				now, err := s.live()
				return err == nil && now.Active != nil && !slices.ContainsFunc(now.Sources, func(src struct{ ID, URL, State, Why string }) bool {
					return src.URL == "source:"+mount[on] && src.State != "gone" && src.State != "connecting"
				})
			})
			connect(on)
			if how == "frozen" { // one that failed follows another when it has been well for ten seconds
				back := air.PCM().Duration()
				s.eventually("twelve seconds more", func() bool { return air.PCM().Duration() > back+12*time.Second })
			}
			on = other
		}
		tookRow(t, "silence at a failover, "+how, silences, "100 ms at most")
	}
}

// How long it takes from the press of a button, or an order, to the tone at Icecast.
func TestSoakSecondsToTheAir(t *testing.T) {
	s := liveStation(t, func(s *station) { s.env = append(s.env, "ATHIR_LIVE_NETWORKS=127.0.0.0/8") })
	air := s.listen()
	id, secret := s.publisher("سارة", true)
	tone := freeTone
	// Who takes the air by themselves is held back after some times: the studio's start
	// forgets that.
	measure := func(what, target string, begin func(tone int) (end func())) {
		var all []time.Duration
		for range rounds() {
			air.rotates(s, "the rotation before "+what)
			tone = freeTone + (tone-freeTone+7)%70
			since := time.Now()
			end := begin(tone)
			s.onTheAir(air, what+" is heard", tone)
			all = append(all, air.hears(s, tone, since))
			end()
			if now, err := s.live(); err == nil && now.Active != nil {
				s.liveOrder("stop", "")
			}
			air.rotates(s, "the rotation after "+what)
		}
		tookRow(t, what+": to the tone at Icecast", all, target)
	}
	measure("WHIP", "2000 ms, worst 3000 ms", func(tone int) func() { return s.phone(id+"."+secret, tone).hangUp })
	measure("Icecast source", "none", func(tone int) func() { return s.icecastSource(id, secret, "/sara", tone) })
	measure("RTMP", "none", func(tone int) func() {
		return s.encoder(tone, "-c:a", "aac", "-b:a", "128k", "-f", "flv", fmt.Sprintf("rtmp://127.0.0.1:%d/live/%s?password=%s", s.ports["rtmp"], id, secret))
	})

	// An HLS address, which is there before it is started.
	dir := t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(web.Close)
	code, text := s.liveOrder("register", fmt.Sprintf(`{"url":"%s/live.m3u8","title":"hls","creator":"hls","ingest":"rtmp"}`, web.URL))
	if code != http.StatusOK {
		t.Fatalf("register: %d %s", code, text)
	}
	stream := s.streamOf("hls")
	var all []time.Duration
	for range rounds() {
		air.rotates(s, "the rotation before HLS")
		tone = freeTone + (tone-freeTone+7)%70
		for _, old := range must(filepath.Glob(filepath.Join(dir, "*"))) {
			_ = os.Remove(old)
		}
		end := s.encoder(tone, "-c:a", "aac", "-b:a", "128k", "-f", "hls", "-hls_time", "2", "-hls_list_size", "4", filepath.Join(dir, "live.m3u8"))
		s.eventually("three segments", func() bool { return len(must(filepath.Glob(filepath.Join(dir, "*.ts")))) >= 3 })
		since := time.Now()
		if code, text := s.liveOrder("start", `{"id":"`+stream+`"}`); code != http.StatusOK {
			t.Errorf("start of HLS: %d %s", code, text)
			end()
			continue
		}
		all = append(all, air.hears(s, tone, since))
		s.liveOrder("stop", "")
		air.rotates(s, "the rotation after HLS")
		end()
	}
	tookRow(t, "HLS address: to the tone at Icecast", all, "none")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What live costs the machine beside plain rotation.
func TestSoakWhatLiveCosts(t *testing.T) {
	s := liveStation(t)
	air := s.listen()
	air.rotates(s, "the rotation before")
	id, secret := s.publisher("نور", true)
	span := time.Duration(setting("ATHIR_LIVE_CPU_SECONDS", 180) * float64(time.Second))
	plain := s.load(span)
	end := s.icecastSource(id, secret, "/nour", freeTone)
	air.airs(s, "the encoder", freeTone)
	onLive := s.load(span)
	end()
	t.Logf("LIVE a core for %s: rotation %.1f %%, live %.1f %%, %+.1f %%, target +8 %% at most; race detector: %t",
		span, plain, onLive, onLive-plain, raced())
}

// load is what the station takes of a core, in per cent.
func (s *machine) load(span time.Duration) float64 {
	before, began := s.spent(), time.Now()
	time.Sleep(span)
	return float64(s.spent()-before) / time.Since(began).Seconds() // a tick is a hundredth of a second
}

// spent are the ticks of a processor that the station's processes had, children that ended
// included.
func (s *machine) spent() (ticks int) {
	for _, p := range s.tree() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		for _, i := range []int{11, 12, 13, 14} {
			if i < len(fields) {
				n, _ := strconv.Atoi(fields[i])
				ticks += n
			}
		}
	}
	return ticks
}

// A phone whose clock is 100 ppm fast is on the air for hours, on a machine that has time
// for it: what is in hand does not
// grow, nothing is left out, and neither process grows.
func TestSoakHoursOfLive(t *testing.T) {
	s := liveStation(t)
	id, secret := s.publisher("سارة", true)
	first := s.listen()
	p, err := s.dialAt(id+"."+secret, freeTone, packet*9999/10000)
	if err != nil {
		t.Fatal(err)
	}
	first.airs(s, "the phone", freeTone)
	first.stop()
	length := time.Duration(setting("ATHIR_LIVE_HOURS", 2) * float64(time.Hour))
	every := min(5*time.Minute, length/6)
	sizes := map[string][]int{}
	var inHand []int64
	for began := time.Now(); time.Since(began) < length; {
		time.Sleep(every)
		now, err := s.liveLevels()
		if err != nil || len(now.Sources) == 0 || now.Sources[0].State != "on air" {
			t.Errorf("after %s: %+v, %v", time.Since(began).Round(time.Second), now, err)
			break
		}
		inHand = append(inHand, now.Sources[0].BufferedMS)
		for _, name := range []string{"desk", "whip"} {
			if p, err := s.process(name); err == nil {
				sizes[name] = append(sizes[name], resident(p.PID))
			}
		}
		ear := s.listen()
		from := ear.PCM().Duration()
		s.eventually("ten seconds more", func() bool { return ear.PCM().Duration() > from+10*time.Second })
		report := aircheck.Fine.Analyse(ear.PCM())
		if gap := report.Gap.Length(); gap > 100*time.Millisecond || len(report.Segments) != 1 {
			t.Errorf("after %s:\n%s", time.Since(began).Round(time.Second), report)
		}
		ear.stop()
	}
	now, err := s.liveLevels()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("LIVE %s at +100 ppm: in hand %v ms; filled %d, dropped %d, shortened %d ms; desk %v MB, whip %v MB; target no drift beyond 200 ms, no leak",
		length, inHand, now.Counters.FilledMS, now.Counters.DroppedMS, now.Counters.TrimmedMS, sizes["desk"], sizes["whip"])
	if len(inHand) > 2 && slices.Max(inHand)-slices.Min(inHand) > 200 {
		t.Errorf("what is in hand drifts: %v ms", inHand)
	}
	for name, all := range sizes {
		if n := len(all); n > 3 && all[n-1] > all[n/3]*3/2+20 {
			t.Errorf("%s grows: %v MB", name, all)
		}
	}
	p.hangUp()
}

// liveLevels is live with what is measured.
func (s *station) liveLevels() (out struct {
	Sources []struct {
		State      string
		BufferedMS int64
	}
	Counters struct{ FilledMS, DroppedMS, TrimmedMS int64 }
}, err error,
) {
	body, err := s.getAs("control", "/api/station/live", testStationKey)
	if err == nil {
		err = json.Unmarshal(body, &out)
	}
	return out, err
}

// resident is the memory of a process in MB.
func resident(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() >> 20
}
