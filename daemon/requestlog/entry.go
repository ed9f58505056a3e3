// Package requestlog remembers who asked what, and what became of it: one entry
// for each request, written behind the back of those who ask.
//
// Nothing here may hold a request up. Record puts an entry into a buffer of
// bounded size and returns; one goroutine writes what has gathered, in batches.
// Where the store is slower than the requests, or fails, the buffer fills and
// the newest entries are dropped and counted.
//
// No entry holds a secret: mask.go says what is one.
package requestlog

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is what is remembered of one request. An empty text means that there is
// nothing to tell.
type Entry struct {
	At       time.Time // when the request was over
	Status   int
	Duration time.Duration
	Texts    [Texts]string
}

// The texts of an entry, in the order of the record kind RequestLog.
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
	Texts // their number
)

// columns say under which name a text is stored, and how many bytes of it. Those
// of JSON are bounded where they are made, since a part of JSON is none.
var columns = [Texts]struct {
	name string
	most int
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

// Bounds of what an entry holds, in bytes.
const (
	MaxBody = 16 << 10 // of a body
	maxJSON = 4 << 10  // of members, of headers
)

// Column is the name of a text.
func Column(text int) string { return columns[text].name }

// bound cuts texts that are too long.
func (e *Entry) bound() {
	for i := range e.Texts {
		if most := columns[i].most; most > 0 && len(e.Texts[i]) > most {
			e.Texts[i] = cut(e.Texts[i], most)
		}
	}
}

// cut is the beginning of a text, with a mark where something is missing.
func cut(text string, most int) string {
	const mark = "..."
	if len(text) <= most {
		return text
	}
	end := max(0, most-len(mark))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark[:min(len(mark), most)]
}

// Size is about what an entry takes, in bytes.
func (e *Entry) Size() int {
	size := 64
	for i := range e.Texts {
		size += len(e.Texts[i])
	}
	return size
}

// Plain makes text of a body: valid UTF-8 without zero bytes, which not every
// database takes, and of bounded length.
func Plain(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), MaxBody+1)]), "\uFFFD")
	return cut(strings.ReplaceAll(text, "\x00", "\uFFFD"), MaxBody)
}

// Store keeps entries. Its failures of the kind fault.Unavailable pass.
type Store interface {
	// Append adds entries, all or none, in their order.
	Append(ctx context.Context, entries []Entry) error
	// Prune removes a few of the oldest entries where they are from before a
	// time or all entries together take more than so many bytes. It reports
	// whether there may be more to remove.
	Prune(ctx context.Context, before time.Time, maxBytes int64) (more bool, err error)
}
