package tui

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/bizhook/whd/tui/grid"
)

// timeMode is how times are shown.
type timeMode uint8

const (
	relative timeMode = iota
	local
	utc
)

var timeModes = [...]string{"relative", "local", "UTC"}

// age is how long ago something was, in its largest unit: steps are coarse, so
// that lines change seldom.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// until is how long it takes until something is due.
func until(d time.Duration) string {
	if d <= 0 {
		return "due"
	}
	return "in " + age(d)
}

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
		return age(a.since(at))
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

// shortID is the ends of an id: a SubscriberID is a secret.
func shortID(id string) string {
	if len(id) <= 10 {
		return id
	}
	return id[:4] + ".." + id[len(id)-4:]
}

// shortURL is an address without what nearly all of them have, and without what
// stands behind its ?, which can be a key.
func shortURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	short := u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		short += "?.."
	}
	return short
}

// size is a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// plural counts things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grid.Thousands(n) + " " + many
}
