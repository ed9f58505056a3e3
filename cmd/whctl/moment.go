package main

import (
	"time"

	"github.com/bizhook/whd/client/wire"
)

// momentText is a time of the service, empty where there is none.
func momentText(m wire.Moment) string {
	if time.Time(m).IsZero() {
		return ""
	}
	return time.Time(m).UTC().Format(time.RFC3339)
}
