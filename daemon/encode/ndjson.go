package encode

import "github.com/bizhook/whd/daemon/row"

// ndjsonRows writes one JSON object a line, for pipelines that read line by
// line. It has no envelope: offset and total travel as headers.
type ndjsonRows struct {
	object jsonObject
}

func newNDJSON(s Shape) Encoder { return ndjsonRows{newJSONObject(s)} }

// Begin writes nothing.
func (e ndjsonRows) Begin(dst []byte, _ Head) []byte { return dst }

// Row writes one line.
func (e ndjsonRows) Row(dst []byte, cells []row.Cell) []byte {
	return append(e.object.append(dst, cells), '\n')
}

// End writes nothing.
func (e ndjsonRows) End(dst []byte, _ Tail) []byte { return dst }
