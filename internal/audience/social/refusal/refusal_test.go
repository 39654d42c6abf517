package refusal_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/athir-radio/athir/internal/audience/social/refusal"
)

// full is a refusal with every parameter, so that every sentence is seen filled in.
func full(code refusal.Code) *refusal.Refusal {
	r := &refusal.Refusal{
		Code: code, Found: 31 * time.Second, Shortest: 45 * time.Second, Longest: 10 * time.Minute,
		Limit: 200 << 20, Share: 0.83, Of: "أنت عمري", Field: refusal.Title, Note: "note", At: time.Date(2026, 3, 1, 15, 4, 0, 0, time.UTC),
	}
	switch code {
	case refusal.NamesLong:
		r.Limit = 120
	case refusal.HourLimit, refusal.DayLimit, refusal.WaitingLimit:
		r.Limit = 6
	}
	return r
}

// The codes of the source, so that one that All lacks is found.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "refusal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Code" {
			value, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if other, twice := out[value]; twice {
				t.Errorf("%s and %s are both %q", other, v.Names[0].Name, value)
			}
			out[value] = v.Names[0].Name
		}
		return true
	})
	return out
}

func TestEveryCodeHasItsWordsInBothLanguages(t *testing.T) {
	all := refusal.All()
	source := constants(t)
	if len(source) < 40 {
		t.Fatalf("only %d codes were found in the source", len(source))
	}
	for code := range source {
		if !slices.Contains(all, refusal.Code(code)) {
			t.Errorf("All lacks %q", code)
		}
	}
	otherEn, otherAr := refusal.Words(refusal.New(refusal.Other))
	seen := map[string]refusal.Code{}
	for i, code := range all {
		if slices.Index(all, code) != i {
			t.Errorf("%s is listed twice", code)
		}
		for what, r := range map[string]*refusal.Refusal{"full": full(code), "bare": refusal.New(code)} {
			en, ar := refusal.Words(r)
			if code != refusal.Other && (en == otherEn || ar == otherAr) {
				t.Errorf("%s has no words of its own", code)
			}
			if what == "full" {
				for _, s := range []string{en, ar} {
					if other, twice := seen[s]; twice {
						t.Errorf("%s and %s say the same: %s", code, other, s)
					}
					seen[s] = code
				}
			}
			checkEnglish(t, code, strings.ReplaceAll(en, r.Of, ""))
			checkArabic(t, code, ar)
		}
	}
}

func checkEnglish(t *testing.T, code refusal.Code, s string) {
	t.Helper()
	if s == "" || !unicode.IsUpper([]rune(s)[0]) && !unicode.IsDigit([]rune(s)[0]) || !strings.HasSuffix(s, ".") ||
		strings.ContainsAny(s, "{}") || strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) {
		t.Errorf("%s in English: %q", code, s)
	}
}

func checkArabic(t *testing.T, code refusal.Code, s string) {
	t.Helper()
	latin := regexp.MustCompile(`[A-Za-z{},;?%]`)
	if !strings.HasSuffix(s, ".") || latin.MatchString(s) || !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Arabic, r) }) {
		t.Errorf("%s in Arabic: %q", code, s)
	}
}

