package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
)

// Formatter formats the values of a column's fields; nulls are empty texts.
type Formatter struct {
	show   func(s Screen, values []string) cell
	right  bool // aligned
	whole  bool // never truncated
	wraps  bool // never truncated, as the last column: the terminal wraps it
	middle bool // truncated in the middle
	zoned  bool // the title shows the time zone
}

// cell is a formatted value.
type cell struct {
	text string
	role theme.Role
}

// Formatters of values.
var (
	plainText = Formatter{show: func(_ Screen, v []string) cell { return cell{text: v[0]} }}
	number    = Formatter{show: plainText.show, right: true, whole: true}
	dateTime  = Formatter{
		show:  func(_ Screen, v []string) cell { return cell{text: trimTime(v[0])} },
		whole: true,
	}

	// Words are short texts, and Lines those that can have several lines.
	Words = plainText
	Whole = Formatter{show: plainText.show, whole: true} // not truncated
	Prose = Formatter{show: plainText.show, wraps: true} // of the last column
	Lines = Formatter{show: func(s Screen, v []string) cell {
		if s.long {
			return cell{text: v[0]}
		}
		return cell{text: strings.Join(strings.Fields(v[0]), " ")}
	}}
	Count = Formatter{
		show:  func(_ Screen, v []string) cell { return cell{text: display.Grouped(v[0])} },
		right: true,
		whole: true,
	}
	// Problems is a count that should be zero.
	Problems = Formatter{
		show: func(_ Screen, v []string) cell {
			if v[0] == "0" {
				return cell{v[0], theme.Dim}
			}
			return cell{display.Grouped(v[0]), theme.Failure}
		},
		right: true,
		whole: true,
	}
	Duration = Formatter{
		show:  func(_ Screen, v []string) cell { return cell{text: durationOf(v[0])} },
		right: true,
		whole: true,
	}
	Percent = Formatter{
		show:  func(_ Screen, v []string) cell { return cell{text: percentOf(v[0])} },
		right: true,
		whole: true,
	}
	// Age is the time since an event of the service, or until it.
	Age = Formatter{
		show:  func(s Screen, v []string) cell { return cell{text: s.age(v[0])} },
		right: true,
		whole: true,
	}
	// Due is the time until an attempt.
	Due = Formatter{
		show: func(s Screen, v []string) cell {
			if due, ok := timeOf(v[0]); ok && !s.long && !due.After(s.Now) {
				return cell{text: "due"}
			}
			return cell{text: s.age(v[0])}
		},
		right: true,
		whole: true,
	}
	// Local is a time of the service in the user's zone.
	Local = Formatter{
		show:  func(s Screen, v []string) cell { return cell{text: s.local(v[0])} },
		whole: true,
		zoned: true,
	}
	// Expiry is like Age, but marks the past.
	Expiry = Formatter{
		show: func(s Screen, v []string) cell {
			expiry, ok := timeOf(v[0])
			if !ok || !expiry.Before(s.Now) {
				return cell{text: cmp.Or(s.age(v[0]), "never")}
			}
			text := "expired " + s.age(v[0])
			if !s.long {
				text += " ago"
			}
			return cell{text, theme.Failure}
		},
		whole: true,
	}
	// ID is an ID that commands accept in its short form, too.
	ID = Formatter{
		show: func(s Screen, v []string) cell {
			if s.long || len(v[0]) < 14 {
				return cell{text: v[0]}
			}
			return cell{v[0][:8] + ".." + v[0][len(v[0])-4:], theme.Accent}
		},
		whole: true,
	}
	// SecretID is a SubscriberID, which grants access.
	SecretID = Formatter{
		show: func(s Screen, v []string) cell {
			if s.Full {
				return cell{text: v[0]}
			}
			return cell{display.ShortID(v[0]), theme.Accent}
		},
		whole: true,
	}
	// Endpoint is the URL of a receiver.
	Endpoint = Formatter{
		show: func(s Screen, v []string) cell {
			if s.long {
				return cell{text: v[0]}
			}
			return cell{text: display.ShortURL(v[0])}
		},
		middle: true,
	}
	// Status is the status of a message.
	Status = Formatter{
		show: func(_ Screen, v []string) cell {
			if i := slices.Index([]string{"0", "1", "2", "3"}, v[0]); i >= 0 {
				return cell{wire.StatusWords[i], theme.Pending + theme.Role(i)}
			}
			return cell{text: v[0]}
		},
		whole: true,
	}
	// HTTPStatus is a status code, with the text of the response or the error if there are
	// two fields.
	HTTPStatus = Formatter{show: func(s Screen, v []string) cell {
		code := v[0]
		text := strings.Join(v[1:], "")
		role := theme.Plain
		switch {
		case code+text == "":
			return cell{"-", theme.Dim}
		case code == "" && !s.long:
			text = text[strings.LastIndex(text, ": ")+1:] // the cause, without the address
			fallthrough
		case code == "" || code[0] > '3':
			role = theme.Failure
		}
		return cell{strings.TrimSpace(code + " " + strings.TrimPrefix(text, code)), role}
	}}
	// Tries are the attempts of a message, from its status, its retries and their maximum.
	Tries = Formatter{
		show: func(_ Screen, v []string) cell {
			var retries, limit int
			_, _ = fmt.Sscan(v[1], &retries) // numbers of the service
			_, _ = fmt.Sscan(v[2], &limit)
			if v[0] == "0" {
				return cell{"0", theme.Dim}
			}
			if retries > limit { // retried by a user
				return cell{text: fmt.Sprint(retries + 1)}
			}
			return cell{text: fmt.Sprintf("%d of %d", retries+1, limit+1)}
		},
		whole: true,
	}
	// Enabled is whether something is enabled, with the reason why not if there are two
	// fields.
	Enabled = Formatter{show: func(_ Screen, v []string) cell {
		if v[0] == "true" {
			return cell{"enabled", theme.Success}
		}
		reason := ""
		if len(v) > 1 && v[1] != "" {
			reason = ": " + v[1]
		}
		return cell{"disabled" + reason, theme.Warning}
	}}
	// Delivery is like Enabled, but shows the problem of a queue that is enabled. The last two
	// fields are when it began to fail and its ID.
	Delivery = func(queueOf func(id string) wire.Queue) Formatter {
		return Formatter{show: func(s Screen, v []string) cell {
			since := len(v) - 2
			if v[0] != "true" {
				return Enabled.show(s, v[:since])
			}
			switch queue := queueOf(v[since+1]); {
			case queue.Breaker == wire.BreakerOpen:
				return cell{"breaker open", theme.Failure}
			case !time.Time(queue.WaitUntilDateTime).IsZero():
				return cell{"waiting (Retry-After)", theme.Warning}
			case v[since] != "" || !time.Time(queue.FailingSince).IsZero():
				return cell{"failing", theme.Warning}
			}
			return Enabled.show(s, v[:since])
		}}
	}
	// State is a word of which one means that all is well.
	State = func(well string) Formatter {
		return Formatter{show: func(_ Screen, v []string) cell {
			if v[0] == well {
				return cell{v[0], theme.Success}
			}
			return cell{v[0], theme.Failure}
		}}
	}
	// Secrets is the number of secrets that sign, and when the last old one ends.
	Secrets = Formatter{show: func(s Screen, v []string) cell {
		if v[1] == "" {
			return cell{text: v[0]}
		}
		return cell{text: v[0] + ", the old ones until " + s.local(v[1])}
	}}
	// Yes marks true values.
	Yes = Formatter{
		show: func(_ Screen, v []string) cell {
			if v[0] == "true" {
				return cell{text: "yes"}
			}
			return cell{}
		},
		whole: true,
	}
)

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

