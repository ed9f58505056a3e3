package tui

import (
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/bizhook/whd/tui/theme"
)

// queryTimeout limits the wait for the response to the background query. Local terminals
// that support it respond within a millisecond. A later response sets the theme when it arrives.
const queryTimeout = 80 * time.Millisecond

// backgroundQuery queries the background colour (OSC 11) and the device attributes (DA1).
// Nearly all terminals respond to DA1, which marks the end of the responses.
const backgroundQuery = "\x1b]11;?\x1b\\\x1b[c"

var (
	background = regexp.MustCompile(`\x1b\]11;rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`)
	attributes = regexp.MustCompile(`^\x1b\[\?[0-9;]*c$`)
)

// queryTheme queries the terminal for its background and returns Dark if there is no
// response within the time limit. Keys that arrive before it are kept for Read.
func (in *terminalInput) queryTheme(out io.Writer, limit time.Duration) string {
	if in.cooked == nil {
		return theme.Dark
	}
	if _, err := io.WriteString(out, backgroundQuery); err != nil {
		return theme.Dark
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for !in.responded {
		if err := in.await(timer.C); err != nil {
			break
		}
	}
	if in.responded {
		in.escapeDelay = fastEscapeDelay
	}
	select {
	case reported := <-in.themes:
		return reported
	default:
		return theme.Dark
	}
}

// parseTheme returns the theme for a response, false if it is not about the background.
func parseTheme(response []byte) (string, bool) {
	match := background.FindSubmatch(response)
	if match == nil {
		return "", false
	}
	// Luma of red, green and blue (ITU-R BT.601), from 0 for black to 1 for white.
	luma := 0.299*intensity(match[1]) + 0.587*intensity(match[2]) + 0.114*intensity(match[3])
	if luma > 0.5 {
		return theme.Light, true
	}
	return theme.Dark, true
}

// intensity returns the value of one to four hexadecimal digits as a part of their maximum.
func intensity(digits []byte) float64 {
	n, _ := strconv.ParseUint(string(digits), 16, 16) // the pattern matches only hexadecimal digits
	limit := uint64(1)<<(4*len(digits)) - 1
	return float64(n) / float64(limit)
}
