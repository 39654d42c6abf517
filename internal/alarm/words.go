package alarm

// Words are the sentences about a kind of alarm, in one language.
type Words struct {
	On  string // what is wrong
	Off string // that it is over
	Do  string // what the operator can do
}

// WordsFor returns the sentences in Arabic where lang is "ar", else in English. A kind that is not
// known has general ones.
func WordsFor(k Kind, lang string) Words {
	all, other := english(), Words{"Something is wrong at the station", "All is well again", "Look into the studio."}
	if lang == "ar" {
		all, other = arabic(), Words{"خلل في المحطة", "عاد كل شيء إلى حاله", "افتح الاستوديو لمعرفة التفاصيل."}
	}
	if w, known := all[k]; known {
		return w
	}
	return other
}

func english() map[Kind]Words {
	return map[Kind]Words{
		Gone:        {"No audio reaches the listeners", "Listeners hear the station again", "The station restarts its programs by itself. If it goes on, run \"athir doctor\" on the machine."},
		Silence:     {"The station is silent", "The station sounds again", "The station skips to another track by itself. If it goes on, look what is on air in the studio."},
		Frozen:      {"The station repeats one stretch of audio", "The station sounds as it should again", "The station skips to another track by itself. If it goes on, look what is on air in the studio."},
		Starved:     {"The machine cannot keep up, and the sound breaks off", "The machine keeps up again", "End what else runs on the machine, or give it more processors or memory."},
		Emergency:   {"Nothing of the rotation can be played: the emergency audio is on air", "The rotation plays again", "Check that the media folder is there and can be read."},
		Unreachable: {"The broadcast node does not answer; its music may go on", "The broadcast node answers again", "Listen to the station, and check the node's machine and the network between."},
		Database:    {"The database file is gone: nothing is kept now", "The database file is back in its place", "Do not restart the station. Put the file back, or rename the rescued copy beside it."},
		DiskFull:    {"The disk is full: nothing can be written", "The disk has room again", "Free some space: old recordings, the archive, backups."},
		DiskLow:     {"The disk is almost full", "The disk has enough room again", "Free some space: old recordings, the archive, backups."},
		Program:     {"A part of the station does not run", "All parts of the station run again", "The log says why it ends. Run \"athir doctor\" on the machine."},
		Bus:         {"The station's parts cannot reach each other (bus)", "The station's parts reach each other again", "Check bus.url and sync_token, and that the bus runs."},
		Playlist:    {"The playlist file was changed from outside", "The playlist file is as it should be again", "The station writes it anew by itself. Find what else writes into its folder."},
		Backup:      {"The backup failed", "The backup worked again", "The log says why. Check the disk of the backups."},
		OnSpare:     {"The spare node took the air", "The first node has the air again", "Find out why the first node died, and start it again: it then stands by."},
		NoSpare:     {"No spare node stands by", "A spare node stands by again", "Start the other node, or look into its log: until it is there, a node that dies takes the station off the air."},
		Certificate: {"The certificate expires soon: phones will not be able to go live", "The certificate is good again", "Renew the files of live.tls_cert and live.tls_key; they are read anew by themselves."},
	}
}

func arabic() map[Kind]Words {
	return map[Kind]Words{
		Gone:        {"انقطع البث ولا يصل أي صوت إلى المستمعين", "عاد صوت المحطة إلى المستمعين", "تعيد المحطة تشغيل برامجها تلقائيًا. إن استمر الانقطاع فنفّذ ‎athir doctor‎ على الخادم."},
		Silence:     {"صمت على الهواء", "عاد الصوت إلى الهواء", "تنتقل المحطة تلقائيًا إلى مقطع آخر. إن استمر الصمت فانظر في الاستوديو ما الذي على الهواء."},
		Frozen:      {"الصوت على الهواء متجمّد ويكرر المقطع نفسه", "عاد الصوت على الهواء إلى طبيعته", "تنتقل المحطة تلقائيًا إلى مقطع آخر. إن استمر ذلك فانظر في الاستوديو ما الذي على الهواء."},
		Starved:     {"الخادم لا يلحق بالبث، والصوت يتقطع", "عاد الخادم يلحق بالبث", "أوقف ما يعمل على الخادم غير المحطة، أو زد المعالجات أو الذاكرة."},
		Emergency:   {"يُبث صوت الطوارئ لأن مواد البث لا يمكن تشغيلها", "عادت المواد المعتادة إلى الهواء", "تأكد أن مجلد الوسائط موجود ويمكن قراءته."},
		Unreachable: {"عقدة البث لا تستجيب، وربما الموسيقى مستمرة", "عادت عقدة البث تستجيب", "استمع إلى المحطة، وافحص خادم عقدة البث والشبكة بينهما."},
		Database:    {"اختفى ملف قاعدة البيانات، ولا يُحفظ شيء الآن", "عاد ملف قاعدة البيانات إلى مكانه", "لا تُعد تشغيل المحطة. أعد الملف إلى مكانه، أو أعد تسمية النسخة المنقذة بجانبه."},
		DiskFull:    {"امتلأ القرص، ولا يمكن حفظ أي شيء", "صار في القرص متسع من جديد", "أفرغ مساحة: تسجيلات قديمة أو أرشيف أو نسخ احتياطية."},
		DiskLow:     {"القرص يوشك أن يمتلئ", "صار في القرص متسع كافٍ", "أفرغ مساحة: تسجيلات قديمة أو أرشيف أو نسخ احتياطية."},
		Program:     {"جزء من المحطة متوقف", "عادت كل أجزاء المحطة تعمل", "السبب مذكور في السجلّ. نفّذ ‎athir doctor‎ على الخادم."},
		Bus:         {"انقطع الاتصال بين أجزاء المحطة (bus)", "عاد الاتصال بين أجزاء المحطة", "راجع bus.url وsync_token، وتأكد أن الناقل يعمل."},
		Playlist:    {"تغيّر ملف قائمة التشغيل من خارج المحطة", "عاد ملف قائمة التشغيل كما يجب", "تكتبه المحطة من جديد تلقائيًا. ابحث عمّا يكتب في مجلدها غيرها."},
		Backup:      {"فشل النسخ الاحتياطي", "نجح النسخ الاحتياطي من جديد", "السبب مذكور في السجلّ. افحص قرص النسخ الاحتياطية."},
		OnSpare:     {"انتقل البث إلى العقدة الاحتياطية", "عاد البث إلى العقدة الأولى", "ابحث عن سبب توقف العقدة الأولى ثم شغّلها من جديد، وتصبح حينها هي الاحتياطية."},
		NoSpare:     {"لا توجد عقدة احتياطية جاهزة", "عادت العقدة الاحتياطية جاهزة", "شغّل العقدة الأخرى أو راجع سجلّها، فإلى أن تعود ينقطع البث إذا توقفت العقدة العاملة."},
		Certificate: {"شهادة الأمان تنتهي قريبًا، ولن تتمكن الهواتف بعدها من البث المباشر", "شهادة الأمان صالحة من جديد", "جدّد ملفي live.tls_cert وlive.tls_key، وتُقرأ الملفات الجديدة تلقائيًا."},
	}
}
