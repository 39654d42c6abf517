package station

import "time"

// FieldError is a field of what somebody sent that is wrong. It is an ErrInvalid.
type FieldError struct{ Field, Want, Arabic string }

// Wrong makes one: want says in English what the field must be, arabic the same as a sentence of
// its own.
func Wrong(field, want, arabic string) *FieldError { return &FieldError{field, want, arabic} }

func (e *FieldError) Error() string { return e.Field + ": " + e.Want }
func (e *FieldError) Unwrap() error { return ErrInvalid }

// Spoken are its words.
func (e *FieldError) Spoken() (code, en, ar string, at time.Time) {
	return "field", e.Field + " " + e.Want, e.Arabic, time.Time{}
}
