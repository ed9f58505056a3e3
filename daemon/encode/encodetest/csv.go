package encodetest

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
)

// readCSV reads the rows after the header line.
func readCSV(body []byte, names []string) ([]Row, error) {
	lines, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], names) {
		return nil, fmt.Errorf("the header line differs from %q", names)
	}
	return byColumn(lines[1:], names)
}

// byColumn turns values in column order into rows.
func byColumn(rows [][]string, names []string) ([]Row, error) {
	var read []Row
	for n, values := range rows {
		if len(values) != len(names) {
			return nil, fmt.Errorf("row %d has %d values for %d columns", n+1, len(values), len(names))
		}
		row := make(Row)
		for i, name := range names {
			row[name] = values[i]
		}
		read = append(read, row)
	}
	return read, nil
}
