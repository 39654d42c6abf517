package intake

import (
	"fmt"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/station"
)

// Code is a reason for which a file is not taken, or not yet, for programs.
type Code string

// The codes.
const (
	KindOfFile  Code = "kind_of_file" // by its name
	NotAudio    Code = "not_audio"
	Damaged     Code = "damaged"
	Empty       Code = "empty"
	TooLarge    Code = "too_large" // Limit
	OddRate     Code = "odd_rate"
	TooShort    Code = "too_short"
	TooLong     Code = "too_long" // Found, Category
	Unreadable  Code = "unreadable"
	Gone        Code = "gone" // its file
	NoCategory  Code = "no_category"
	NoRoom      Code = "no_room"
	TooFast     Code = "too_fast"
	TooMany     Code = "too_many"
	AwayMedia   Code = "media_missing"
	NameTaken   Code = "name_taken"
	ReplaceGone Code = "replace_gone"
	OnAir       Code = "on_air" // what it replaces
	NotReplaced Code = "not_replaced"
	NotBack     Code = "not_back" // what it could not replace, and is in the archive
	Linked      Code = "linked"
	Outlived    Code = "outlived" // an undo
	OurFault    Code = "our_fault"
)

// Codes lists all, in the order of the table of their words.
func Codes() []Code {
	return []Code{
		KindOfFile, NotAudio, Damaged, Empty, TooLarge, OddRate, TooShort, TooLong, Unreadable, Gone, NoCategory,
		NoRoom, TooFast, TooMany, AwayMedia, NameTaken, ReplaceGone, OnAir, NotReplaced, NotBack, Linked, Outlived, OurFault,
	}
}

// Refusal is a reason with what its words need.
type Refusal struct {
	Code     Code             `json:"code"`
	Limit    int64            `json:"limit,omitempty"` // bytes
	Found    time.Duration    `json:"found,omitempty"`
	Category station.Category `json:"category,omitempty"`
	Note     string           `json:"note,omitempty"` // what a program said, in English
}

// Words are one sentence in both languages.
type Words struct{ En, Ar string }

// Words say a refusal.
func (r *Refusal) Words() Words {
	w := sentence(r.Code)
	switch r.Code {
	case TooLarge:
		limit := strconv.FormatInt(r.Limit>>20, 10)
		w.En += " At most " + limit + " MB are allowed."
		w.Ar += " الحد الأقصى " + limit + " ميغابايت."
	case TooLong:
		found := clock(r.Found)
		w.En += fmt.Sprintf(" It lasts %s, more than a file of %s may.", found, r.Category)
		w.Ar += " مدته " + found + "."
	}
	if r.Note != "" {
		w.En += " (" + r.Note + ")"
	}
	return w
}

