package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/oggreader"

	"github.com/athir-radio/athir/test/aircheck"
)

// phone is a presenter's telephone: a WHIP client (RFC 9725) that sends one tone.
type phone struct {
	t        *testing.T
	peer     *webrtc.PeerConnection
	resource string // address of its session
	token    string

	each time.Duration // between two packets, by our clock

	mu    sync.Mutex
	muted bool // nothing is sent
	stop  context.CancelFunc
	done  chan struct{}
}

// spoken are the packets of a tone in Opus, 20 ms each.
func spoken(t *testing.T, tone int, length time.Duration) (packets [][]byte) {
	t.Helper()
	ogg, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "lavfi",
		"-i", fmt.Sprintf("sine=%g:r=48000:d=%g,volume=2", aircheck.Fine.Frequency(tone), length.Seconds()),
		"-ac", "2", "-c:a", "libopus", "-b:a", "64k", "-frame_duration", "20", "-page_duration", "20000", "-f", "ogg", "pipe:1").Output()
	if err != nil {
		t.Fatal(err)
	}
	pages, _, err := oggreader.NewWith(bytes.NewReader(ogg))
	if err != nil {
		t.Fatal(err)
	}
	for {
		page, _, err := pages.ParseNextPage()
		if errors.Is(err, io.EOF) {
			return packets
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(page, []byte("OpusTags")) {
			packets = append(packets, page)
		}
	}
}

// packet is how much audio a packet holds.
const packet = 20 * time.Millisecond

// dialWHIP connects a phone that speaks a tone over and over; the error is the answer to
// its offer where that is not 201.
func (s *station) dialWHIP(token string, tone int) (*phone, error) {
	s.t.Helper()
	return s.dialAt(token, tone, packet)
}

// dialAt is dialWHIP for a phone whose clock sends a packet each so often.
func (s *station) dialAt(token string, tone int, each time.Duration) (_ *phone, err error) {
	s.t.Helper()
	p := &phone{t: s.t, token: token, each: each, done: make(chan struct{})}
	engine := webrtc.SettingEngine{}
	engine.SetIncludeLoopbackCandidate(true)
	if p.peer, err = webrtc.NewAPI(webrtc.WithSettingEngine(engine)).NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = p.peer.Close()
		}
	}()
	track, err := webrtc.NewTrackLocalStaticSample(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "audio", "phone")
	if err != nil {
		return nil, err
	}
	if _, err = p.peer.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionSendonly}); err != nil {
		return nil, err
	}
	offer, err := p.peer.CreateOffer(nil)
	if err != nil {
		return nil, err
	}
	gathered := webrtc.GatheringCompletePromise(p.peer)
	if err = p.peer.SetLocalDescription(offer); err != nil {
		return nil, err
	}
	<-gathered
	code, header, answer, err := p.ask(http.MethodPost, s.url("whip", "/whip"), "application/sdp", p.peer.LocalDescription().SDP)
	if err != nil {
		return nil, err
	}
	if code != http.StatusCreated {
		return nil, fmt.Errorf("POST /whip: %d: %s", code, answer)
	}
	base, err := url.Parse(s.url("whip", "/whip"))
	if err != nil {
		return nil, err
	}
	at, err := base.Parse(header.Get("Location"))
	if err != nil {
		return nil, err
	}
	p.resource = at.String()
	if err = p.peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		return nil, err
	}
	packets := spoken(s.t, tone, 4*time.Second)
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	go p.speak(ctx, track, packets)
	s.t.Cleanup(p.vanish)
	return p, nil
}

// phone is dialWHIP where it must succeed.
func (s *station) phone(token string, tone int) *phone {
	s.t.Helper()
	var p *phone
	s.eventually("a phone is let in", func() bool {
		var err error
		if p, err = s.dialWHIP(token, tone); err != nil {
			s.t.Log(err)
		}
		return err == nil
	})
	return p
}

func (p *phone) ask(method, address, kind, body string) (code int, header http.Header, text string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewBufferString(body))
	if err != nil {
		return 0, nil, "", err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, resp.Header, string(b), err
}

// speak sends a packet each 20 ms, as a phone's own clock does: one that was held up sends
// what is due.
func (p *phone) speak(ctx context.Context, track *webrtc.TrackLocalStaticSample, packets [][]byte) {
	defer close(p.done)
	began := time.Now()
	due := time.NewTimer(0)
	defer due.Stop()
	for n := 0; ; n++ {
		due.Reset(time.Until(began.Add(time.Duration(n) * p.each)))
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		}
		p.mu.Lock()
		muted := p.muted
		p.mu.Unlock()
		if !muted {
			_ = track.WriteSample(media.Sample{Data: packets[n%len(packets)], Duration: packet}) // not connected yet, or no more
		}
	}
}

// quiet has the phone send nothing, or go on.
func (p *phone) quiet(on bool) { p.mu.Lock(); p.muted = on; p.mu.Unlock() }

// told is what a presenter's page is told, as far as tests look at it.
type told struct {
	Session, State, TakenBy, Ended, Why string
	Allowed, Holds                      bool
}

// follow reads the facts of the session as its page does, and returns the last.
func (p *phone) follow() (last func() told) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.resource+"/facts", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	var mu sync.Mutex
	var said told
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "data: ")
			var now told
			if !ok || json.Unmarshal([]byte(text), &now) != nil {
				continue
			}
			mu.Lock()
			said = now
			mu.Unlock()
		}
	}()
	p.t.Cleanup(func() { cancel(); <-done })
	return func() told { mu.Lock(); defer mu.Unlock(); return said }
}

// hangUp ends the session as a presenter does.
func (p *phone) hangUp() {
	p.t.Helper()
	if code, _, text, err := p.ask(http.MethodDelete, p.resource, "", ""); err != nil || code != http.StatusOK {
		p.t.Errorf("DELETE of the session: %d %s %v", code, text, err)
	}
	p.vanish()
}

// vanish is a phone that is gone without a word. A second time it does nothing.
func (p *phone) vanish() {
	p.stop()
	<-p.done
	_ = p.peer.Close()
}
