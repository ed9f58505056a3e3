package output

import (
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
)

// Formatter formats the values of a column's fields; nulls are empty texts.
type Formatter struct {
	show   func(s Screen, values []string) cell
	right  bool // the column is aligned at the right
	whole  bool // the column is at least as wide as its values
	wraps  bool // as the last column: values are not truncated, but divided into lines
	middle bool // values are truncated in the middle instead of at the end
	narrow bool // such values are truncated to less than others
	zoned  bool // the title has the time zone
	words  bool // programs get the words, too, where they read a table
	joined bool // the first value has its meaning only with the others
}

// likeOnTerminal returns the formatter with the styles of that of a terminal, or the latter if it
// turns numbers into words.
func (f Formatter) likeOnTerminal(terminal Formatter) Formatter {
	if terminal.words {
		return terminal
	}
	show := f.show
	f.show = func(s Screen, values []string) cell {
		shown := show(s, values)
		shown.role = terminal.show(s, values).role
		return shown
	}
	return f
}

// cell is a formatted value.
type cell struct {
	text string
	role theme.Role
}

// Formatters of the types of values that have none of their own.
var (
	plainText = Formatter{show: showText}
	number    = Formatter{show: showText, right: true, whole: true}
	dateTime  = Formatter{show: showDateTime, whole: true}
)

// Formatters of values.
var (
	// Event is the name of an event.
	Event = Formatter{show: showText, middle: true, narrow: true}
	// Words is a short text.
	Words = plainText
	// Whole is a text that is not truncated.
	Whole = Formatter{show: showText, whole: true}
	// Prose is a long text in the last column.
	Prose = Formatter{show: showText, wraps: true}
	// Lines is a text that can have several lines.
	Lines = Formatter{show: showLines}
	// Count is a number with thousands separators.
	Count = Formatter{show: showCount, right: true, whole: true}
	// Problems is a count that should be zero.
	Problems = Formatter{show: showProblems, right: true, whole: true}
	// Percent is a share from 0 to 1.
	Percent = Formatter{show: showPercent, right: true, whole: true}
	// Duration is a TimeSpan.
	Duration = Formatter{show: showDuration, right: true, whole: true}
	// Age is the time since an event of the service, or until it.
	Age = Formatter{show: showAge, right: true, whole: true}
	// Due is the time until an attempt.
	Due = Formatter{show: showDue, right: true, whole: true}
	// Local is a time of the service in the user's zone.
	Local = Formatter{show: showLocal, whole: true, zoned: true}
	// Expiry is like Age, but marks the past.
	Expiry = Formatter{show: showExpiry, whole: true}
	// ID is an ID, which commands also accept in its short form.
	ID = Formatter{show: showID, whole: true}
	// SecretID is a SubscriberID, which grants access.
	SecretID = Formatter{show: showSecretID, whole: true}
	// Endpoint is the URL of a receiver.
	Endpoint = Formatter{show: showEndpoint, middle: true}
	// NarrowEndpoint is like Endpoint, in a table where other columns need the room.
	NarrowEndpoint = Formatter{show: showEndpoint, middle: true, narrow: true}
	// Status is the status of a message.
	Status = Formatter{show: showStatus, whole: true, words: true}
	// HTTPStatus is a status code, with the text of the response or the error if there are
	// two fields.
	HTTPStatus = Formatter{show: showHTTPStatus}
	// Tries are the attempts of a message, from its status, its retries and their maximum.
	Tries = Formatter{show: showTries, whole: true}
	// Enabled is true for an enabled object. A second field has the reason why it is disabled.
	Enabled = Formatter{show: showEnabled}
	// Secrets is the number of secrets that sign, and when the last old one ends.
	Secrets = Formatter{show: showSecrets}
	// Yes marks true values.
	Yes = Formatter{show: showYes, whole: true}
)

// Delivery returns a formatter that is like Enabled, but shows the problem of a queue that is
// enabled. The last two fields are the time since when it fails, and the ID of its subscription.
func Delivery(queueOf func(subscriptionID string) wire.Queue) Formatter {
	return Formatter{show: func(s Screen, values []string) cell {
		return showDelivery(s, values, queueOf)
	}}
}

// MessageStatus returns a formatter that is like Status, but shows which messages are held. Its fields
// are the status of a message, the ID of its subscription, and its event. Without the others, the
// status is shown.
func MessageStatus(queueOf func(subscriptionID string) wire.Queue) Formatter {
	show := func(s Screen, values []string) cell { return showMessageStatus(s, values, queueOf) }
	return Formatter{show: show, whole: true, words: true}
}

// NextTry returns a formatter that is like Due, but shows which messages wait although they are
// due: messages that are held, messages to an endpoint that requested a wait or fails, and those that
// a rate limit delays. Its fields are the time, and the fields of MessageStatus.
func NextTry(queueOf func(subscriptionID string) wire.Queue) Formatter {
	f := Due
	f.show = func(s Screen, values []string) cell { return showNextTry(s, values, queueOf) }
	f.joined = true
	return f
}

// Worst returns a formatter that is like Enabled, but shows the worst problem of the queues of an
// enabled subscriber. The last field is its ID.
func Worst(queuesOf func(subscriberID string) []wire.Queue) Formatter {
	return Formatter{show: func(s Screen, values []string) cell {
		return showWorst(s, values, queuesOf)
	}}
}

// Named returns a formatter that shows an object by its name instead of its secret ID, unless the
// name is not known.
func Named(nameOf func(id string) string) Formatter {
	return Formatter{show: func(s Screen, values []string) cell {
		if name := nameOf(values[0]); name != "" {
			return cell{text: name}
		}
		return showSecretID(s, values)
	}}
}

// State returns a formatter of a word that should be the given one.
func State(healthy string) Formatter {
	return Formatter{show: func(_ Screen, values []string) cell {
		if values[0] == healthy {
			return cell{values[0], theme.Success}
		}
		return cell{values[0], theme.Failure}
	}}
}

// rawFormatter returns the formatter of a type that shows the values as they are, but for
// trailing zeros of times.
func rawFormatter(t record.Type) Formatter {
	switch t {
	case record.Epoch:
		return dateTime
	case record.TimeSpan:
		return plainText
	default:
		return formatterOf(t)
	}
}

// formatterOf returns the formatter of a type.
func formatterOf(t record.Type) Formatter {
	switch {
	case t.Number():
		return number
	case t == record.DateTime:
		return dateTime
	case t == record.Epoch:
		return Local
	case t == record.TimeSpan:
		return Duration
	}
	return plainText
}
