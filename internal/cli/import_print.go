package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/plan"
)

// stageName is what a part of an import is called.
func stageName(s apply.Stage, lang string) string {
	if lang != "ar" {
		return string(s)
	}
	switch s {
	case apply.Files:
		return "الملفات"
	case apply.Notes:
		return "البيانات"
	case apply.Playlists:
		return "قوائم التشغيل"
	case apply.People:
		return "المقدّمون"
	case apply.Webhooks:
		return "الإخطارات الآلية"
	}
	return string(s)
}

// steps tells how far an import is where no bar can be drawn: a line for each stage, and one for
// each hundred files.
type steps struct {
	quiet bool
	lang  string
	stage apply.Stage
	told  int
}

const stepEvery = 100

func (s *steps) show(p apply.Progress) {
	if s.quiet || p.Stage == s.stage && p.Done < s.told+stepEvery && p.Done < p.Total || p.Stage == s.stage && p.Done == s.told {
		return
	}
	s.stage, s.told = p.Stage, p.Done
	_, _ = fmt.Fprintf(os.Stderr, "%s: %d / %d\n", stageName(p.Stage, s.lang), p.Done, p.Total)
}

// mostNot is how many things that did not come over are printed of a stage.
const mostNot = 20

// printImported says what came over, what did not and why.
func printImported(out io.Writer, r apply.Report, studio, lang string) error {
	var err error
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, format+"\n", args...)
		}
	}
	say := func(en, ar string) string { return plan.Words{En: en, Ar: ar}.In(lang) }
	line(say("came over: %d files; %d were there already; titles, cues or crosses set for %d tracks", "الملفات المنقولة: %d، والموجودة من قبل: %d، والمقاطع التي أُضيفت بياناتها: %d"), r.Copied, r.There, r.Noted)
	line(say("playlists: %d made, with %d tracks", "قوائم التشغيل التي أُنشئت: %d، وعدد مقاطعها: %d"), r.Playlists, r.Items)
	for _, one := range r.Invited {
		until := time.UnixMilli(one.Until).Format("2006-01-02 15:04")
		line(say("%s (presenter) sets a password at this address, until %s:", "يختار %s (مقدّم) كلمة مروره من هذا الرابط، وهو صالح حتى %s:"), printable(one.Login), until)
		line("%s#/invited/%s", studio, one.Token)
	}
	for _, h := range r.Webhooks {
		line(say("webhook %s, with the secret %s", "الإخطار الآلي إلى %s، وسره %s"), printable(h.Address), h.Secret)
	}
	told := map[apply.Stage]int{}
	for _, n := range r.Not {
		if told[n.Stage]++; told[n.Stage] <= mostNot {
			line(say("did not come over: %s: %s: %s", "لم يُنقل: %s: %s: %s"), stageName(n.Stage, lang), printable(n.What), n.Why.In(lang))
		}
	}
	for _, stage := range []apply.Stage{apply.Files, apply.Notes, apply.Playlists, apply.People, apply.Webhooks} {
		if more := told[stage] - mostNot; more > 0 {
			line(say("did not come over: %s: %d more: --json names all", "لم يُنقل: %s: %d غيرها، والخيار ‎--json يعرضها كلها"), stageName(stage, lang), more)
		}
	}
	return err
}
