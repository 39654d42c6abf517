package refusal

import (
	"fmt"
	"strings"
	"time"
)

// Words says a reason to the person who sent the file, in English and in Arabic. A code
// that is not of All gets the words of Other. The note is not among them: it is in the
// language of who wrote it.
func Words(r *Refusal) (en, ar string) {
	w, ok := words()[r.Code]
	if !ok {
		w = words()[Other]
	}
	return fill(w.en, r.english()), fill(w.ar, r.arabic())
}

// fill puts parameters, in pairs of name and value, into a sentence. One pass: a title that
// holds a parameter's name stays as it is.
func fill(sentence string, parameters []string) string {
	return strings.NewReplacer(parameters...).Replace(sentence)
}

func (r *Refusal) english() []string {
	found := "It lasts " + englishTime(r.Found) + ". "
	if r.Found <= 0 {
		found = ""
	}
	return []string{
		"{found}", found, "{shortest}", englishTime(r.Shortest), "{longest}", englishTime(r.Longest),
		"{size}", megabytes(r.Limit) + " MB", "{letters}", number(r.Limit), "{share}", englishShare(r.Share),
		"{of}", quoted(r.Of, " “", "”"), "{field}", englishField(r.Field),
		"{count}", englishPosts(r.Limit), "{again}", r.again(" The next one can be sent from %s.", " The next one can be sent tomorrow from %s."),
	}
}

func (r *Refusal) arabic() []string {
	found := "مدته " + arabicTime(r.Found, false) + ". "
	if r.Found <= 0 {
		found = ""
	}
	return []string{
		"{found}", found, "{shortest}", arabicTime(r.Shortest, true), "{longest}", arabicTime(r.Longest, true),
		"{size}", megabytes(r.Limit) + " ميغابايت", "{letters}", arabicLetters(r.Limit), "{share}", arabicShare(r.Share),
		"{of}", quoted(r.Of, " «", "»"), "{field}", arabicField(r.Field),
		"{count}", arabicPosts(r.Limit), "{again}", r.again(" يمكنك إرسال التالية ابتداءً من الساعة %s.", " يمكنك إرسال التالية غدًا ابتداءً من الساعة %s."),
	}
}

// again says from when it may be sent again; nothing where that is not known.
func (r *Refusal) again(today, tomorrow string) string {
	if r.At.IsZero() {
		return ""
	}
	// A minute that has begun is rounded up: at the time that is said it is taken.
	at := r.At.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	if !r.Now.IsZero() && at.YearDay() != r.Now.In(at.Location()).YearDay() {
		today = tomorrow
	}
	return fmt.Sprintf(today, at.Format("15:04"))
}

func quoted(s, before, after string) string {
	if s == "" {
		return ""
	}
	return before + s + after
}

func englishField(f Field) string {
	switch f {
	case Title:
		return "title"
	case Artist:
		return "artist's name"
	case Description:
		return "description"
	case Tags:
		return "tags"
	case CreatedBy:
		return "sender's name"
	}
	return "text"
}

func arabicField(f Field) string {
	switch f {
	case Title:
		return "العنوان"
	case Artist:
		return "اسم الفنان"
	case Description:
		return "الوصف"
	case Tags:
		return "الوسوم"
	case CreatedBy:
		return "اسم المُرسِل"
	}
	return "النص"
}

type both struct{ en, ar string }

