package encodetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// readJSON reads the member Results.
func readJSON(body []byte, _ []string) ([]Row, error) {
	var envelope struct{ Results []json.RawMessage }
	if err := json.Unmarshal(body, &envelope); err != nil {
		return nil, err
	}
	var rows []Row
	for _, object := range envelope.Results {
		row, err := readObject(json.NewDecoder(bytes.NewReader(object)))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// readNDJSON parses each line separately, as NDJSON readers do.
func readNDJSON(body []byte, _ []string) ([]Row, error) {
	var rows []Row
	for line := range bytes.Lines(body) {
		decoder := json.NewDecoder(bytes.NewReader(line))
		row, err := readObject(decoder)
		if err != nil {
			return nil, err
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("more than one object on line %d", len(rows)+1)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// readObject reads an object with members that are strings, numbers or booleans.
func readObject(decoder *json.Decoder) (Row, error) {
	decoder.UseNumber() // keep the digits unchanged
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	row := make(Row)
	for name, value := range object {
		switch v := value.(type) {
		case nil:
		case string:
			row[name] = v
		case json.Number:
			row[name] = v.String()
		case bool:
			row[name] = strconv.FormatBool(v)
		default:
			return nil, fmt.Errorf("%s is %T", name, v)
		}
	}
	return row, nil
}
