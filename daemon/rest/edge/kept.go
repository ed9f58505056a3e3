package edge

import (
	"errors"
	"fmt"
	"net/http"
)

// ErrNoRoom is the error of a response that is longer than the room in which it is kept.
var ErrNoRoom = errors.New("the response is longer than the room for it")

// Kept is a ResponseWriter that keeps the body of a response.
type Kept struct {
	Body []byte
	Room int  // maximum length of Body
	Drop bool // the body is not kept
	Full bool // the body was longer than Room

	header http.Header
}

// Header returns the headers of the response.
func (k *Kept) Header() http.Header {
	if k.header == nil {
		k.header = make(http.Header)
	}
	return k.header
}

// WriteHeader ignores the status: failures are errors of the handler.
func (k *Kept) WriteHeader(int) {}

// Flush has nothing to do.
func (k *Kept) Flush() {}

// Write keeps bytes while there is room.
func (k *Kept) Write(b []byte) (int, error) {
	if k.Drop {
		return len(b), nil
	}
	k.Full = k.Full || len(k.Body)+len(b) > k.Room
	if k.Full {
		return 0, fmt.Errorf("%w: %d bytes", ErrNoRoom, k.Room)
	}
	k.Body = append(k.Body, b...)
	return len(b), nil
}
