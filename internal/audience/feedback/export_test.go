package feedback

// Remembering is the options with room for so many answers.
func (o Options) Remembering(most int64) Options {
	o.mostAnswers = most
	return o
}
