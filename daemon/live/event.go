package live

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/bizhook/whd/client/wire"
)

// appendEvent writes one event. An empty id leaves the reader's as it is; the
// data is one line.
func appendEvent(dst []byte, id, name string, data []byte) []byte {
	if id != "" {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	dst = append(append(dst, "event: "...), name...)
	dst = append(append(dst, "\ndata: "...), data...)
	return append(dst, "\n\n"...)
}

// retryAfter is how soon a client that was cut off may come back.
const retryAfter = 2 * time.Second

// greetingSize is how much is sent at the start, mostly padding: proxies that
// gather a reply in a buffer pass on what has filled it.
const greetingSize = 4 << 10

// greeting is the beginning of a stream. Where it cannot go on as asked, the
// reset comes first: with the id behind it, it is taken together or not at all.
func (r *Reader) greeting() []byte {
	out := append([]byte("retry: "), strconv.FormatInt(retryAfter.Milliseconds(), 10)...)
	out = append(out, "\n:"...)
	out = append(out, bytes.Repeat([]byte{' '}, greetingSize-len(out)-2)...)
	out = append(out, "\n\n"...)
	if r.lost != "" {
		out = r.reset(out, r.lost)
	}
	return r.heartbeat(out)
}

// heartbeat carries the id too, so that a client which was cut off before
// anything happened knows where it was.
func (r *Reader) heartbeat(dst []byte) []byte {
	return r.say(dst, wire.EventHeartbeat, wire.Heartbeat{At: wire.Moment(time.Now())})
}

func (r *Reader) reset(dst []byte, reason string) []byte {
	return r.say(dst, wire.EventReset, wire.Reset{Reason: reason})
}

// say writes an event about the stream itself.
func (r *Reader) say(dst []byte, name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic("live: " + err.Error()) // there is nothing in it that JSON has not
	}
	id := ""
	if r.topics.Has(Messages) {
		id = r.hub.id(r.cursor)
	}
	return appendEvent(dst, id, name, text)
}
