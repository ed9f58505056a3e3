package tui

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
)

// exportLine asks where to. The name's end says in which format.
func (b *browser) exportLine() *line {
	name := filepath.Join(b.app.options.Downloads, b.kind.Name+".csv")
	l := newLine(b.app, "export", "export to", name)
	rows := "all that match"
	if total := b.pages.Total(); total >= 0 {
		rows = plural(total, "row", "rows")
	}
	l.help = rows + "; .csv opens right in Excel, .ndjson is for programs; enter begins, esc leaves it"
	l.check = func(path string) error {
		if end := filepath.Ext(path); end != ".csv" && end != ".ndjson" {
			return errors.New("the name must end in .csv or .ndjson")
		}
		return nil
	}
	l.accept = func(path string) tea.Cmd {
		b.app.jobs++
		b.app.tell(info, "export to "+path+" has begun")
		return b.app.export(b.query(), path, b.fields)
	}
	return l
}

// exported tells how an export ended.
func (a *app) exported(m exportMsg) {
	a.jobs--
	if m.err != nil {
		a.fail("export to "+m.path, m.err)
		return
	}
	a.tell(info, plural(m.rows, "row", "rows")+" written to "+m.path)
}

// writeRows writes all rows to a file, which gets its name when it is complete.
func writeRows(ctx context.Context, c *client.Client, q client.Query, path string, fields []string) (rows int, err error) {
	stream, err := c.Rows(ctx, q)
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	file, err := os.OpenFile(path+".part", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	rows, err = copyRows(file, stream, filepath.Ext(path), fields)
	err = errors.Join(err, file.Close())
	if err != nil {
		return rows, errors.Join(err, os.Remove(path+".part"))
	}
	return rows, os.Rename(path+".part", path)
}

func copyRows(file io.Writer, stream *client.Rows, format string, fields []string) (rows int, err error) {
	out := bufio.NewWriter(file)
	write := jsonWriter(out)
	if format == ".csv" {
		if write, err = csvWriter(out, fields); err != nil {
			return 0, err
		}
	}
	for row, err := range stream.All() {
		if err != nil {
			return rows, err
		}
		if err := write(row); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, out.Flush()
}

func jsonWriter(out io.Writer) func(client.Row) error {
	return func(row client.Row) error {
		_, err := fmt.Fprintf(out, "%s\n", row.JSON())
		return err
	}
}

// csvWriter writes what Excel opens right: with a mark of its encoding, its line
// breaks, and no text that it would take for a formula.
func csvWriter(out io.Writer, fields []string) (func(client.Row) error, error) {
	if _, err := io.WriteString(out, "\ufeff"); err != nil {
		return nil, err
	}
	table := csv.NewWriter(out)
	table.UseCRLF = true
	cells := make([]string, len(fields))
	var values []client.Value
	write := func(row client.Row) error {
		values = row.Values(values[:0], fields)
		for i, v := range values {
			cells[i] = v.String()
			if len(v) > 0 && v[0] == '"' && cells[i] != "" && strings.ContainsRune("=+-@\t\r", rune(cells[i][0])) {
				cells[i] = "'" + cells[i]
			}
		}
		err := table.Write(cells)
		table.Flush()
		return errors.Join(err, table.Error())
	}
	return write, table.Write(fields)
}
