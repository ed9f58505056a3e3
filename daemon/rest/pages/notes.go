package pages

import (
	"strconv"
	"strings"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/webhook"
)

// notes describe the result of a form, on the page that follows. An address contains only the name
// of a note, so it cannot contain other texts.
var notes = map[string]string{
	"Retry":     "The message is due now.",
	"SendAgain": "The message is being sent again.",
	"Delete":    "The message has been deleted.",
	"Test":      "The test message is on its way.",
	"Enabled":   "Enabled. Messages are sent.",
	"Disabled":  "Disabled. Messages are kept and wait.",
	"Saved":     "Saved.",
	"Added":     "Added.",
	"Removed":   "Removed.",
	"Resumed":   "The capture continues.",
	"Left":      "You have left the pages.",
	"Ended": "Your visit has ended, and the last page or form was not processed. " +
		"Enter the SubscriberID again, or open your link.",
}

// countedNotes are notes with a number.
var countedNotes = map[string][2]string{
	"Retried": {"message is due now", "messages are due now"},
	"Sent":    {"message is being sent again", "messages are being sent again"},
	"Deleted": {"message has been deleted", "messages have been deleted"},
}

// messageNote returns the note on the page of a message. That it is due is no longer true once it has
// been delivered.
func messageNote(x *edge.Context, m *wire.Message) string {
	code := x.URLMembers.Text(memberNote)
	if code == "Retry" && webhook.Status(m.Status) == webhook.Successful {
		return ""
	}
	return notes[code]
}

// noteIn returns the note that the address of a page names, empty if there is none.
func noteIn(x *edge.Context) string {
	code := x.URLMembers.Text(memberNote)
	name, sealed, _ := strings.Cut(code, ".")
	words, isCounted := countedNotes[name]
	if !isCounted {
		return notes[code]
	}
	number, _, _ := strings.Cut(sealed, ".")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || code != countedNote(x, name, n) {
		return ""
	}
	return display.Count(n, words[0], words[1]) + "."
}

// countedNote returns the code of a note with a number, empty without a session. Its last part is a
// digest with the session, so that an address of another origin shows no number of messages that were
// never changed. A password could be guessed from such a digest.
func countedNote(x *edge.Context, name string, n int64) string {
	session, err := x.Request.Cookie(wire.SessionCookie)
	if err != nil {
		return ""
	}
	number := strconv.FormatInt(n, 10)
	return name + "." + number + "." + stateOf(session.Value, name, number)
}
