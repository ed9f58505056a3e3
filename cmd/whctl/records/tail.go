package records

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/listen"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// notLive has the formats that need all rows, or copy the response to a query.
var notLive = []string{"json", "xlsx", "raw"}

// TailFlags returns the flags of commands that run until they are stopped.
func TailFlags() []cli.Flag {
	return append(output.FlagsWithout(notLive...), &cli.Int64Flag{
		Name:    "take",
		Aliases: []string{"n"},
		Usage:   "stop after `N` rows",
	})
}

// LiveStream is a stream of events that a command prints until it is stopped.
type LiveStream struct {
	Topic string
	Table output.Table
	Open  func(service *client.Client) (FormatEvent, error) // called before the stream is opened
}

// FormatEvent formats an event as a document and as a line of text. document is nil if
// the event is filtered out.
type FormatEvent func(client.StreamEvent) (document any, line string)

// Tail prints a live stream until it is stopped or --take rows have been printed.
func Tail(c *cli.Context, s *command.Session, f LiveStream) error {
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	format, err := f.Open(service)
	if err != nil {
		return err
	}
	printer := s.Printer(c)
	to, err := newTailWriter(printer, f)
	if err != nil {
		return err
	}
	events := listen.Stream(c.Context, service, f.Topic, printer.Notice)
	rows, err := to.copy(events, format, c.Int64("take"))
	return command.Interrupted(to.out.Finish(err), rows)
}

// tailWriter prints rows immediately, without buffering.
type tailWriter struct {
	output.RowWriter
	out   *output.Sink
	lines bool // prints lines of text instead of rows
}

func newTailWriter(printer *output.Printer, feed LiveStream) (*tailWriter, error) {
	f, err := printer.Format()
	if err != nil {
		return nil, err
	}
	if slices.Contains(notLive, f.Name) {
		return nil, cmdline.Usagef("--format %s cannot be used with a live stream; use --ndjson", f.Name)
	}
	out, err := printer.Create()
	if err != nil {
		return nil, err
	}
	to, err := printer.RowWriter(f, out, printer.Context.Command.Name, feed.Table)
	if err != nil {
		return nil, out.Finish(err)
	}
	return &tailWriter{RowWriter: to, out: out, lines: f.Name == "table"}, nil
}

// copy prints events until the stream ends, or until it has printed as many rows as the limit, 0
// for no limit.
func (w *tailWriter) copy(
	events iter.Seq2[client.StreamEvent, error], format FormatEvent, limit int64,
) (rows int64, err error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	for e, err := range events {
		if err != nil {
			return rows, err
		}
		document, line := format(e)
		if document == nil {
			continue
		}
		if err := w.print(document, line); err != nil {
			return rows, err
		}
		rows++
		if rows == limit {
			break
		}
	}
	if w.lines {
		return rows, nil
	}
	return rows, w.End()
}

func (w *tailWriter) begin() error {
	if w.lines {
		return nil
	}
	return errors.Join(w.Begin(), w.out.Flush())
}

func (w *tailWriter) print(document any, line string) error {
	if w.lines {
		fmt.Fprintln(w.out, display.Sanitize(line))
		return w.out.Flush()
	}
	row, err := output.DocumentRow(document)
	if err != nil {
		return err
	}
	return errors.Join(w.Row(row), w.out.Flush())
}
