// Package requestlog logs requests and their results: one entry for each request,
// written in the background.
//
// Logging never delays a request. Record puts an entry into a bounded buffer and
// returns; one goroutine writes the buffered entries in batches. If the store fails
// or is slower than the requests, the buffer fills up and new entries are dropped
// and counted.
//
// Entries contain no secrets; see mask.go.
package requestlog

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is the log entry of one request. An empty text is stored as NULL.
type Entry struct {
	At       time.Time // end of the request
	Status   int
	Duration time.Duration
	Texts    [Texts]string
}

// Texts of an entry, in the order of the record kind RequestLog.
const (
	StatusDescription = iota
	HTTPMethod
	AbsoluteURI
	PathInfo
	RequestBody
	RequestDto
	UserAuthID
	SessionID
	IPAddress
	ForwardedFor
	Referer
	Headers
	FormData
	Items
	Session
	ResponseDto
	ErrorResponse
	ExceptionSource
	ExceptionData
	Texts // number of texts
)

// columns are the column names of the texts and their maximum length in bytes. JSON
// texts are bounded when they are built, since truncated JSON is invalid.
var columns = [Texts]struct {
	name     string
	maxBytes int
}{
	StatusDescription: {"StatusDescription", 100},
	HTTPMethod:        {"HttpMethod", 20},
	AbsoluteURI:       {"AbsoluteUri", 4000},
	PathInfo:          {"PathInfo", 2000},
	RequestBody:       {"RequestBody", MaxBody},
	RequestDto:        {"RequestDto", 0},
	UserAuthID:        {"UserAuthId", 256},
	SessionID:         {"SessionId", 8},
	IPAddress:         {"IpAddress", 64},
	ForwardedFor:      {"ForwardedFor", 500},
	Referer:           {"Referer", 2000},
	Headers:           {"Headers", 0},
	FormData:          {"FormData", 0},
	Items:             {"Items", 0},
	Session:           {"Session", 0},
	ResponseDto:       {"ResponseDto", 0},
	ErrorResponse:     {"ErrorResponse", 0},
	ExceptionSource:   {"ExceptionSource", 256},
	ExceptionData:     {"ExceptionData", 0},
}

// Bounds of an entry, in bytes.
const (
	MaxBody = 16 << 10 // of the part of a request's body that is logged
	maxJSON = 4 << 10  // of members and headers
)

// Column returns the column name of a text.
func Column(text int) string { return columns[text].name }

// bound truncates texts that are too long.
func (e *Entry) bound() {
	for i := range e.Texts {
		if maxBytes := columns[i].maxBytes; maxBytes > 0 && len(e.Texts[i]) > maxBytes {
			e.Texts[i] = truncate(e.Texts[i], maxBytes)
		}
	}
}

// truncate returns at most maxBytes of a text, ending with "..." if it was
// truncated.
func truncate(text string, maxBytes int) string {
	const mark = "..."
	if len(text) <= maxBytes {
		return text
	}
	end := max(0, maxBytes-len(mark))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark[:min(len(mark), maxBytes)]
}

// BaseSize is the size of an entry without texts.
const BaseSize = 64

// Size returns the approximate size of an entry in bytes.
func (e *Entry) Size() int {
	size := BaseSize
	for i := range e.Texts {
		size += len(e.Texts[i])
	}
	return size
}

// Anonymous reports whether the request had no login.
func (e *Entry) Anonymous() bool { return e.Texts[UserAuthID] == "" }

// AnonymousShare is the part (1/4) of the log, and of the buffer, that anonymous requests may
// fill: every client can send them, and they must not push out the other entries.
const AnonymousShare = 4

// BodyText converts a body to text of bounded length: valid UTF-8 without zero
// bytes, which not every database stores.
func BodyText(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), MaxBody+1)]), "\uFFFD")
	return truncate(strings.ReplaceAll(text, "\x00", "\uFFFD"), MaxBody)
}

// Store stores entries. Errors of the kind fault.Unavailable are temporary.
type Store interface {
	// Append adds entries atomically, in their order.
	Append(ctx context.Context, entries []Entry) error
	// Prune removes a few of the oldest entries if they were added before a time or
	// if all entries exceed maxBytes: anonymous ones if those exceed their share. It
	// reports whether there may be more to remove.
	Prune(ctx context.Context, before time.Time, maxBytes int64) (hasMore bool, err error)
}
