package output

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/theme"
)

// The functions of formatters. values has a text for each field of the column.

func showText(_ Screen, values []string) cell { return cell{text: values[0]} }

func showDateTime(_ Screen, values []string) cell { return cell{text: trimTime(values[0])} }

func showLines(s Screen, values []string) cell {
	if s.long {
		return cell{text: values[0]}
	}
	return cell{text: strings.Join(strings.Fields(values[0]), " ")}
}

func showCount(_ Screen, values []string) cell { return cell{text: display.Grouped(values[0])} }

func showProblems(_ Screen, values []string) cell {
	if values[0] == "0" {
		return cell{values[0], theme.Dim}
	}
	return cell{display.Grouped(values[0]), theme.Failure}
}

func showPercent(_ Screen, values []string) cell {
	share, err := strconv.ParseFloat(values[0], 64)
	if err != nil {
		return cell{text: values[0]}
	}
	return cell{text: display.Percent(share) + "%"}
}

func showDuration(_ Screen, values []string) cell {
	ticks, err := wire.ParseTimeSpan(values[0])
	if err != nil {
		return cell{text: values[0]}
	}
	return cell{text: Span(wire.TimeSpan(ticks * 100))} // a tick has 100 ns
}

func showAge(s Screen, values []string) cell { return cell{text: s.age(values[0])} }

func showDue(s Screen, values []string) cell {
	due, ok := timeOf(values[0])
	isDue := ok && !due.After(s.Now)
	if isDue && !s.long {
		return cell{text: "due"}
	}
	return cell{text: s.age(values[0])}
}

func showLocal(s Screen, values []string) cell { return cell{text: s.local(values[0])} }

func showExpiry(s Screen, values []string) cell {
	expiry, ok := timeOf(values[0])
	if !ok || !expiry.Before(s.Now) {
		return cell{text: cmp.Or(s.age(values[0]), "never")}
	}
	text := "expired " + s.age(values[0])
	if !s.long {
		text += " ago"
	}
	return cell{text, theme.Failure}
}

// minShortened is the minimum length of an ID that is shortened.
const minShortened = 14

func showID(s Screen, values []string) cell {
	id := values[0]
	if s.long || len(id) < minShortened {
		return cell{text: id}
	}
	return cell{id[:8] + ".." + id[len(id)-4:], theme.Accent}
}

func showSecretID(s Screen, values []string) cell {
	if s.Full {
		return cell{text: values[0]}
	}
	return cell{display.ShortID(values[0]), theme.Accent}
}

func showEndpoint(s Screen, values []string) cell {
	if s.long {
		return cell{text: values[0]}
	}
	return cell{text: display.ShortURL(values[0])}
}

// statusRoles has the styles of the statuses of messages, by their numbers.
var statusRoles = [...]theme.Role{theme.Pending, theme.Success, theme.Warning, theme.Failure}

func showStatus(_ Screen, values []string) cell {
	status, err := strconv.Atoi(values[0])
	if err != nil || status < 0 || status >= len(statusRoles) {
		return cell{text: values[0]}
	}
	return cell{wire.StatusWords[status], statusRoles[status]}
}

// showMessageStatus shows the status of a message; see MessageStatus.
// heldCell is shown for a message that is held.
var heldCell = cell{"held", theme.Warning}

func showMessageStatus(
	s Screen, values []string, queueOf func(subscriptionID string) wire.Queue,
) cell {
	if len(values) > 1 && isPending(values[0]) && slices.Contains(queueOf(values[1]).HeldEvents, values[2]) {
		return heldCell
	}
	return showStatus(s, values[:1])
}

// isPending reports whether a message with a status is still to be sent.
func isPending(status string) bool { return status == "0" || status == "2" }

// showNextTry shows when a message is sent next, or why it is not sent although it is due; see
// NextTry.
func showNextTry(s Screen, values []string, queueOf func(subscriptionID string) wire.Queue) cell {
	if len(values) < 4 || !isPending(values[1]) {
		return showDue(s, values[:1])
	}
	queue := queueOf(values[2])
	if slices.Contains(queue.HeldEvents, values[3]) {
		return heldCell
	}
	wait := time.Time(queue.WaitUntilDateTime)
	rate := time.Time(queue.RateUntilDateTime)
	probe := time.Time(queue.NextProbeDateTime)
	due, _ := timeOf(values[0]) // before any other time if the message is not scheduled
	if queue.Breaker == wire.BreakerOpen && (!due.After(s.Now) || !due.After(probe)) {
		return problemCells[isOpen]
	}
	if !wait.IsZero() && !due.After(wait) {
		return cell{s.RequestedWait(wait), theme.Warning}
	}
	if !rate.IsZero() && !due.After(rate) {
		return s.rateLimit(rate)
	}
	return showDue(s, values[:1])
}

// rateLimit describes a queue with messages that its rate limit delays until a time.
func (s Screen) rateLimit(until time.Time) cell {
	return cell{text: "rate limit, next in " + display.Age(max(time.Second, until.Sub(s.Now)))}
}

// RequestedWait describes an endpoint that has requested a wait by Retry-After.
func (s Screen) RequestedWait(until time.Time) string {
	return problemCells[isWaiting].text + " until " + until.In(s.Zone).Format("15:04")
}

func showHTTPStatus(s Screen, values []string) cell {
	code := values[0]
	text := strings.Join(values[1:], "")
	if code == "" && text == "" {
		return cell{"-", theme.Dim}
	}
	if code == "" && !s.long {
		text = text[strings.LastIndex(text, ": ")+1:] // the cause, without the address
	}
	role := theme.Plain
	if code == "" || code[0] > '3' {
		role = theme.Failure
	}
	text = strings.TrimPrefix(text, code) // some texts start with the code
	return cell{strings.TrimSpace(code + " " + text), role}
}

