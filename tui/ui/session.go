package ui

import (
	"context"
	"strings"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
)

// Session is the state that the screens of a profile share. Only the app and its parts in
// package tui/session change it; switching to another profile creates a new one.
type Session struct {
	Clock
	Client   *client.Client
	Context  context.Context // done when the session ends
	Theme    *theme.Theme
	Registry *record.Registry
	// FetchKinds returns the record kinds of the service; nil to keep Registry.
	FetchKinds func(context.Context, *client.Client) (*record.Registry, error)
	State      *state.Store        // settings that are stored between runs
	History    map[string][]string // input history, by kind of input
	Queues     Queues
	// FailedRequests counts requests with an error of the service, since the live stream connected.
	FailedRequests HourCount
	Events         []wire.Event // that the service publishes; nil until loaded

	URL         string
	Profile     string // empty for none
	Colour      string // of the profile; empty for none
	InsecureTLS bool   // certificates are not verified
	Downloads   string // default directory of exports
	Access      Access
	ReadOnly    bool
	Paused      bool  // live updates are paused
	Rejection   error // why the service has rejected the credentials, nil after the next sign-in

	Columns, Rows int  // size of the screen in front, in cells
	Frames        bool // there is room for the frames of panels
}

// MayPoll reports whether the screens may fetch data that the user has not requested. Rejected
// credentials are not sent again and again: the service limits failed logins, and would refuse the
// sign-in of the user.
func (s *Session) MayPoll() bool { return !s.Paused && s.Rejection == nil }

// Access is the permission to read and change data.
type Access struct {
	User string // the signed-in user, or the expected one until it is known
	Role string // role of the signed-in user; empty until known
	// EmbeddedRecords reports whether reading all business records burdens no database server; false
	// until known.
	EmbeddedRecords bool
	Protected       bool // confirmations require the name of the profile
	// Unlock returns a client that may change data; nil if ReadOnly cannot be lifted.
	Unlock func() (*client.Client, error)
}

// protected reports whether confirmations require the name of the profile.
func (s *Session) protected() bool { return s.Access.Protected && s.Profile != "" }

// WhyReadOnly explains why changes are not allowed and how to allow them, "" if they are
// allowed.
func (s *Session) WhyReadOnly() string {
	switch {
	case s.Access.Role == "reader" || s.Access.Role == "publisher":
		return "the role " + s.Access.Role + " cannot change data"
	case !s.ReadOnly:
		return ""
	case s.Access.Unlock == nil:
		return "started with --read-only"
	case s.protected():
		return "protected profile: enter :rw " + s.Profile
	}
	return "read-only: enter :rw"
}

// NeedsAdmin explains why an action cannot be used that requires the role admin, "" if it
// can or if the role is not known yet.
func (s *Session) NeedsAdmin() string {
	if s.Access.Role == "" || s.Access.Role == "admin" {
		return ""
	}
	return "requires the role admin; yours is " + s.Access.Role
}

// NeedsTypedAnswer reports whether a confirmation about count objects requires a typed
// word.
func (s *Session) NeedsTypedAnswer(count int) bool { return s.protected() || count >= typedCountMin }

// remember adds an input to the history, except the command rw with the name of a protected
// profile, which has to be typed each time.
func (s *Session) remember(kind, text string) {
	list := s.History[kind]
	isRepeated := len(list) > 0 && list[len(list)-1] == text
	namesProfile := kind == CommandHistory && strings.HasPrefix(text, "rw ")
	if text == "" || namesProfile || isRepeated {
		return
	}
	s.History[kind] = append(list, text)
	if kind == CommandHistory {
		s.State.AddCommand(text)
	}
}

// HourCount counts events of the last hour by minute.
type HourCount struct {
	minutes [60]int64
	last    int64 // the last minute with events, from 1970
}

// Add adds events that happened now.
func (c *HourCount) Add(now time.Time, n int) {
	if n == 0 {
		return
	}
	c.advance(now)
	c.minutes[c.last%int64(len(c.minutes))] += int64(n)
}

// Total returns the number of events of the last hour.
func (c *HourCount) Total(now time.Time) int64 {
	c.advance(now)
	var total int64
	for _, n := range c.minutes {
		total += n
	}
	return total
}

