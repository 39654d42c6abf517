package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
)

// A node on another machine goes live: an encoder connects to the node, the control plane
// starts and stops it over the bus, a bus that is cut stops nobody, and what the node has
// recorded is fetched and deleted by way of the bus, whose answers are bounded. So is what
// the studio listens to before it is on the air. A phone comes to the node, and the bed of a
// show is pulled from the library.
func TestANodeOnAnotherMachineGoesLive(t *testing.T) {
	t.Parallel()
	s := newStation(t, withKeys)
	fill(t, s.media, []deck{{"music/arabic_hits", 0, 8, 20 * time.Second}, {"music/english", 8, 14, 20 * time.Second}})
	bed := placeBed(t, s.media)
	s.configure(programmeRules(40, []rotation.Daypart{}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the station:\n%s", s.tail(200))
		}
	})
	far := &machine{data: filepath.Join(t.TempDir(), "node")}
	t.Cleanup(far.forget)
	s.env = append(s.env, "SYNC_TOKEN=shared-by-both", "ATHIR_NODE_REMOTE=true", "ATHIR_NODE_HOST=127.0.0.1",
		"ATHIR_NODE_CACHE="+filepath.Join(far.data, "air"), fmt.Sprintf("ATHIR_BUS_CONTROL=127.0.0.1:%d", s.ports["control"]))
	bus := s.bus()
	control := s.part("control", binary, []string{"control", "--data", s.data, "--media", s.media})
	node := s.part("node", binary, []string{"node", "--data", far.data, "--media", filepath.Join(far.data, "none")})
	s.eventually("music from the node", func() bool {
		st, err := s.status()
		return err == nil && st.State == "music" && st.Track != nil
	})
	air := s.listen()
	air.rotates(s, "the rotation before")

	tone := freeTone
	id, secret := s.publisher("نور", false)
	end := s.icecastSource(id, secret, "/nour", tone)
	stream := s.streamOf("نور")
	start := func() {
		t.Helper()
		s.eventually("a start is taken over the bus", func() bool {
			code, _ := s.call(http.MethodPost, "control", "/api/station/live/start", testStationKey, `{"id":"`+stream+`"}`)
			return code == http.StatusOK
		})
		air.airs(s, "the encoder is heard", tone)
	}
	start()
	s.eventually("all are told", func() bool {
		st, err := s.status()
		now, failed := s.live()
		return err == nil && failed == nil && st.State == "live" && st.NowPlaying.Artist == "نور" && now.OnAir && now.Recording != nil
	})
	if code, text := s.liveOrder("stop", ""); code != http.StatusOK {
		t.Errorf("stop: %d %s", code, text)
	}
	air.rotates(s, "the rotation after stop")

	// The bus is cut: who is on the air stays there, and stop is carried out afterwards.
	start()
	from := air.Position(time.Now())
	bus.killed()
	s.eventually("ten seconds without a bus", func() bool { return air.PCM().Duration() > from+10*time.Second })
	s.only(air, from, tone)
	code, text := s.call(http.MethodPost, "control", "/api/station/live/stop", testStationKey, "")
	if code != http.StatusServiceUnavailable {
		t.Errorf("stop without a bus: %d %s", code, text)
	}
	bus.start()
	air.rotates(s, "stopped when the bus is there again")
	end()

	// The recordings: the second is longer than an answer of the bus.
	var list []sent
	s.eventually("two recordings, both ended", func() bool {
		var err error
		list, err = s.recordings()
		return err == nil && len(list) == 2 && !list[0].Running && !list[1].Running
	})
	for _, rec := range list {
		at := "/api/station/live/recordings/" + rec.Name
		audio, err := s.getAs("control", at, testStationKey)
		there, failed := os.ReadFile(filepath.Join(far.data, "recordings", rec.Name))
		if err != nil || failed != nil || !bytes.Equal(audio, there) || int64(len(audio)) != rec.Bytes {
			t.Errorf("recording %+v: %d bytes by the bus, %d on the node; %v, %v", rec, len(audio), len(there), err, failed)
		}
		heard := s.played(rec.Name)
		if len(heard.Segments) == 0 || heard.Segments[0].ID != tone {
			t.Errorf("recording %s holds\n%s", rec.Name, heard)
		}
		if len(there) > 2000 {
			code, part := s.piece(at, "bytes=1000-1999")
			if code != http.StatusPartialContent || !bytes.Equal(part, there[1000:2000]) {
				t.Errorf("a piece of recording %s: %d, %d bytes", rec.Name, code, len(part))
			}
		}
		if code, text := s.call(http.MethodDelete, "control", at, testStationKey, ""); code >= 300 {
			t.Errorf("delete: %d %s", code, text)
		}
	}
	list, err := s.recordings()
	left, _ := filepath.Glob(filepath.Join(far.data, "recordings", "*"))
	if err != nil || len(list) != 0 || strings.Contains(strings.Join(left, " "), ".mp3") {
		t.Errorf("after deletion %+v, %v, on the node %v", list, err, left)
	}
	s.showOf(air, far, bed, func() (string, func()) { return stream, s.icecastSource(id, secret, "/nour", tone) })
	air.stop()
	for _, p := range []*part{node, control} {
		p.signal(os.Interrupt)
	}
}

// piece asks for a part of a file.
func (s *station) piece(at, span string) (code int, body []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url("control", at), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-Station-Key", testStationKey)
	req.Header.Set("Range", span)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var out bytes.Buffer
	_, _ = out.ReadFrom(resp.Body)
	return resp.StatusCode, out.Bytes()
}
