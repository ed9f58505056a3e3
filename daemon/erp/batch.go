package erp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bizhook/whd/client/record"
)

// rowBatch collects rows for one INSERT statement. Rows are a JSON array of arrays of
// column values. Binary values are sent in a second parameter, concatenated, because
// servers decode base64 in JSON differently: the value of a binary column is its offset
// there, and the lengths follow the values of all columns.
type rowBatch struct {
	statement string
	blobs     []int  // indexes of binary columns
	json      []byte // rows, each after a comma
	bytes     []byte // concatenated binary values
	rows      int64
}

// batchSize is the size in bytes at which a batch is inserted.
const batchSize = 256 << 10

// prepare builds the statement; into is its start up to the names of the columns.
func (b *rowBatch) prepare(into string, kind *record.Kind, types []serverType) {
	var values, items []string
	for i, f := range kind.Fields {
		item := types[i].name
		value := fmt.Sprintf("c%d", i)
		if f.Type == record.Bytes {
			item = "int"
			value = fmt.Sprintf("SUBSTRING(@p2, c%d, n%d)", i, i)
			items = append(items, fmt.Sprintf("n%d int '$[%d]'", i, len(kind.Fields)+len(b.blobs)))
			b.blobs = append(b.blobs, i)
		}
		values = append(values, value)
		items = append(items, fmt.Sprintf("c%d %s '$[%d]'", i, item, i))
	}
	b.statement = into + " SELECT " + strings.Join(values, ", ") + " FROM OPENJSON(@p1) WITH (" +
		strings.Join(items, ", ") + ")"
}

// add adds a row. It changes values.
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
		panic("erp: " + err.Error()) // strings and numbers can always be encoded
	}
	b.json = append(b.json, ',')
	b.json = append(b.json, text...)
	b.rows++
}
