package ui

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/bizhook/whd/tui/theme"
)

// Age is how long ago something was, in its largest unit: steps are coarse, so
// that lines change seldom.
func Age(d time.Duration) string {
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

// Until is how long it takes until something is due.
func Until(d time.Duration) string {
	if d <= 0 {
		return "due"
	}
	return "in " + Age(d)
}

// ShortID is the ends of an id: a SubscriberID is a secret.
func ShortID(id string) string {
	if len(id) <= 10 {
		return id
	}
	return id[:4] + ".." + id[len(id)-4:]
}

// ShortURL is an address without what nearly all of them have, and without what
// stands behind its ?, which can be a key.
func ShortURL(text string) string {
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

// Size is a number of bytes for people.
func Size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// Plural counts things.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return theme.Thousands(n) + " " + many
}
