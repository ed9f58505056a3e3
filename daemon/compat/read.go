package compat

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The columns of the request log of ServiceStack that are read.
const (
	columnMethod = "HttpMethod"
	columnPath   = "PathInfo"
	columnURL    = "AbsoluteUri"
	columnStatus = "StatusCode"
)

// read calls each for the requests of a log, which is one of: the request log of ServiceStack
// as CSV, or as JSON with one or many entries in a value, and the W3C log of IIS.
func read(log io.Reader, each func(Entry) error) error {
	in := bufio.NewReaderSize(log, 64<<10)
	if err := skipMark(in); err != nil {
		return err
	}
	first, err := skipSpace(in)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	switch first {
	case '{', '[':
		if err := readJSON(in, each); err != nil {
			return fmt.Errorf("this is not a request log in JSON: %w", err)
		}
		return nil
	case '#':
		return readW3C(in, each)
	default:
		return readCSV(in, each)
	}
}

// skipMark skips the byte order mark of UTF-8. A file in UTF-16 is an error.
func skipMark(in *bufio.Reader) error {
	const mark = "\ufeff"
	start, err := in.Peek(len(mark))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return errors.New("the file is in UTF-16: save it as UTF-8")
	}
	if string(start) == mark {
		_, _ = in.Discard(len(mark)) // the bytes are in the buffer
	}
	return nil
}

// skipSpace skips white space and returns the byte after it, which it does not skip.
func skipSpace(in *bufio.Reader) (byte, error) {
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c, in.UnreadByte()
		}
	}
}

// entryOf returns the entry for the columns of ServiceStack's log.
func entryOf(method, path, address, status string) (Entry, error) {
	hasPath := path != "" || address != ""
	if method == "" || !hasPath {
		return Entry{}, fmt.Errorf("an entry has no %s, or neither %s nor %s",
			columnMethod, columnPath, columnURL)
	}
	e := Entry{Method: method, Path: path}
	if path == "" {
		u, err := url.Parse(address)
		if err != nil {
			return e, fmt.Errorf("%s %.100q is not a URL", columnURL, address)
		}
		e.Path = u.EscapedPath()
		e.OfHost = true
	}
	e.Status, _ = strconv.Atoi(status) // 0 for none
	return e, nil
}

func readCSV(in io.Reader, each func(Entry) error) error {
	rows := csv.NewReader(in)
	rows.FieldsPerRecord = -1
	rows.LazyQuotes = true
	header, err := rows.Read()
	if err != nil {
		return err
	}
	column := func(name string) int {
		return slices.IndexFunc(header, func(other string) bool {
			return strings.EqualFold(strings.TrimSpace(other), name)
		})
	}
	method := column(columnMethod)
	path := column(columnPath)
	address := column(columnURL)
	status := column(columnStatus)
	hasPath := path >= 0 || address >= 0
	if method < 0 || !hasPath {
		return fmt.Errorf("this is not a request log: the first line has no columns %s and %s or %s, "+
			"like CSV of the .NET service, and does not begin with #, like logs of IIS",
			columnMethod, columnPath, columnURL)
	}
	rows.ReuseRecord = true
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		cell := func(i int) string {
			if i < 0 || i >= len(row) {
				return ""
			}
			return row[i]
		}
		if strings.EqualFold(cell(method), columnMethod) {
			continue // the header of another file that was appended
		}
		e, err := entryOf(cell(method), cell(path), cell(address), cell(status))
		if err != nil {
			line, _ := rows.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

// entry is an entry in JSON. Letter case does not matter.
type entry struct {
	HTTPMethod  string `json:"HttpMethod"`
	PathInfo    string
	AbsoluteURI string `json:"AbsoluteUri"`
	StatusCode  json.Number
}

// results is the member of a response that has the entries.
const results = "Results"

// readJSON reads entries one after the other, in a list, and in the responses to queries.
func readJSON(in io.Reader, each func(Entry) error) error {
	d := json.NewDecoder(in)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('['):
			err = readList(d, each)
		case json.Delim('{'):
			err = readObject(d, each)
		default:
			err = fmt.Errorf("the value before byte %d is not an entry of a request log", d.InputOffset())
		}
		if err != nil {
			return err
		}
	}
}

