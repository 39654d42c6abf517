package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/model"
	"github.com/athir-radio/athir/internal/import/origin"
	"github.com/athir-radio/athir/internal/import/plan"
	"github.com/athir-radio/athir/internal/kit/fetch"
	"github.com/athir-radio/athir/internal/kit/file"
	"github.com/athir-radio/athir/internal/station"
)

// Failure is why an import does not go on, in words of both languages.
type Failure struct {
	Code   string // for programs
	En, Ar string
	kind   error
	cause  error // nil: none
}

func (f *Failure) Error() string { return f.En }

// Unwrap returns its kind, and what led to it.
func (f *Failure) Unwrap() []error {
	if f.cause == nil {
		return []error{f.kind}
	}
	return []error{f.kind, f.cause}
}

// Spoken are its words.
func (f *Failure) Spoken() (code, en, ar string, at time.Time) {
	return f.Code, f.En, f.Ar, time.Time{}
}

// failed puts an error of planning or applying into words. Of work that was ended it says that
// alone: the error may name a file where it lies.
func (w *work) failed(ctx context.Context, err error) error {
	var done *Failure
	var field *station.FieldError
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil || errors.As(err, &done) || errors.As(err, &field) {
		return err
	}
	var busy *apply.BusyError
	var refused *apply.Refused
	var unread *origin.ReadError
	switch {
	case file.Full(err):
		return &Failure{"no-room", "The station's disk is full: free some space and import again: the import goes on where it stopped.", "قرص المحطة ممتلئ. أفرِغ بعض المساحة ثم أعد الاستيراد، فيُستكمل من حيث توقف.", station.ErrFull, nil}
	case errors.As(err, &busy):
		return &Failure{"busy", "The same source is being imported already: wait for that.", "يجري استيراد المصدر نفسه الآن. انتظر حتى ينتهي.", station.ErrConflict, err}
	case errors.As(err, &unread):
		return w.unread(unread.Err)
	case errors.As(err, &refused):
		words := plan.Words{En: "The station refused: " + refused.Text, Ar: "رفضت المحطة الطلب: " + refused.Text}
		if refused.Words != nil {
			words = *refused.Words
		}
		return &Failure{"refused", words.En, words.Ar, station.ErrConflict, err}
	}
	return &Failure{"stopped", "The import stopped: " + w.plain(err.Error()), "توقف الاستيراد: " + w.plain(err.Error()), station.ErrUnavailable, err}
}

// unread says what is wrong with a source.
func (w *work) unread(err error) error {
	fail := func(code, en, ar string) error { return &Failure{code, en, ar, station.ErrInvalid, err} }
	system := w.order.system()
	var which *model.WhichError
	var blocked *fetch.BlockedError
	var answer *fetch.StatusError
	var content *fetch.ContentError
	var large *fetch.TooLargeError
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &which) && which.Asked == "":
		return fail("station", "There are several stations in it: choose one.", "فيه أكثر من محطة. اختر واحدة منها.")
	case errors.As(err, &which):
		return fail("station", fmt.Sprintf("There is no station %q in it: choose one of its stations.", which.Asked), fmt.Sprintf("لا توجد فيه محطة باسم «%s». اختر واحدة من محطاته.", which.Asked))
	case w.order.Address == "":
		return fail("file", w.plain(err.Error()), fmt.Sprintf("تعذّرت قراءة «%s»: ليس نسخة احتياطية من %s، أو أنه غير مكتمل. تأكد من الملف وارفعه من جديد.", w.file.Name, system))
	case errors.As(err, &blocked):
		return fail("blocked", w.plain(err.Error()), "هذا العنوان في شبكة خاصة أو على منفذ غير مسموح به. إن كان النظام لك فأضف شبكته إلى content.networks في إعدادات المحطة.")
	case errors.As(err, &answer) && answer.Unopened():
		return fail("moved", fmt.Sprintf("The address leads to %s, where no key is sent: give that address.", answer.Origin), fmt.Sprintf("هذا العنوان يحوّل إلى %s، ولا يُرسل المفتاح إليه. اكتب ذلك العنوان.", answer.Origin))
	case errors.As(err, &answer) && (answer.Code == http.StatusUnauthorized || answer.Code == http.StatusForbidden):
		return w.denied(err)
	case errors.As(err, &answer) && answer.Lasting(), errors.As(err, &content), errors.As(err, &large), errors.As(err, &syntax), errors.As(err, &typed):
		return fail("answer", w.plain(err.Error()), fmt.Sprintf("لا يبدو أن في هذا العنوان نظام %s. تأكد من العنوان.", system))
	}
	return &Failure{"unreachable", "The other system cannot be reached: " + w.plain(err.Error()), "تعذّر الوصول إلى النظام الآخر. تأكد من العنوان وأن النظام يعمل ثم أعد المحاولة.", station.ErrUnavailable, err}
}

// denied says that the other system does not take what should open it.
func (w *work) denied(err error) error {
	fail := func(en, ar string) error { return &Failure{"key", en, ar, station.ErrInvalid, err} }
	switch {
	case w.order.System == LibreTime && w.order.Key == "" && w.order.User != "":
		return fail("LibreTime does not take this login, which must be an administrator's.", "لا يقبل LibreTime بيانات الدخول هذه، ويجب أن تكون لمدير.")
	case w.order.System == LibreTime:
		return fail("LibreTime does not take this key: it is api_key under general in its config.yml.", "لا يقبل LibreTime هذا المفتاح. تجده باسم api_key في قسم general من ملف config.yml لديه.")
	}
	return fail("AzuraCast does not take this API key: make one there under My Account, API Keys.", "لا يقبل AzuraCast مفتاح API هذا. أنشئ مفتاحًا هناك في صفحة My Account ضمن API Keys.")
}

// plain is a text without what only the command line or this machine has a name for: flags, and
// where files lie. A secret that a text repeats is taken out.
func (w *work) plain(text string) string {
	text = strings.NewReplacer(
		"--station: ", "", "--api-key-file: ", "", "--user, --password-file: ", "",
		"name the media folder with --media", "make the backup with its media, or import on the machine itself with athir import",
		"حدّد مجلد الوسائط بالخيار ‎--media", "أنشئ النسخة الاحتياطية مع وسائطها، أو استورد على الجهاز نفسه بالأمر athir import",
	).Replace(text)
	if w.path != "" {
		text = strings.ReplaceAll(text, w.path, w.file.Name)
	}
	text = strings.ReplaceAll(text, w.desk.opt.Dir, "imports")
	for _, secret := range []string{w.order.Key, w.order.Password, w.api.Key} {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// shortest is a secret that is looked for in texts: what is shorter stands in any.
const shortest = 4
