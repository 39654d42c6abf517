package people

import (
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Refusal is why an order of people, or a login, is refused, in words of both languages.
type Refusal struct {
	Code   string // for programs
	en, ar string
	kind   error
}

// NewRefusal is one of a kind of package station.
func NewRefusal(code, en, ar string, kind error) error { return &Refusal{code, en, ar, kind} }

func tooMany(most int, en, ar string) error {
	return NewRefusal("too_many", fmt.Sprintf("there are already %d %s: remove one first", most, en), fmt.Sprintf("بلغ العدد %d %s، احذف واحدًا أولًا", most, ar), station.ErrConflict)
}

func (r *Refusal) Error() string { return r.en }
func (r *Refusal) Unwrap() error { return r.kind }

// Spoken are the words.
func (r *Refusal) Spoken() (code, en, ar string, at time.Time) {
	return r.Code, r.en, r.ar, time.Time{}
}

var (
	// ErrWrong means that login and password, or the second factor, do not belong together.
	ErrWrong error = &Refusal{"wrong", "login, password or code is wrong", "اسم المستخدم أو كلمة المرور أو الرمز غير صحيح", station.ErrUnauthentic}
	// ErrSecondFactor means that the password is right, and a code is missing.
	ErrSecondFactor error = &Refusal{"second_factor", "send the code of your authenticator app, or a recovery code", "أدخل رمز تطبيق المصادقة أو أحد رموز الاسترداد", station.ErrUnauthentic}
	// ErrCeremony means that a browser took too long over a passkey, or answered twice.
	ErrCeremony error = &Refusal{"too_late", "this took too long, or was sent twice: try again", "استغرق الأمر وقتًا أطول من اللازم أو أُرسل مرتين، حاول من جديد", station.ErrConflict}
)

// Lacks refuses who is known and has not the right that an order needs. It is a
// station.ErrForbidden.
func Lacks(want Right) error {
	en, ar := "", ""
	for i, role := range Roles() {
		if !role.Rights().Has(want) {
			continue
		}
		oneEn, oneAr := role.Words()
		if i > 0 {
			en, ar = en+" or ", ar+" أو "
		}
		en, ar = en+oneEn, ar+oneAr
	}
	return &Refusal{"right", "this is for the role " + en + ": an owner can give it to you", "هذا متاح لدور " + ar + "، ويمكن للمالك أن يمنحك إياه", station.ErrForbidden}
}
