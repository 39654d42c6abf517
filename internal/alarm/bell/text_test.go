package bell

import (
	"strings"
	"testing"
	"time"

	"github.com/athir-radio/athir/internal/alarm"
)

func cairo(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// A message says what, since when, why, what to do, what is over and what is still on, in
// the station's language and time.
func TestAMessageSaysWhatAnOperatorNeeds(t *testing.T) {
	zone := cairo(t)
	now := time.Date(2026, 11, 26, 21, 6, 0, 0, zone)
	facts := map[alarm.Kind]fact{
		alarm.Silence:     {On: true, Since: now.Add(-75 * time.Second), Times: 3, Cause: "below \n−50 dBFS"},
		alarm.DiskFull:    {Since: now.Add(-26 * time.Hour), Ended: now.Add(-time.Minute), Told: true},
		alarm.Certificate: {On: true, Told: true, Since: now.Add(-3 * time.Hour)},
		alarm.Bus:         {Since: now.Add(-time.Hour), Told: true},
	}
	for lang, want := range map[string]alarm.Message{
		"en": {Subject: "[أثير] Alarm: The station is silent", Text: `⚠ The station is silent
Since 21:04:45, for 75 seconds. It began 3 times since the last message.
Cause: below  −50 dBFS
What to do: The station skips to another track by itself. If it goes on, look what is on air in the studio.

✓ The disk has room again
It was: The disk is full: nothing can be written, from 2026-11-25 19:06:00 to 21:05:00, 26 hours.

✓ The station's parts reach each other again
It was: The station's parts cannot reach each other (bus), since 20:06:00; it ended while the station restarted.

Still on:
· The certificate expires soon: phones will not be able to go live, since 18:06:00

Studio: http://radio.example:5000/studio`},
		"ar": {Subject: "[أثير] إنذار: صمت على الهواء", Text: "⚠ صمت على الهواء\n" +
			"منذ 21:04:45، أي منذ 75 ثانية. حدث 3 مرات منذ آخر رسالة.\n" +
			"السبب: \u2068below  −50 dBFS\u2069\n" +
			"ما العمل: تنتقل المحطة تلقائيًا إلى مقطع آخر. إن استمر الصمت فانظر في الاستوديو ما الذي على الهواء.\n\n" +
			"✓ صار في القرص متسع من جديد\nكان: امتلأ القرص، ولا يمكن حفظ أي شيء، من 2026-11-25 19:06:00 إلى 21:05:00، أي 26 ساعة.\n\n" +
			"✓ عاد الاتصال بين أجزاء المحطة\nكان: انقطع الاتصال بين أجزاء المحطة (bus)، منذ 20:06:00، وانتهى أثناء إعادة تشغيل المحطة.\n\n" +
			"ما زال قائمًا:\n· شهادة الأمان تنتهي قريبًا، ولن تتمكن الهواتف بعدها من البث المباشر، منذ 18:06:00\n\n" +
			"الاستوديو: http://radio.example:5000/studio"},
	} {
		w := teller{"أثير", lang, "http://radio.example:5000/studio", zone}
		if got := w.message(facts, now, 0); got != want {
			t.Errorf("%s\ngot  %s\n%s\nwant %s\n%s", lang, got.Subject, got.Text, want.Subject, want.Text)
		}
	}
}

// However much is wrong, a message fits its receiver, and names every alarm as long as that
// is possible.
func TestAMessageFitsItsReceiver(t *testing.T) {
	now := time.Date(2026, 11, 26, 21, 6, 0, 0, time.UTC)
	all := map[alarm.Kind]fact{}
	for _, k := range alarm.Kinds() {
		all[k] = fact{On: true, Since: now.Add(-time.Hour), Times: 12, Cause: strings.Repeat("سبب طويل 🎙 ", 100)}
	}
	for _, lang := range []string{"ar", "en"} {
		w := teller{strings.Repeat("أثير", 40), lang, "http://radio.example/studio", time.UTC}
		for _, longest := range []int{4096, 2000, 700} {
			m := w.message(all, now, longest)
			if n := units(m.Subject) + 2 + units(m.Text); n > longest {
				t.Errorf("%s: %d units, the receiver takes %d", lang, n, longest)
			}
			for _, k := range alarm.Kinds() {
				if longest >= 2000 && !strings.Contains(m.Text, alarm.WordsFor(k, lang).On) {
					t.Errorf("%s: %d units do not name %s", lang, longest, k)
				}
			}
		}
	}
}

// Arabic counts in four ways.
func TestDurationsAreSaidAsPeopleSayThem(t *testing.T) {
	ar, en := teller{lang: "ar"}, teller{lang: "en"}
	for _, c := range []struct {
		d      time.Duration
		ar, en string
	}{
		{time.Second, "ثانية واحدة", "1 second"},
		{2 * time.Second, "ثانيتين", "2 seconds"},
		{9 * time.Second, "9 ثوانٍ", "9 seconds"},
		{89 * time.Second, "89 ثانية", "89 seconds"},
		{2 * time.Minute, "دقيقتين", "2 minutes"},
		{10 * time.Minute, "10 دقائق", "10 minutes"},
		{89 * time.Minute, "89 دقيقة", "89 minutes"},
		{2 * time.Hour, "ساعتين", "2 hours"},
		{47 * time.Hour, "47 ساعة", "47 hours"},
		{72 * time.Hour, "3 أيام", "3 days"},
		{103 * 24 * time.Hour, "103 أيام", "103 days"},
		{-time.Second, "0 ثانية", "0 seconds"},
	} {
		if ar.long(c.d) != c.ar || en.long(c.d) != c.en {
			t.Errorf("%s: %s, %s", c.d, ar.long(c.d), en.long(c.d))
		}
	}
}
