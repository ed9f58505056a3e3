package tui

import (
	"time"

	"github.com/bizhook/whd/tui/ui"
)

// timeMode is how times are shown.
type timeMode uint8

const (
	relative timeMode = iota
	local
	utc
)

var timeModes = [...]string{"relative", "local", "UTC"}

// since is how long ago the service did something, by its own clock.
func (a *app) since(at time.Time) time.Duration { return a.now.Add(a.link.ahead).Sub(at) }

// left is how long it takes until the service does something, by its own clock.
func (a *app) left(at time.Time) time.Duration { return -a.since(at) }

// moment is a time as the mode shows it; "-" where there is none.
func (a *app) moment(at time.Time) string {
	switch {
	case at.IsZero():
		return "-"
	case a.times == relative:
		return ui.Age(a.since(at))
	case a.times == utc:
		return at.UTC().Format("01-02 15:04:05")
	}
	return at.In(a.options.Zone).Format("01-02 15:04:05")
}

// clock is the time of day.
func (a *app) clock(at time.Time) string {
	if a.times == utc {
		return at.UTC().Format("15:04:05")
	}
	return at.In(a.options.Zone).Format("15:04:05")
}

// zoneName is the zone of times, where they are not told by their age.
func (a *app) zoneName() string {
	switch a.times {
	case relative:
		return ""
	case utc:
		return " UTC"
	}
	name, _ := a.now.In(a.options.Zone).Zone()
	return " " + name
}
