package client

import (
	"bytes"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// AppendCell appends the text of a value of a type as cells have it: dates of
// webhooks, which travel in milliseconds, are dates like all others.
func (v Value) AppendCell(dst []byte, t record.Type) []byte {
	start := len(dst)
	dst = v.AppendText(dst)
	if t == record.Epoch && bytes.HasPrefix(dst[start:], []byte("/Date(")) {
		if date, err := wire.ParseDate(string(dst[start:]), time.UTC); err == nil {
			return append(dst[:start], date...)
		}
	}
	return dst
}
