package client

import (
	"bytes"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// AppendCell appends the text of a value for a table cell. Dates of webhooks, which are
// milliseconds on the wire, are formatted like other dates.
func (v Value) AppendCell(dst []byte, t record.Type) []byte {
	start := len(dst)
	dst = v.AppendText(dst)
	if t == record.Epoch && bytes.HasPrefix(dst[start:], []byte("/Date(")) {
		if date, err := wire.ParseDate(string(dst[start:]), time.UTC); err == nil {
			return append(dst[:start], date...)
		}
	}
	if t == record.Epoch && len(dst)-start == len(wire.DateLayout)+1 {
		return bytes.TrimSuffix(dst, []byte("Z"))
	}
	return dst
}