// Progress returns the characters of a progress bar: those of the part that is done and of
// the rest.
func (s Screen) Progress() string {
	if bars := []rune(s.Bars); len(bars) > 0 && bars[len(bars)-1] > '~' {
		return string(bars[len(bars)-1]) + s.Loading
	}
	return "#."
}

// timeOf parses a time of the service, which is in UTC.
func timeOf(text string) (time.Time, bool) {
	date, err := wire.ParseDate(text, time.UTC)
	if err != nil {
		return time.Time{}, false
	}
	at, err := time.Parse(wire.DateLayout, date)
	return at, err == nil && !at.IsZero()
}

// age formats the time since a time of the service. The long form has the time, too.
func (s Screen) age(text string) string {
	at, ok := timeOf(text)
	if !ok {
		return ""
	}
	age, ago := display.Age(s.Now.Sub(at)), ""
	if s.long {
		ago = " ago"
	}
	if at.After(s.Now) {
		age, ago = "in "+display.Age(at.Sub(s.Now)), ""
	}
	if s.long {
		return at.In(s.Zone).Format("2006-01-02 15:04:05 MST") + " (" + age + ago + ")"
	}
	return age
}

func (s Screen) local(text string) string {
	at, ok := timeOf(text)
	if !ok {
		return text
	}
	layout := "2006-01-02 15:04:05"
	if s.long {
		layout = "2006-01-02 15:04:05.000 MST"
	}
	return at.In(s.Zone).Format(layout)
}

// durationOf formats a TimeSpan with about three digits.
func durationOf(text string) string {
	ticks, err := wire.ParseTimeSpan(text)
	if err != nil {
		return text
	}
	return Span(wire.TimeSpan(ticks * 100))
}

// Span formats a duration with about three digits.
func Span(span wire.TimeSpan) string {
	d := time.Duration(span)
	steps := []struct{ from, unit time.Duration }{
		{100 * time.Minute, time.Minute},
		{time.Minute, time.Second},
		{time.Second, 100 * time.Millisecond},
		{time.Millisecond, 100 * time.Microsecond},
	}
	for _, digits := range steps {
		if d >= digits.from {
			return shortDuration(d.Round(digits.unit))
		}
	}
	return d.Round(time.Microsecond).String()
}

// shortDuration leaves out units that are zero, as in 1h.
func shortDuration(d time.Duration) string {
	text := d.String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, end) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func percentOf(text string) string {
	var rate float64
	if _, err := fmt.Sscan(text, &rate); err != nil {
		return text
	}
	return fmt.Sprintf("%.1f%%", 100*rate)
}

// trimTime removes trailing zeros of the fraction of a second.
func trimTime(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