// advance forgets minutes that are older than an hour.
func (c *HourCount) advance(now time.Time) {
	current := now.Unix() / 60
	length := int64(len(c.minutes))
	for c.last = max(c.last, current-length); c.last < current; {
		c.last++
		c.minutes[c.last%length] = 0
	}
}

// CommandHistory is the history key of commands.
const CommandHistory = "command"

// TimeMode is the format of times.
type TimeMode uint8

// The time modes.
const (
	Relative TimeMode = iota // age, or time until
	Local
	UTC
)

// TimeModes are the names of the time modes.
var TimeModes = [...]string{"relative", "local", "UTC"}

// Clock formats times. Times set by the service are UTC and are shown as an age, in
// local time or in UTC. Dates in records have no time zone and are shown unchanged.
type Clock struct {
	Now          time.Time     // time of the current update
	ServerOffset time.Duration // difference between the clock of the service and the local clock
	Zone         *time.Location
	Times        TimeMode
}

// Since returns the time that has passed since t, by the clock of the service.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now.Add(c.ServerOffset).Sub(t) }

// TimeUntil returns the time until t, by the clock of the service.
func (c *Clock) TimeUntil(t time.Time) time.Duration { return -c.Since(t) }

// InZone converts a time to the time zone of the mode.
func (c *Clock) InZone(t time.Time) time.Time {
	if c.Times == UTC {
		return t.UTC()
	}
	return t.In(c.Zone)
}

// TimeText formats a time according to the mode, "-" for the zero time.
func (c *Clock) TimeText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if c.Times == Relative {
		return Age(c.Since(t))
	}
	return c.InZone(t).Format("01-02 15:04:05")
}

// TimeUntilText formats a time in the future as TimeText formats one in the past: in 6m.
func (c *Clock) TimeUntilText(t time.Time) string {
	if c.Times == Relative && !t.IsZero() {
		return Until(c.TimeUntil(t))
	}
	return c.TimeText(t)
}

// ShortTime formats a time without seconds, and with its date if it is not within half a day.
func (c *Clock) ShortTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if since := c.Since(t); since > 12*time.Hour || since < -12*time.Hour {
		return c.InZone(t).Format("01-02 15:04")
	}
	return c.InZone(t).Format("15:04")
}

// ShortSince formats a time in the past according to the mode: 2m ago, or 09:25.
func (c *Clock) ShortSince(t time.Time) string {
	if c.Times == Relative && !t.IsZero() {
		return Age(c.Since(t)) + " ago"
	}
	return c.ShortTime(t)
}

// NextText describes when something happens next according to the mode, with a label: "next in 6m",
// "next at 09:31" or "due now". It is "" if the time is not known.
func (c *Clock) NextText(label string, next time.Time) string {
	if next.IsZero() {
		return ""
	}
	until := c.TimeUntil(next)
	if c.Times == Relative || until <= 0 {
		return Next(label, until)
	}
	return strings.TrimSpace(label + " at " + c.ShortTime(next))
}

// TimeOfDay formats the time of day.
func (c *Clock) TimeOfDay(t time.Time) string { return c.InZone(t).Format("15:04:05") }

// ZoneName returns the time zone preceded by a space, "" for relative times.
func (c *Clock) ZoneName() string {
	switch c.Times {
	case Relative:
		return ""
	case UTC:
		return " UTC"
	}
	name, _ := c.Now.In(c.Zone).Zone()
	return " " + name
}

// ParseTime parses a time set by the service.
func ParseTime(text string) (time.Time, bool) {
	t, err := time.Parse(wire.DateLayout, text)
	return t, err == nil
}

// ServerTimeText formats a time set by the service for lists.
func (c *Clock) ServerTimeText(text string) string {
	if t, ok := ParseTime(text); ok {
		return c.TimeText(t)
	}
	return text
}

// FullServerTime formats a time set by the service with date and milliseconds.
func (c *Clock) FullServerTime(text string) string {
	t, ok := ParseTime(text)
	if !ok {
		return text
	}
	if c.Times == UTC {
		return t.Format("2006-01-02 15:04:05.000") + " UTC"
	}
	shown := t.In(c.Zone).Format("2006-01-02 15:04:05.000 MST")
	if c.Times == Relative {
		shown = Age(c.Since(t)) + " ago   " + shown
	}
	return shown
}
