package query

import (
	"bytes"
	"encoding/csv"
	"strings"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/fault"
)

// keepLineBreaks doubles each CR before an LF in quotes: package csv removes one of them.
func keepLineBreaks(body []byte) []byte {
	var kept []byte
	inQuotes := false
	for i, c := range body {
		if c == '"' {
			inQuotes = !inQuotes
		}
		if inQuotes && c == '\r' && i+1 < len(body) && body[i+1] == '\n' {
			kept = append(kept, c)
		}
		kept = append(kept, c)
	}
	return kept
}

// readCSV reads a CSV body: a header line with names and one line with values.
func readCSV(body []byte) (Members, error) {
	if !utf8.Valid(body) {
		return nil, malformed("the body is not valid UTF-8")
	}
	body = keepLineBreaks(bytes.TrimPrefix(body, utf8Mark))
	lines, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil {
		return nil, fault.Wrap(err, fault.Malformed, "the CSV body cannot be read")
	}
	if len(lines) == 0 {
		return nil, nil
	}
	if len(lines) != 2 {
		return nil, malformed("a CSV body must have a header line and one line of values, not %d lines", len(lines))
	}
	var all collector
	for i, name := range lines[0] {
		m := Member{Name: strings.TrimSpace(name), Empty: lines[1][i] == ""}
		if !m.Empty {
			m.Texts = lines[1][i : i+1 : i+1]
		}
		if err := all.add(m); err != nil {
			return nil, err
		}
	}
	return all.members, nil
}