func showTries(_ Screen, values []string) cell {
	if values[0] == "0" {
		return cell{"0", theme.Dim}
	}
	retries, _ := strconv.Atoi(values[1]) // numbers of the service
	limit, _ := strconv.Atoi(values[2])
	if retries > limit { // retried by a user
		return cell{text: strconv.Itoa(retries + 1)}
	}
	return cell{text: fmt.Sprintf("%d of %d", retries+1, limit+1)}
}

func showEnabled(_ Screen, values []string) cell {
	if values[0] == "true" {
		return cell{"enabled", theme.Success}
	}
	text := "disabled"
	if len(values) > 1 && values[1] != "" {
		text += ": " + values[1]
	}
	return cell{text, theme.Warning}
}

// showDelivery shows the state of a queue; see Delivery.
func showDelivery(s Screen, values []string, queueOf func(subscriptionID string) wire.Queue) cell {
	fields := len(values) - 2
	enabled := values[:fields]
	failingSince := values[fields]
	if values[0] != "true" {
		return showEnabled(s, enabled)
	}
	if fields > 1 && values[1] != "" { // such as the rights of its owner
		return cell{"enabled, but " + values[1], theme.Warning}
	}
	queue := queueOf(values[fields+1])
	switch p := problemOf(queue); p {
	case noProblem:
	case isWaiting:
		return cell{s.RequestedWait(time.Time(queue.WaitUntilDateTime)), problemCells[p].role}
	default:
		return problemCells[p]
	}
	if until := time.Time(queue.RateUntilDateTime); !until.IsZero() {
		return s.rateLimit(until)
	}
	if failingSince != "" {
		return problemCells[isFailing]
	}
	return showEnabled(s, enabled)
}

// problem is a problem of a queue; the highest is the worst.
type problem uint8

const (
	noProblem problem = iota
	isFailing
	isWaiting
	isOpen
)

var problemCells = [...]cell{
	isFailing: {"failing", theme.Warning},
	isWaiting: {"asked to wait", theme.Warning},
	isOpen:    {"breaker open", theme.Failure},
}

// problemOf returns the problem of a queue.
func problemOf(q wire.Queue) problem {
	switch {
	case q.Breaker == wire.BreakerOpen:
		return isOpen
	case !time.Time(q.WaitUntilDateTime).IsZero():
		return isWaiting
	case !time.Time(q.FailingSince).IsZero():
		return isFailing
	}
	return noProblem
}

// showWorst shows the worst state of the queues of a subscriber; see Worst.
func showWorst(s Screen, values []string, queuesOf func(subscriberID string) []wire.Queue) cell {
	if values[0] != "true" {
		return showEnabled(s, values[:1])
	}
	worst := noProblem
	affected := 0
	queues := queuesOf(values[1])
	for _, queue := range queues {
		p := problemOf(queue)
		if p > worst {
			worst = p
			affected = 0
		}
		if p == worst {
			affected++
		}
	}
	if worst == noProblem {
		return showEnabled(s, values[:1])
	}
	shown := problemCells[worst]
	if len(queues) > 1 {
		shown.text = fmt.Sprintf("%s, %d of %d", shown.text, affected, len(queues))
	}
	return shown
}

func showSecrets(s Screen, values []string) cell {
	count := values[0]
	until := values[1]
	if until == "" {
		return cell{text: count}
	}
	return cell{text: count + ", the old ones until " + s.local(until)}
}

func showYes(_ Screen, values []string) cell {
	if values[0] == "true" {
		return cell{text: "yes"}
	}
	return cell{}
}

// Progress returns the two characters of a progress bar: for the part that is done and for the
// remainder.
func (s Screen) Progress() string {
	bars := []rune(s.Bars)
	if len(bars) == 0 || bars[len(bars)-1] <= '~' {
		return "#."
	}
	return string(bars[len(bars)-1]) + s.Loading
}

// timeOf parses a time of the service, which is in UTC.
func timeOf(text string) (time.Time, bool) {
	date, err := wire.ParseDate(text, time.UTC)
	if err != nil {
		return time.Time{}, false
	}
	t, err := time.Parse(wire.DateLayout, date)
	return t, err == nil && !t.IsZero()
}

// age formats the time since an event of the service, or until it. The long form has its time, too.
func (s Screen) age(text string) string {
	event, ok := timeOf(text)
	if !ok {
		return ""
	}
	age := display.Age(s.Now.Sub(event))
	if event.After(s.Now) {
		age = "in " + display.Age(event.Sub(s.Now))
	} else if s.long {
		age += " ago"
	}
	if s.long {
		return event.In(s.Zone).Format("2006-01-02 15:04:05 MST") + " (" + age + ")"
	}
	return age
}

// local formats a time of the service in the zone of the screen.
func (s Screen) local(text string) string {
	t, ok := timeOf(text)
	if !ok {
		return text
	}
	layout := "2006-01-02 15:04:05"
	if s.long {
		layout = "2006-01-02 15:04:05.000 MST"
	}
	return t.In(s.Zone).Format(layout)
}

// spanSteps has the units to which durations are rounded, for the longest durations first.
var spanSteps = []struct{ min, unit time.Duration }{
	{100 * time.Minute, time.Minute},
	{time.Minute, time.Second},
	{time.Second, 100 * time.Millisecond},
	{time.Millisecond, 100 * time.Microsecond},
}

// Span formats a duration with about three digits.
func Span(span wire.TimeSpan) string {
	d := time.Duration(span)
	for _, step := range spanSteps {
		if d >= step.min {
			return display.Duration(d.Round(step.unit))
		}
	}
	return d.Round(time.Microsecond).String()
}

// trimTime removes trailing zeros of the fraction of a second.
func trimTime(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
