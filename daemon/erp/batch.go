package erp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// rowBatch collects rows for one statement: an array of rows, each an array of
// its values in JSON. Bytes travel beside them, in one piece from which each row
// takes its own, since servers do not agree on what base64 in JSON means: such
// a column's value is where its bytes begin, and behind the values of all
// columns come their lengths.
type rowBatch struct {
	statement string
	blobs     []int // the columns of bytes
	json      []byte
	bytes     []byte
	rows      int64
}

// batchSize is how much a statement takes, in bytes.
const batchSize = 256 << 10

func (b *rowBatch) prepare(into string, kind *record.Kind, types []serverType) {
	var values, items []string
	for i, f := range kind.Fields {
		item, value := types[i].name, fmt.Sprintf("c%d", i)
		if f.Type == record.Bytes {
			item, value = "int", fmt.Sprintf("SUBSTRING(@p2, c%d, n%d)", i, i)
			items = append(items, fmt.Sprintf("n%d int '$[%d]'", i, len(kind.Fields)+len(b.blobs)))
			b.blobs = append(b.blobs, i)
		}
		values = append(values, value)
		items = append(items, fmt.Sprintf("c%d %s '$[%d]'", i, item, i))
	}
	b.statement = into + " SELECT " + strings.Join(values, ", ") + " FROM OPENJSON(@p1) WITH (" + strings.Join(items, ", ") + ")"
}

func (b *rowBatch) add(values []any) {
	var lengths []any
	for _, i := range b.blobs {
		content, ok := values[i].([]byte)
		lengths = append(lengths, len(content))
		if ok {
			values[i] = len(b.bytes) + 1
			b.bytes = append(b.bytes, content...)
		}
	}
	text, err := json.Marshal(append(values, lengths...))
	if err != nil {
		panic("erp: " + err.Error()) // texts and numbers can always be written
	}
	b.json = append(append(b.json, ','), text...)
	b.rows++
}