func TestWordsCarryTheirParameters(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		r      refusal.Refusal
		en, ar string
	}{
		{refusal.Refusal{Code: refusal.TooShort, Found: 150 * time.Millisecond, Shortest: 200 * time.Millisecond},
			"It lasts 0.15 s. At least 0.2 s of sound", "مدته 0.15 ثانية. يجب ألا تقل مدة الصوت عن 0.2 ثانية"},
		{refusal.Refusal{Code: refusal.TooShort, Found: time.Second, Shortest: 2 * time.Second}, "It lasts 1 s. At least 2 s", "مدته ثانية واحدة. يجب ألا تقل مدة الصوت عن ثانيتين"},
		{refusal.Refusal{Code: refusal.TooLong, Found: 2 * time.Second, Longest: 5 * time.Second}, "At most 5 s", "مدته ثانيتان. يجب ألا تزيد مدة الصوت على 5 ثوانٍ"},
		{refusal.Refusal{Code: refusal.TooLong, Found: 751 * time.Second, Longest: 600 * time.Second}, "It lasts 12:31. At most 10 minutes", "مدته 12:31 دقيقة. يجب ألا تزيد مدة الصوت على 10 دقائق"},
		{refusal.Refusal{Code: refusal.TooLong, Longest: 60 * time.Second}, "At most 1 minute", "يجب ألا تزيد مدة الصوت على دقيقة واحدة"},
		{refusal.Refusal{Code: refusal.TooLong, Found: 59700 * time.Millisecond, Longest: 20 * time.Second}, "It lasts 1 minute. At most 20 s", "مدته دقيقة واحدة. يجب ألا تزيد مدة الصوت على 20 ثانية"},
		{refusal.Refusal{Code: refusal.TooLarge, Limit: 200 << 20}, "at most 200 MB", "الحد الأقصى 200 ميغابايت"},
		{refusal.Refusal{Code: refusal.Silent, Share: 0.999}, "99 % of this file is silence.", "99٪ من هذا الملف صمت."},
		{refusal.Refusal{Code: refusal.Silent}, "All of this file is silence.", "كل هذا الملف صمت."},
		{refusal.Refusal{Code: refusal.NamesLong, Field: refusal.Artist, Limit: 120}, "The artist's name may have at most 120 characters.", "اسم الفنان. الحد الأقصى 120 حرفًا."},
		{refusal.Refusal{Code: refusal.NamesLong, Field: refusal.Tags, Limit: 10}, "The tags may have at most 10", "الحد الأقصى 10 أحرف."},
		{refusal.Refusal{Code: refusal.Duplicate, Of: "{size}"}, "We have this already “{size}”.", "«{size}»"},
		{refusal.Refusal{Code: refusal.Duplicate}, "We have this already.", "هذا الصوت موجود لدينا بالفعل."},
		{refusal.Refusal{Code: refusal.HourLimit, Limit: 1}, "at most 1 post an hour.", "الحد الأقصى مشاركة واحدة في الساعة."},
		{refusal.Refusal{Code: refusal.HourLimit, Limit: 6, Now: noon, At: noon.Add(90 * time.Second)}, "6 posts an hour. The next one can be sent from 12:02.", "6 مشاركات في الساعة. يمكنك إرسال التالية ابتداءً من الساعة 12:02."},
		{refusal.Refusal{Code: refusal.DayLimit, Limit: 20, Now: noon, At: noon.Add(14 * time.Hour)}, "20 posts a day. The next one can be sent tomorrow from 02:00.", "20 مشاركة في اليوم. يمكنك إرسال التالية غدًا ابتداءً من الساعة 02:00."},
		{refusal.Refusal{Code: refusal.WaitingLimit, Limit: 2}, "You already have 2 posts waiting", "لديك مشاركتان بانتظار المراجعة."},
		{refusal.Refusal{Code: "of a later version"}, "A moderator decided against it.", "قرر المشرف عدم قبوله."},
	} {
		en, ar := refusal.Words(&c.r)
		if !strings.Contains(en, c.en) || !strings.Contains(ar, c.ar) {
			t.Errorf("%+v:\n%s\n%s", c.r, en, ar)
		}
	}
}

func TestModeratorsChooseAmongTheirOwnReasons(t *testing.T) {
	for _, code := range refusal.Moderator() {
		if !slices.Contains(refusal.All(), code) {
			t.Errorf("%s is not listed", code)
		}
	}
	if got := refusal.Moderator(); len(got) != 7 || got[0] != refusal.Quality || got[6] != refusal.Other {
		t.Errorf("%v: their numbers are what moderators' fingers have learnt", got)
	}
}

func TestTheErrorSaysItsNote(t *testing.T) {
	var err error = &refusal.Refusal{Code: refusal.Empty, Note: "0 bytes"}
	if err.Error() != "There is nothing in this file. (0 bytes)" {
		t.Error(err)
	}
}

// A caller that asks for the kind, for the limit or for the reason finds it, and the text
// is the reason's alone.
func TestARefusalIsOfTheKindsItWasGiven(t *testing.T) {
	full, wait := errors.New("no more places"), &waiting{}
	err := fmt.Errorf("%w", refusal.New(refusal.QueueFull).Kind(full, wait))
	var no *refusal.Refusal
	var limit *waiting
	if !errors.Is(err, full) || !errors.As(err, &limit) || !errors.As(err, &no) || no.Code != refusal.QueueFull {
		t.Errorf("%#v", err)
	}
	if en, _ := refusal.Words(no); err.Error() != en {
		t.Error(err)
	}
}

type waiting struct{}

func (*waiting) Error() string { return "wait" }
