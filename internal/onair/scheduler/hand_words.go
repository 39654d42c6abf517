package scheduler

import (
	"fmt"
	"time"

	"github.com/athir-radio/athir/internal/onair/rotation"
	"github.com/athir-radio/athir/internal/station"
)

// unable is why a change by hand cannot be made, in the words of both languages.
type unable struct {
	code, en, ar string
	kind         error
}

func (u *unable) Error() string { return u.en }
func (u *unable) Unwrap() error { return u.kind }

// Spoken are its words.
func (u *unable) Spoken() (code, en, ar string, at time.Time) { return u.code, u.en, u.ar, at }

func unplanned() error {
	return &unable{"no_queue", "there is no rotation yet", "لا توجد قائمة بث بعد", station.ErrConflict}
}

func changed() error {
	return &unable{"queue_changed", "the queue has changed since: look again", "تغيّرت قائمة البث في هذه الأثناء. راجعها ثم أعد المحاولة", station.ErrConflict}
}

func heardAlready(position int) error {
	return &unable{"heard", fmt.Sprintf("position %d was heard already", position), "سبق بث هذا المقطع", station.ErrNotFound}
}

func openedAlready(position int) error {
	return &unable{
		"opened", fmt.Sprintf("position %d can be changed no more, the playout engine has opened it", position),
		"لم يعد تغيير هذا المقطع ممكنًا، فهو على وشك البث", station.ErrConflict,
	}
}

func noPosition(position int) error {
	return &unable{"no_position", fmt.Sprintf("the queue has no position %d", position), "لا يوجد هذا الموضع في قائمة البث", station.ErrNotFound}
}

func noTrack(path string) error {
	return &unable{"no_track", fmt.Sprintf("no track %q in the library", path), "هذا المقطع غير موجود في المكتبة", station.ErrNotFound}
}

func notHeld() error {
	return &unable{"not_held", "nothing is held there", "لا شيء مثبّت هناك", station.ErrConflict}
}

func tooManyHeld(n int) error {
	return &unable{
		"too_many_held",
		fmt.Sprintf("at most %d entries can be held, this would hold %d: release some, or choose a place further ahead", rotation.MostHeld, n),
		fmt.Sprintf("يمكن تثبيت %d مقطعًا على الأكثر. ألغِ تثبيت بعضها، أو اختر موضعًا أقرب", rotation.MostHeld), station.ErrConflict,
	}
}

func wrongTime(op Op, path, detail string) error {
	return &unable{
		"bulletin_time", fmt.Sprintf("%s %s: %s: make a new bulletin", op, path, detail),
		"ستذكر النشرة وقتًا خاطئًا في هذا الموضع. أعِدّ نشرة جديدة", station.ErrConflict,
	}
}

func noMedia(order, wanted string) error {
	return &unable{
		"no_media", fmt.Sprintf("%s %s: its media files are missing", order, wanted),
		"ملف هذا المقطع غير موجود على قرص الوسائط", station.ErrConflict,
	}
}

func forgotten(id string) error {
	return &unable{
		"no_change", fmt.Sprintf("change %q of the queue: only the last %d since the start can be taken back", id, deedsKept),
		fmt.Sprintf("لم يعد التراجع عن هذا التعديل ممكنًا: يمكن التراجع عن آخر %d تعديلًا منذ تشغيل المحطة", deedsKept), station.ErrNotFound,
	}
}
