package encode

import "github.com/bizhook/whd/client/wire"

// envelope is the reply to a query that failed before its first row.
type envelope struct {
	Offset         int
	Results        [0]struct{}
	Total          int
	Meta           struct{}
	ResponseStatus wire.ResponseStatus
}

// Failure writes an error reply. Queries, which are those with a shape, answer
// with their whole envelope where the format has one.
func (f Format) Failure(dst []byte, s wire.ResponseStatus, query *Shape) []byte {
	if f.failure != nil {
		return f.failure(dst, s)
	}
	name, reply := "ErrorResponse", any(wire.Failure{ResponseStatus: s})
	if query != nil && !f.bare {
		name, reply = responseName(query.Operation), envelope{ResponseStatus: s}
	}
	dst, err := f.Document(dst, name, reply)
	if err != nil {
		panic(err) // texts and numbers alone always have a JSON form
	}
	return dst
}
