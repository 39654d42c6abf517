package lists

// Wake has remote playlists looked at now.
func (l *Lists) Wake() { l.far.tell() }
