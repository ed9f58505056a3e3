package tui

import (
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"github.com/bizhook/whd/tui/theme"
)

// queryTimeout limits the wait for the response to the background query. Local terminals
// that support it respond within a millisecond.
const queryTimeout = 80 * time.Millisecond

// backgroundQuery queries the background colour (OSC 11) and the device attributes (DA1).
// Nearly all terminals respond to DA1, which marks the end of the responses.
const backgroundQuery = "\x1b]11;?\x1b\\\x1b[c"

var (
	background = regexp.MustCompile(`\x1b\]11;rgb:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`)
	attributes = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
)

// fileDescriptor is implemented by os.File.
type fileDescriptor interface{ Fd() uintptr }

// queryTheme queries the terminal for its background and returns Dark if there is no
// response within the time limit.
func queryTheme(in io.Reader, out io.Writer, limit time.Duration) string {
	file, ok := in.(fileDescriptor)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return theme.Dark
	}
	cooked, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return theme.Dark
	}
	defer func() { _ = term.Restore(int(file.Fd()), cooked) }()
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return theme.Dark
	}
	defer reader.Close()
	if _, err := io.WriteString(out, backgroundQuery); err != nil {
		return theme.Dark
	}
	timer := time.AfterFunc(limit, func() { reader.Cancel() })
	defer timer.Stop()
	return parseTheme(readResponse(reader))
}

// maxResponse is the maximum length of the responses in bytes.
const maxResponse = 1 << 10

// readResponse reads until the response to DA1 or the timeout.
func readResponse(r io.Reader) []byte {
	var all []byte
	buffer := make([]byte, 256)
	for !attributes.Match(all) && len(all) < maxResponse {
		n, err := r.Read(buffer)
		all = append(all, buffer[:n]...)
		if err != nil {
			break
		}
	}
	return all
}

// parseTheme returns the theme for a response.
func parseTheme(response []byte) string {
	match := background.FindSubmatch(response)
	if match == nil {
		return theme.Dark
	}
	// Luma of red, green and blue (ITU-R BT.601), from 0 for black to 1 for white.
	luma := 0.299*intensity(match[1]) + 0.587*intensity(match[2]) + 0.114*intensity(match[3])
	if luma > 0.5 {
		return theme.Light
	}
	return theme.Dark
}

// intensity returns the value of one to four hexadecimal digits as a part of their maximum.
func intensity(digits []byte) float64 {
	n, _ := strconv.ParseUint(string(digits), 16, 16) // the pattern matches only hexadecimal digits
	limit := uint64(1)<<(4*len(digits)) - 1
	return float64(n) / float64(limit)
}
