package whip_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/testkit"
	"github.com/athir-radio/athir/internal/live/whip"
)

// browserPage is a WHIP client by fetch, told by the test what to do next. Its microphone
// is an oscillator.
const browserPage = `<!doctype html><title>browser</title><script>
const key = {authorization: 'Bearer sara.secret'};
const tell = (step, more) => fetch('/report', {method: 'POST', body: JSON.stringify({step, ...more})});
const step = async (want) => { for (;;) { if (await (await fetch('/step')).text() === want) return; await new Promise((r) => setTimeout(r, 50)); } };
const all = (sdp, name) => [...sdp.matchAll(new RegExp('^a=' + name + ':([^\\r\\n]*)', 'gm'))].map((m) => m[1]);
const fragment = (sdp) => 'a=ice-ufrag:' + all(sdp, 'ice-ufrag')[0] + '\r\na=ice-pwd:' + all(sdp, 'ice-pwd')[0] + '\r\n' + /^m=audio[^\r\n]*/m.exec(sdp)[0] + '\r\na=mid:' + all(sdp, 'mid')[0] + '\r\n'
  + all(sdp, 'candidate').map((c) => 'a=candidate:' + c + '\r\n').join('');
const until = async (ok) => { while (!ok()) await new Promise((r) => setTimeout(r, 20)); };
(async () => {
  await navigator.mediaDevices.getUserMedia({audio: true});
  const audio = new AudioContext({sampleRate: 48000});
  const tone = new OscillatorNode(audio, {frequency: 440}), gain = new GainNode(audio, {gain: 0.2}), out = audio.createMediaStreamDestination();
  tone.connect(gain).connect(out); tone.start();
  const pc = new RTCPeerConnection({bundlePolicy: 'max-bundle'});
  const transceiver = pc.addTransceiver(out.stream.getAudioTracks()[0], {direction: 'sendonly', streams: [out.stream]});
  const {codecs} = RTCRtpReceiver.getCapabilities('audio'), isRED = (c) => c.mimeType === 'audio/red';
  if (location.search === '?red') transceiver.setCodecPreferences([...codecs.filter(isRED), ...codecs.filter((c) => !isRED(c))]);
  const offer = async (o) => {
    const d = await pc.createOffer(o);
    d.sdp = d.sdp.replace(/^(a=rtpmap:111 .*\r\n)/m, '$1a=rtcp-fb:111 nack\r\n');
    await pc.setLocalDescription(d);
    await until(() => pc.iceGatheringState === 'complete');
    return pc.localDescription.sdp;
  };
  const first = await fetch('/whip?title=Browser', {method: 'POST', headers: {...key, 'content-type': 'application/sdp'}, body: await offer()});
  const answer = await first.text();
  await tell('answered', {status: first.status, text: answer});
  await pc.setRemoteDescription({type: 'answer', sdp: answer});
  const url = first.headers.get('location');
  let etag = first.headers.get('etag');
  await until(() => pc.connectionState === 'connected');
  const events = [];
  const source = new EventSource(url + '/facts');
  source.onmessage = (e) => events.push(JSON.parse(e.data));
  await tell('connected', {status: 200});
  await step('trickle');
  const trickled = await fetch(url, {method: 'PATCH', headers: {...key, 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': etag}, body: fragment(pc.localDescription.sdp)});
  await tell('trickled', {status: trickled.status});
  await step('restart');
  const patched = await fetch(url, {method: 'PATCH', headers: {...key, 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*'}, body: fragment(await offer({iceRestart: true}))});
  const body = await patched.text();
  etag = patched.headers.get('etag');
  await pc.setRemoteDescription({type: 'answer', sdp: answer.replace(/^a=ice-ufrag:.*$/gm, 'a=ice-ufrag:' + all(body, 'ice-ufrag')[0]).replace(/^a=ice-pwd:.*$/gm, 'a=ice-pwd:' + all(body, 'ice-pwd')[0])});
  await until(() => pc.connectionState === 'connected' && pc.iceConnectionState !== 'checking');
  await tell('restarted', {status: patched.status, text: pc.connectionState});
  await step('measure');
  const stats = [...(await pc.getStats()).values()];
  await tell('measured', {status: 200, text: JSON.stringify({
    sent: stats.find((s) => s.type === 'outbound-rtp'), far: stats.find((s) => s.type === 'remote-inbound-rtp'), pair: stats.find((s) => s.type === 'candidate-pair' && s.nominated)})});
  await step('mute');
  const muted = await fetch(url + '/state', {method: 'POST', headers: {...key, 'content-type': 'application/json'}, body: '{"muted":true}'});
  await tell('muted', {status: muted.status});
  await step('end');
  await until(() => events.length > 0);
  source.close();
  const ended = await fetch(url, {method: 'DELETE', headers: key});
  await tell('ended', {status: ended.status, text: JSON.stringify(events[0])});
})().catch((e) => tell('failed', {status: 0, text: String(e && e.stack || e)}));
</script>`

type browserReport struct {
	Step   string `json:"step"`
	Status int    `json:"status"`
	Text   string `json:"text"`
}

// script is the other side of browserPage.
type script struct {
	mu      sync.Mutex
	step    string
	reports chan browserReport
}

func (s *script) next(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = step
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/report":
		var one browserReport
		_ = json.NewDecoder(r.Body).Decode(&one)
		s.reports <- one
	case "/step":
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = w.Write([]byte(s.step))
	case "/go-live":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(browserPage))
	default:
		http.NotFound(w, r)
	}
}

// open starts Debian's Chromium with the page.
func (s *script) open(t testing.TB, url string) {
	t.Helper()
	testkit.Program(t, proc.Spec{Name: "chromium", Path: cmp.Or(os.Getenv("CHROMIUM"), "chromium"), Args: []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
		"--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required",
		"--allow-loopback-in-peer-connection", "--user-data-dir=" + t.TempDir(), "--remote-debugging-port=0", url,
	}})
}

func (s *script) hears(t testing.TB, step string, status int) browserReport {
	t.Helper()
	one := testkit.Receive(t, "the browser's "+step, s.reports)
	if one.Step != step || one.Status != status {
		t.Fatalf("the browser says %+v, and should be %s with %d", one, step, status)
	}
	return one
}

// A browser publishes, trickles, restarts ICE, mutes and ends: the second client beside
// pion's, of another maker.
func TestABrowserPublishesByRFC9725(t *testing.T) {
	s := &script{reports: make(chan browserReport, 16)}
	h := open(t, func(o *whip.Options) { o.Pages = s }).hearing()
	s.open(t, h.public.URL+"/go-live")
	s.hears(t, "answered", 201)
	s.hears(t, "connected", 200)
	h.ear.hears(0)
	s.next("trickle")
	s.hears(t, "trickled", 204)
	s.next("restart")
	if one := s.hears(t, "restarted", 200); one.Text != "connected" {
		t.Errorf("after the restart it is %s", one.Text)
	}
	h.ear.hears(0)
	s.next("measure")
	t.Log(s.hears(t, "measured", 200).Text)
	s.next("mute")
	s.hears(t, "muted", 204)
	for _, want := range []bool{false, true} {
		if got := testkit.Receive(t, "a note for the desk", h.mutes); got != want {
			t.Errorf("the desk was told %v", got)
		}
	}
	s.next("end")
	t.Log(s.hears(t, "ended", 200).Text)
	testkit.Eventually(t, "its end is told", func() bool { return h.control.told("left sara: ended by the publisher") == 1 })
	t.Logf("%+v", h.sessions())
}
