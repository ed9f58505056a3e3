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

// Session is what the screens of a profile share. The app alone changes it; with
// another profile begins another one.
type Session struct {
	Clock
	Client     *client.Client
	Context    context.Context // ends with the session
	Theme      *theme.Theme
	Registry   *record.Registry
	State      *state.Store        // of what outlives the session
	History    map[string][]string // of lines that were typed, by their kind
	Queues     Queues
	EventNames []string // those that the service has beside the published ones; nil while it has not said

	URL       string
	Profile   string // its name, empty for none
	Downloads string // the directory that exports go to unless another is named
	Protected bool   // a change takes the name of the profile
	ReadOnly  bool
	Paused    bool // what is live is held back

	Columns, Rows int // of the screen in front
}

// remember keeps a line that was typed, but for the name that a protected
// profile wants to be typed each time.
func (s *Session) remember(kind, text string) {
	list := s.History[kind]
	if text == "" || strings.HasPrefix(text, "rw ") || len(list) > 0 && list[len(list)-1] == text {
		return
	}
	s.History[kind] = append(list, text)
	if kind == CommandHistory {
		s.State.AddCommand(text)
	}
}

// CommandHistory is what typed commands are found under.
const CommandHistory = "command"

// TimeMode is how times are shown.
type TimeMode uint8

const (
	Relative TimeMode = iota
	Local
	UTC
)

// TimeModes are the names of the modes.
var TimeModes = [...]string{"relative", "local", "UTC"}

// Clock shows times. Those that the service itself writes are UTC: they are shown
// as ages, in the local zone or in UTC. Those of the business have no zone, and
// may be of next year: they stay as the service has them.
type Clock struct {
	Now          time.Time     // when the last message came
	ServerOffset time.Duration // how far the service's clock is ahead of ours
	Zone         *time.Location
	Times        TimeMode
}

// Since is how long ago the service did something, by its own clock.
func (c *Clock) Since(at time.Time) time.Duration { return c.Now.Add(c.ServerOffset).Sub(at) }

// TimeUntil is how long it takes until the service does something, by its own clock.
func (c *Clock) TimeUntil(at time.Time) time.Duration { return -c.Since(at) }

// InZone is a time in the zone in which times of day are shown.
func (c *Clock) InZone(at time.Time) time.Time {
	if c.Times == UTC {
		return at.UTC()
	}
	return at.In(c.Zone)
}

// TimeText is a time as the mode shows it; "-" where there is none.
func (c *Clock) TimeText(at time.Time) string {
	switch {
	case at.IsZero():
		return "-"
	case c.Times == Relative:
		return Age(c.Since(at))
	}
	return c.InZone(at).Format("01-02 15:04:05")
}

// TimeOfDay is the time of day.
func (c *Clock) TimeOfDay(at time.Time) string { return c.InZone(at).Format("15:04:05") }

// ZoneName is the zone of times, where they are not told by their age.
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

// ParseTime reads a time that the service wrote itself.
func ParseTime(text string) (time.Time, bool) {
	at, err := time.Parse(wire.DateLayout, text)
	return at, err == nil
}

// ServerTimeText is a time of the service as lists show it.
func (c *Clock) ServerTimeText(text string) string {
	if at, ok := ParseTime(text); ok {
		return c.TimeText(at)
	}
	return text
}

// FullServerTime is a time of the service where there is room for all of it.
func (c *Clock) FullServerTime(text string) string {
	at, ok := ParseTime(text)
	switch {
	case !ok:
		return text
	case c.Times == UTC:
		return at.Format("2006-01-02 15:04:05.000") + " UTC"
	}
	shown := at.In(c.Zone).Format("2006-01-02 15:04:05.000 MST")
	if c.Times == Relative {
		shown = Age(c.Since(at)) + " ago   " + shown
	}
	return shown
}
