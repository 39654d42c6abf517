package edge

// Row is one row of the table of events from client to server.
type Row struct {
	Event string
	// Takes is what the first argument is, for the documentation.
	Takes string
	Gives string
	Says  string
	// here carries out the event in the edge itself; nil hands it to the desk.
	here   func(e *Edge, v *visitor, ask Ask, reply func(answer))
	speaks bool
	audio  bool
}

// Asks is the mission's table of events from client to server (Events), followed by
// the station's additions.
func Asks() []Row {
	return []Row{
		{Event: "join_channel", Takes: `channelId, "main"`, Gives: "{channel}", Says: "The channel's state now; changes of main come to everyone, those of another channel to who joined it", here: (*Edge).joinChannel},
		{Event: "send_comment", Takes: "{name, text, id?}", Gives: "{comment}", Says: "Posts a comment: new_comment"},
		{Event: "interaction", Takes: "{type: vibe_vote, vibe, id?}", Gives: "{vibe, counts}", Says: "Casts a vibe vote: interaction"},
		{Event: "join", Takes: "{name, room}", Gives: "{room, history, state, members}", Says: "Joins a chat room: message, from the station", here: (*Edge).join},
		{Event: "sendMessage", Takes: "{type: text|voice|image, text?, data?, room?, user?, id?}", Gives: "{message}", Says: "A message to the room: message; room and user are those of the last join where it gives none"},
		{Event: "reaction", Takes: "{msgId, emoji, user}", Gives: "{counts}", Says: "Reacts to a chat message: message_reaction"},
		{Event: "start_stream", Takes: "nothing, or {type: MIME type of the audio}", Gives: "{}", Says: "Begins live audio from the studio; needs the station key, or the ticket of a user with the right air", speaks: true},
		{Event: "audio_data", Takes: "a chunk of audio, binary", Gives: "{bytes}", Says: "Live audio", speaks: true, audio: true},
		{Event: "stop_stream", Takes: "nothing", Gives: "{}", Says: "Ends live audio; the engine returns to automation", speaks: true},

		{Event: "leave_channel", Takes: "channelId", Gives: "{channel}", Says: "Changes of a channel beside main come no more", here: (*Edge).leaveChannel},
		{Event: "leave", Takes: "{room}", Gives: "{room}", Says: "Leaves a chat room", here: (*Edge).leave},
	}
}