// clock is a length for people: 4:07 or 1:04:07.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// sentence is what a code says without parameters.
func sentence(code Code) Words {
	words, known := map[Code]Words{
		KindOfFile:  {"Only MP3, Ogg, Opus, FLAC, M4A and WAV files can air.", "لا يُبث هذا النوع من الملفات: المقبول MP3 وOgg وOpus وFLAC وM4A وWAV."},
		NotAudio:    {"There is no sound in this file that can be played.", "لا يوجد في هذا الملف صوت يمكن تشغيله."},
		Damaged:     {"This file is damaged or not whole. Send it again.", "هذا الملف تالف أو غير مكتمل. أرسله مرة أخرى."},
		Empty:       {"There is nothing in this file.", "هذا الملف فارغ."},
		TooLarge:    {"This file is too large.", "حجم هذا الملف كبير جدًا."},
		OddRate:     {"Its sample rate is one that nothing plays. Convert it to 44.1 or 48 kHz.", "لا يمكن تشغيل هذا الملف بمعدل عيّناته. حوّله إلى 44.1 أو 48 كيلوهرتز."},
		TooShort:    {"It is too short to be heard.", "هذا الملف أقصر من أن يُسمع."},
		TooLong:     {"It is too long for its category.", "هذا الملف أطول من المسموح في تصنيفه."},
		Unreadable:  {"The station's disk could not read this file. Look at the disk, then try again.", "تعذّرت قراءة هذا الملف من قرص المحطة. افحص القرص ثم أعد المحاولة."},
		Gone:        {"The file is no longer among the uploads. Send it again.", "لم يعد الملف موجودًا بين الملفات المرفوعة. أرسله مرة أخرى."},
		NoCategory:  {"There is no such category.", "لا يوجد تصنيف بهذا الاسم."},
		NoRoom:      {"The station's disk is nearly full. Free some space or archive files, then it goes on.", "قرص المحطة ممتلئ تقريبًا. أفرِغ بعض المساحة أو أرشِف بعض الملفات، وستُستكمل العملية تلقائيًا."},
		TooFast:     {"Many uploads were begun in a short time. Please wait a moment.", "بدأ رفع ملفات كثيرة في وقت قصير. انتظر لحظة من فضلك."},
		TooMany:     {"Too many uploads are unfinished or wait for an answer. Answer or discard some first.", "ملفات كثيرة لم تكتمل أو تنتظر قرارك. أضف بعضها أو استبعده أولًا."},
		AwayMedia:   {"The media folder is missing. Mount its disk or create it, then it goes on.", "مجلد الوسائط غير موجود. صِل قرصه أو أنشئه، وستُستكمل العملية تلقائيًا."},
		NameTaken:   {"Too many files of this category have this name. Give it another title.", "ملفات كثيرة في هذا التصنيف تحمل هذا الاسم. اختر عنوانًا آخر."},
		ReplaceGone: {"The track that it was to replace is not in the library. Choose another, or none.", "المقطع الذي كان سيحل محله غير موجود في المكتبة. اختر غيره، أو أضف الملف دون استبدال."},
		OnAir:       {"The track is on the air or about to be. It is done right afterwards.", "المقطع على الهواء أو على وشك البث. سيُنفَّذ ذلك بعد انتهائه مباشرة."},
		Linked:      {"The track's file is a link, or lies behind one, and cannot leave its folder. Change it where it lies.", "ملف المقطع رابط أو يقع خلف رابط، ولا يمكن نقله من مجلده. غيّره في مكانه."},
		Outlived:    {"Another file has been put in its place since. Take that one back first.", "حلّ محله ملف آخر بعد ذلك. تراجع عن ذلك الملف أولًا."},
		NotReplaced: {"The track could not be replaced and is where it was. Try again.", "تعذّر استبدال المقطع وبقي في مكانه. أعد المحاولة."},
		NotBack:     {"The track could not be replaced and is in the archive for now. The station goes on trying to put a file in its place.", "تعذّر استبدال المقطع، وهو الآن في الأرشيف. تواصل المحطة محاولة وضع ملف مكانه."},
	}[code]
	if !known {
		return Words{"Something went wrong on the station's side. Try again.", "حدث خطأ في المحطة. أعد المحاولة."}
	}
	return words
}

// Error is the reason in English.
func (r *Refusal) Error() string { return r.Words().En }

// Spoken returns what an answer says of the reason: at is always zero.
func (r *Refusal) Spoken() (code, en, ar string, at time.Time) {
	w := r.Words()
	return string(r.Code), w.En, w.Ar, time.Time{}
}

// Unwrap is the kind of error, by which a status is chosen.
func (r *Refusal) Unwrap() error {
	switch r.Code {
	case NoRoom, TooMany:
		return station.ErrFull
	case AwayMedia, Unreadable:
		return station.ErrUnavailable
	case TooLarge:
		return station.ErrTooLarge
	case OnAir, NameTaken, NotReplaced, NotBack, Linked, Outlived, Gone:
		return station.ErrConflict
	case OurFault:
		return nil
	}
	return station.ErrInvalid
}

func refuse(code Code) *Refusal { return &Refusal{Code: code} }
