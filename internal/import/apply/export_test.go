package apply

import "syscall"

// full is a disk that takes so many bytes more, and then has no room once.
type full struct {
	file
	room *int
}

func (f full) Write(p []byte) (int, error) {
	if *f.room >= len(p) {
		*f.room -= len(p)
		return f.file.Write(p)
	}
	n, _ := f.file.Write(p[:*f.room])
	*f.room = 1 << 30
	return n, syscall.ENOSPC
}

// FillDisk leaves so many bytes of room for the journal, until a line has failed.
func (j *Journal) FillDisk(room int) { j.f = full{j.f, &room} }

// NotePerson notes a login as invited.
func (j *Journal) NotePerson(login string) error {
	return j.note(entry{Kind: kindPerson, ID: login, Done: true})
}