// readList reads the rest of a list of entries.
func readList(d *json.Decoder, each func(Entry) error) error {
	for d.More() {
		var item entry
		if err := d.Decode(&item); err != nil {
			return err
		}
		if err := report(d, item, each); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// readObject reads the rest of an entry, or of a response with entries.
func readObject(d *json.Decoder, each func(Entry) error) error {
	members := make(map[string]json.RawMessage)
	isResponse := false
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name := token.(string) // as the names of all members
		if strings.EqualFold(name, results) {
			isResponse = true
			start, err := d.Token()
			if err == nil && start == json.Delim('[') {
				err = readList(d, each)
			}
			if err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		members[name] = value
	}
	if _, err := d.Token(); err != nil || isResponse {
		return err
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	var item entry
	if err := json.Unmarshal(text, &item); err != nil {
		return err
	}
	return report(d, item, each)
}

// report calls each for an entry that d has read.
func report(d *json.Decoder, item entry, each func(Entry) error) error {
	e, err := entryOf(item.HTTPMethod, item.PathInfo, item.AbsoluteURI, item.StatusCode.String())
	if err != nil {
		return fmt.Errorf("before byte %d: %w", d.InputOffset(), err)
	}
	return each(e)
}

// The fields of the log of IIS that are read.
const (
	fieldMethod = "cs-method"
	fieldPath   = "cs-uri-stem"
	fieldStatus = "sc-status"
)

// maxLine is the maximum length of a line of IIS, which limits URLs to 16 KiB.
const maxLine = 1 << 20

// Damaged is the error for a log with lines that cannot be read. All other lines were counted.
type Damaged struct {
	Lines int
	First error
}

func (d *Damaged) Error() string {
	return fmt.Sprintf("lines that cannot be read and are not counted: %d; the first: %v", d.Lines, d.First)
}

// add counts a line.
func (d *Damaged) add(err error) {
	d.Lines++
	if d.First == nil {
		d.First = err
	}
}

// readW3C reads a log of IIS. Lines with other numbers of values are left out, such as those with
// zeros after a power failure, and a last one that is being written. If there are any, it fails
// with *Damaged.
func readW3C(in io.Reader, each func(Entry) error) error {
	lines := bufio.NewReaderSize(in, maxLine)
	var fields []string
	var damaged Damaged
	for number := 1; ; number++ {
		line, isLong, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if isLong {
			damaged.add(fmt.Errorf("line %d has more than %d bytes", number, maxLine))
			continue
		}
		if names, ok := strings.CutPrefix(line, "#Fields:"); ok {
			fields = strings.Fields(names)
			if !slices.Contains(fields, fieldMethod) || !slices.Contains(fields, fieldPath) {
				return fmt.Errorf("line %d: the log lacks %s or %s:"+
					" select these fields in IIS, and log some days", number, fieldMethod, fieldPath)
			}
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if fields == nil {
			return fmt.Errorf("line %d comes before a line with #Fields", number)
		}
		values := strings.Fields(line)
		if len(values) != len(fields) {
			damaged.add(fmt.Errorf("line %d has %d values, but #Fields before it lists %d",
				number, len(values), len(fields)))
			continue
		}
		if err := each(entryOfW3C(fields, values)); err != nil {
			return err
		}
	}
	if damaged.Lines > 0 {
		return &damaged
	}
	return nil
}

// readLine returns the next line without blanks around it. isLong reports that it did not fit
// into the buffer, and was left out.
func readLine(in *bufio.Reader) (line string, isLong bool, err error) {
	part, isPrefix, err := in.ReadLine()
	if err != nil {
		return "", false, err
	}
	if !isPrefix {
		return strings.TrimSpace(string(part)), false, nil
	}
	for isPrefix && err == nil {
		_, isPrefix, err = in.ReadLine()
	}
	if errors.Is(err, io.EOF) {
		err = nil // the next call returns it
	}
	return "", true, err
}

// entryOfW3C returns the entry for a line of a log of IIS.
func entryOfW3C(fields, values []string) Entry {
	e := Entry{
		Method: values[slices.Index(fields, fieldMethod)],
		Path:   values[slices.Index(fields, fieldPath)],
		OfHost: true,
	}
	if i := slices.Index(fields, fieldStatus); i >= 0 {
		e.Status, _ = strconv.Atoi(values[i]) // 0 for none
	}
	return e
}
