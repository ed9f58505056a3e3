package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
)

// systemKind is a kind of what the service keeps itself.
func systemKind(name string) *record.Kind {
	kind, ok := record.System().Lookup(name)
	if !ok {
		panic("whctl: no kind " + name) // a mistake of the caller, caught by any test of it
	}
	return kind
}

// listFlags are those of commands that list.
func listFlags() []cli.Flag { return append(queryFlags(), outputFlags()...) }

// keyFlag is for what shows SubscriberIDs.
func keyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "full", Usage: "show SubscriberIDs whole on a terminal; whoever knows one can use it"}
}

// ForPeople reports whether a format is one to read, rather than to work with.
func (f Format) ForPeople() bool { return f.Name == "table" || f.Name == "vertical" }

// HiddenKeys are the fields of which only the ends are shown, since others may
// look at the screen too.
func (p *Printer) HiddenKeys(f Format, keys []string) []string {
	if !f.ForPeople() || !p.OnScreen() || p.Context.Bool("full") {
		return nil
	}
	return keys
}

// shortID is the ends of an id.
func shortID(id string) string {
	if len(id) <= 10 {
		return id
	}
	return id[:4] + ".." + id[len(id)-4:]
}

// Shortened is rows with only the ends of some fields.
func Shortened(rows iter.Seq2[client.Row, error], fields []string) iter.Seq2[client.Row, error] {
	if len(fields) == 0 {
		return rows
	}
	return func(yield func(client.Row, error) bool) {
		for row, err := range rows {
			if err == nil {
				row, err = ShortenedRow(row, fields)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

func ShortenedRow(row client.Row, fields []string) (client.Row, error) {
	text := []byte{'{'}
	for name, value := range row.All() {
		if len(text) > 1 {
			text = append(text, ',')
		}
		if slices.Contains(fields, name) && !value.Null() {
			value = fmt.Appendf(nil, "%q", shortID(value.String()))
		}
		if value.Null() {
			value = []byte("null")
		}
		text = append(fmt.Appendf(text, "%q:", name), value...)
	}
	return client.ParseRow(append(text, '}'))
}

// Documents prints documents of the service. Of those of a kind the columns are
// its fields; JSON has all that they hold. Of keys, a screen shows the ends only.
func Documents[T any](p *Printer, columns []Column, keys []string, documents ...T) error {
	f, err := p.Format()
	if err != nil {
		return err
	}
	var rows []client.Row
	for _, document := range documents {
		row, err := DocumentRow(document)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	_, err = p.Rows(columns, Shortened(Each(rows), p.HiddenKeys(f, keys)))
	return err
}

// DocumentRow is a document as a row.
func DocumentRow(document any) (client.Row, error) {
	text, err := DocumentText(document)
	if err != nil {
		return client.Row{}, err
	}
	return client.ParseRow(text)
}

// DocumentText is a document as JSON, as the service would write it.
func DocumentText(document any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(document)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// newFlags are those of commands that make something.
func newFlags(others ...cli.Flag) []cli.Flag {
	return slices.Concat(others, []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print all of what was made, not only its id"}}, changeFlags())
}

// tellNew prints the id of something that was made, or with --json all of it.
func (p *program) tellNew(c *cli.Context, id string, document any) error {
	text := []byte(id)
	if c.Bool("json") {
		var err error
		if text, err = DocumentText(document); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.stdout, "%s\n", text)
	return err
}

// forEach does something to each of several and goes on after a failure. What
// it did is told for each.
func (p *program) forEach(c *cli.Context, names []string, do func(name string) (done string, err error)) error {
	failed := 0
	for _, name := range names {
		done, err := do(name)
		switch {
		case err != nil && (len(names) == 1 || c.Context.Err() != nil || endsQuietly(err)):
			return err
		case err != nil:
			failed++
			p.notice(c, "%s: %s", name, err)
		default:
			p.notice(c, "%s", done)
		}
	}
	if failed > 0 {
		return &partialError{fmt.Sprintf("%d of %d failed", failed, len(names))}
	}
	return nil
}

// several names things in words: the one, or how many.
func several(names []string, one, many string) string {
	if len(names) == 1 {
		return one + " " + names[0]
	}
	return fmt.Sprintf("%d %s", len(names), many)
}

// quoted is a name as messages have it.
func quoted(text string) string { return `"` + strings.TrimSpace(text) + `"` }