// words is the table of sentences. docs/submissions.md shows it; a test holds the two
// together.
func words() map[Code]both {
	return map[Code]both{
		NotAudio: {
			"This is not an audio file that we can read. Send an MP3, M4A, WAV, FLAC or Ogg file.",
			"هذا ليس ملفًا صوتيًا يمكننا قراءته. يُرجى إرسال ملف صوتي بصيغة شائعة.",
		},
		Playlist: {
			"This is a playlist or a link to another file, not the sound itself. Send the sound file.",
			"هذه قائمة تشغيل أو إحالة إلى ملف آخر، وليست الصوت نفسه. يُرجى إرسال الملف الصوتي ذاته.",
		},
		VideoOnly: {
			"There is no sound in this video.",
			"لا يوجد صوت في هذا الفيديو.",
		},
		Protected: {
			"This file is copy-protected and can only be played by the shop that sold it. Send a copy without protection.",
			"هذا الملف محميّ من النسخ ولا يعمل خارج المتجر الذي اشتُري منه. يُرجى إرسال نسخة غير محميّة.",
		},
		Damaged: {
			"This file is damaged: it cannot be played to its end.",
			"هذا الملف تالف ولا يمكن تشغيله حتى نهايته.",
		},
		Truncated: {
			"This file is incomplete: part of it is missing. Send it again.",
			"هذا الملف غير مكتمل، وجزء منه مفقود. يُرجى إرساله مرة أخرى.",
		},
		Empty: {
			"There is nothing in this file.",
			"هذا الملف فارغ.",
		},
		TooLarge: {
			"This file is too large: at most {size} are allowed.",
			"هذا الملف كبير جدًا: الحد الأقصى {size}.",
		},
		OddRate: {
			"The sample rate or the number of channels of this file is one that nothing plays. Save it at 44.1 or 48 kHz in stereo.",
			"معدّل العيّنات أو عدد القنوات في هذا الملف غير صالح للتشغيل. يُرجى حفظه بمعدّل 44.1 أو 48 كيلوهرتز وبصوت مجسّم.",
		},
		TagsAbsurd: {
			"The tags or pictures inside this file are absurdly large. Remove them and send it again.",
			"البيانات أو الصور المضمّنة في هذا الملف ضخمة على نحو غير معقول. يُرجى حذفها وإرساله مرة أخرى.",
		},
		MissingFile: {
			"The file is no longer here. Send it again.",
			"لم يعد الملف موجودًا لدينا. يُرجى إرساله مرة أخرى.",
		},
		TooShort: {
			"{found}At least {shortest} of sound are needed, without the silence at its ends.",
			"{found}يجب ألا تقل مدة الصوت عن {shortest}، من دون الصمت في أوله وآخره.",
		},
		TooLong: {
			"{found}At most {longest} of sound are allowed, without the silence at its ends.",
			"{found}يجب ألا تزيد مدة الصوت على {longest}، من دون الصمت في أوله وآخره.",
		},
		Silent: {
			"{share} of this file is silence.",
			"{share} هذا الملف صمت.",
		},
		Clipped: {
			"The sound is distorted: it was recorded or made too loud. Lower its level at the source and save it again.",
			"الصوت مشوَّه لأن مستواه كان أعلى من اللازم عند التسجيل أو المعالجة. يُرجى خفض المستوى من المصدر وحفظه من جديد.",
		},
		DeadChannel: {
			"Only one side of the stereo has sound. Save it in mono, or with sound on both sides.",
			"الصوت في جهة واحدة فقط. يُرجى حفظه بقناة واحدة، أو بصوت في الجهتين.",
		},
		OutOfPhase: {
			"The two sides cancel each other: a phone with one loudspeaker would play nothing. Invert the phase of one side and save it again.",
			"القناتان تلغي إحداهما الأخرى، فلن يُسمع شيء من هاتف بسماعة واحدة. يُرجى عكس طور إحدى القناتين وحفظ الملف من جديد.",
		},
		TooQuiet: {
			"The sound is too quiet: raised to the station's level, only noise would be heard.",
			"الصوت خافت جدًا، ولو رُفع إلى مستوى المحطة لما سُمع سوى الضجيج.",
		},
		Noise: {
			"There is nothing but a steady tone or noise in it.",
			"ليس في الملف سوى نغمة ثابتة أو ضجيج متواصل.",
		},
		NotMusic: {
			"We hear only speech. This type of post is for music; choose another type for a voice.",
			"لا نسمع في الملف سوى كلام. هذا النوع مخصص للموسيقى، ويمكنك اختيار نوع آخر للصوت المنطوق.",
		},
		NamesMissing: {
			"Please fill in the {field}.",
			"يُرجى ملء هذه الخانة: {field}.",
		},
		NamesLong: {
			"The {field} may have at most {letters} characters.",
			"هذه الخانة طويلة جدًا: {field}. الحد الأقصى {letters}.",
		},
		NamesLinks: {
			"Please leave addresses and account names out of the {field}.",
			"يُرجى عدم كتابة روابط أو أسماء حسابات في هذه الخانة: {field}.",
		},
		NamesWords: {
			"There is a word in the {field} that is not allowed here.",
			"تحتوي هذه الخانة على كلمة غير مسموح بها هنا: {field}.",
		},
		UnknownType: {
			"Please choose what kind of post it is.",
			"يُرجى اختيار نوع المشاركة.",
		},
		Unconfirmed: {
			"Please confirm that you may let us broadcast this.",
			"يُرجى تأكيد أن لك الحق في السماح لنا ببث هذا المحتوى.",
		},
		Blocked: {
			"The station takes no posts from you.",
			"لا تقبل المحطة مشاركات منك.",
		},
		HourLimit: {
			"You can send at most {count} an hour.{again}",
			"الحد الأقصى {count} في الساعة.{again}",
		},
		DayLimit: {
			"You can send at most {count} a day.{again}",
			"الحد الأقصى {count} في اليوم.{again}",
		},
		NetworkLimit: {
			"Many posts have come from your network within the hour.{again}",
			"وصلتنا مشاركات كثيرة من شبكتك خلال ساعة.{again}",
		},
		WaitingLimit: {
			"You already have {count} waiting for a decision. Send more once they are judged.",
			"لديك {count} بانتظار المراجعة. يمكنك إرسال المزيد بعد البت فيها.",
		},
		UnfinishedLimit: {
			"Too many uploads of your network are unfinished. Finish or cancel one first.",
			"هناك ملفات كثيرة لم يكتمل إرسالها من شبكتك. يُرجى إكمال أحدها أو إلغاؤه أولًا.",
		},
		TooFast: {
			"Much was sent from your network in a short time. Try again in a minute.",
			"أُرسل الكثير من شبكتك في وقت قصير. يُرجى المحاولة بعد دقيقة.",
		},
		QueueFull: {
			"Too many posts wait for a decision just now. Please try again tomorrow.",
			"المشاركات التي تنتظر المراجعة كثيرة الآن. يُرجى المحاولة غدًا.",
		},
		NoRoom: {
			"The station has no room for more files at the moment. Please try again later.",
			"لا تتسع المحطة لملفات أخرى في الوقت الحالي. يُرجى المحاولة لاحقًا.",
		},
		Busy: {
			"The station is taking many files just now. Try again in a moment.",
			"تستقبل المحطة ملفات كثيرة الآن. يُرجى المحاولة بعد لحظات.",
		},
		Closed: {
			"The station takes no posts from listeners at present.",
			"لا تستقبل المحطة مشاركات المستمعين حاليًا.",
		},
		SourcePrivate: {
			"This address is not on the public internet.",
			"هذا العنوان ليس متاحًا على الإنترنت للعموم.",
		},
		SourceRefused: {
			"The sound could not be fetched from this address. Check that it opens without signing in.",
			"تعذّر جلب الصوت من هذا العنوان. يُرجى التأكد من أنه يُفتح من دون تسجيل دخول.",
		},
		SourceTooLarge: {
			"The file at this address is too large: at most {size} are allowed.",
			"الملف في هذا العنوان كبير جدًا: الحد الأقصى {size}.",
		},
		SourceSlow: {
			"This address answers too slowly. Try again later, or send the file itself.",
			"الاستجابة من هذا العنوان بطيئة جدًا. يمكنك المحاولة لاحقًا أو إرسال الملف نفسه.",
		},
		SourceKind: {
			"Only addresses that begin with http:// or https:// can be fetched.",
			"هذا النوع من العناوين غير مدعوم. يُرجى إرسال رابط صفحة أو ملف على الويب، أو إرسال الملف نفسه.",
		},
		Duplicate: {
			"We have this already{of}.",
			"هذا الصوت موجود لدينا بالفعل{of}.",
		},
		DuplicateRejected: {
			"The same sound{of} was sent before and not accepted.",
			"سبق إرسال الصوت نفسه{of} ولم يُقبل.",
		},
		Quality: {
			"The quality of the sound is not good enough for the air.",
			"جودة الصوت لا تصلح للبث.",
		},
		Rights: {
			"It is not clear that you may let us broadcast this.",
			"لم يتبيّن لنا أن لديك حق السماح ببث هذا المحتوى.",
		},
		Language: {
			"Its language does not fit our programme.",
			"لغته لا تناسب برامجنا.",
		},
		OffTopic: {
			"It does not fit our programme, or the type that was chosen for it.",
			"لا يناسب برامجنا أو النوع المختار له.",
		},
		Offensive: {
			"It may hurt or insult people.",
			"قد يسيء إلى الآخرين أو يؤذي مشاعرهم.",
		},
		Advertising: {
			"It is advertising.",
			"هذا محتوى إعلاني.",
		},
		Other: {
			"A moderator decided against it.",
			"قرر المشرف عدم قبوله.",
		},
		Withdrawn: {
			"It was withdrawn by its sender.",
			"سحبه مُرسِله.",
		},
		Held: {
			"A moderator wants to look at it again before deciding.",
			"يود المشرف مراجعته مرة أخرى قبل البت فيه.",
		},
		Reported: {
			"Listeners have reported it. A moderator looks at it again.",
			"أبلغ عنه مستمعون، وسيراجعه المشرف مرة أخرى.",
		},
		OurFault: {
			"Something went wrong on our side. We shall try again; there is nothing you need to do.",
			"حدث خطأ لدينا. سنحاول مرة أخرى، ولا يلزمك فعل شيء.",
		},
	}
}
