package service

import (
	"strings"
	"unicode/utf16"
)

// maxEventText is the maximum length of an entry of the Windows event log, in UTF-16 units. Windows
// rejects entries with more than 31,839.
const maxEventText = 31_800

// eventText returns a text as the Windows event log accepts it: a long one ends early, and zero bytes,
// which an error may quote from a file in UTF-16, are escaped. Otherwise the whole entry would be lost.
// It has no line break at the end, since the log has none between entries.
func eventText(text string) string {
	const ellipsis = "..."
	text = strings.TrimRight(text, "\r\n")
	text = strings.ReplaceAll(text, "\x00", `\x00`)
	length := 0
	end := 0 // where the text ends if it is too long
	for i, r := range text {
		if length <= maxEventText-len(ellipsis) {
			end = i
		}
		length += utf16.RuneLen(r)
		if length > maxEventText {
			return text[:end] + ellipsis
		}
	}
	return text
}
