package main

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// tailFlags are those of what goes on until it is stopped.
func tailFlags() []cli.Flag {
	return append(output.Flags(), &cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "end after `N` rows"})
}

func messageTailFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "status", Usage: "only messages that are now `A,B` of 0 to 3, or new, ok, retry, failed"},
		&cli.StringFlag{Name: "event", Usage: "only events like `PATTERN`, such as salesorder.*"},
		&cli.StringFlag{Name: "subscription", Usage: "only of the `SUBSCRIPTION`, by id"},
		&cli.StringFlag{Name: "subscriber", Usage: "only of the `SUBSCRIBER`, by id or name"},
	}
}

var changeColumns = []output.Column{
	{Name: "At", Type: record.Epoch}, {Name: "MessageID", Type: record.Text}, {Name: "SubscriberID", Type: record.Text}, {Name: "SubscriptionID", Type: record.Text}, {Name: "EventName", Type: record.Text},
	{Name: "Status", Type: record.Int}, {Name: "Retries", Type: record.Int}, {Name: "HTTPCode", Type: record.Int}, {Name: "Duration", Type: record.TimeSpan}, {Name: "NextAttemptDateTime", Type: record.Epoch}, {Name: "Deleted", Type: record.Bool},
}

func (p *program) tailMessages(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	filter, err := p.changeFilter(c, service)
	if err != nil {
		return err
	}
	return p.tail(c, service, wire.TopicMessages, changeColumns, messageKeys, func(e client.StreamEvent) (document any, text string) {
		m, ok := e.(client.MessageEvent)
		if !ok || !filter.takes(m.MessageChange) {
			return nil, ""
		}
		return m.MessageChange, p.changeLine(m.MessageChange)
	})
}

// changeLine is a change in one line for people.
func (p *program) changeLine(m wire.MessageChange) string {
	word := statusWord(m.Status)
	if m.Deleted {
		word = "deleted"
	}
	line := fmt.Sprintf("%s  %-7s  %s  %s", p.clock(m.At), word, m.MessageID, m.EventName)
	if m.Duration != 0 {
		line += fmt.Sprintf("  %s in %s", answerWord(m.HTTPCode), time.Duration(m.Duration).Round(time.Millisecond))
	}
	if next := time.Time(m.NextAttemptDateTime); m.Status != 1 && !next.IsZero() && next.After(time.Time(m.At)) {
		line += fmt.Sprintf("  again in %s", next.Sub(time.Time(m.At)).Round(time.Second))
	}
	return line
}

// answerWord is the code of an answer, or that none came.
func answerWord(code *int) string {
	if code == nil {
		return "no answer"
	}
	return fmt.Sprint(*code)
}

// clock is the time of day at this place.
func (p *program) clock(at wire.Moment) string {
	zone := time.Local
	if p.resolved != nil {
		zone = p.resolved.Zone()
	}
	return time.Time(at).In(zone).Format(time.TimeOnly)
}

// tail prints what a stream tells until it is stopped, or until as many rows
// came as were asked for. Of what is not meant, shown gives no document.
func (p *program) tail(c *cli.Context, service *client.Client, topic string, columns []output.Column, keys []string, shown func(client.StreamEvent) (document any, text string)) error {
	to, out, err := p.tailPrinter(c, columns)
	if err != nil {
		return err
	}
	rows := int64(0)
	most := c.Int64("take")
	err = to.begin()
	for document, err1 := range p.followed(c, service, topic, shown) {
		if err = err1; err == nil {
			err = to.print(document, keys)
		}
		if err != nil {
			break
		}
		if rows++; rows == most {
			break
		}
	}
	if err == nil {
		err = to.end()
	}
	if err = out.Finish(err); client.Is(err, client.Cancelled) {
		return interruption{rows}
	}
	return err
}

// followed are the documents of a stream that are meant, each with its line.
func (p *program) followed(c *cli.Context, service *client.Client, topic string, shown func(client.StreamEvent) (any, string)) iter.Seq2[tidings, error] {
	return func(yield func(tidings, error) bool) {
		for e, err := range p.stream(c, service, topic) {
			if err != nil {
				yield(tidings{}, err)
				return
			}
			if document, text := shown(e); document != nil && !yield(tidings{document, text}, nil) {
				return
			}
		}
	}
}

// tidings is something of a stream: as a document, and in a line.
type tidings struct {
	document any
	line     string
}

// stream follows a topic and tells how the connection stands. A connection that
// is lost is made again, but one that could not even be made once is an error.
func (p *program) stream(c *cli.Context, service *client.Client, topic string) iter.Seq2[client.StreamEvent, error] {
	return func(yield func(client.StreamEvent, error) bool) {
		connected := false
		for e, err := range service.Stream(c.Context, client.StreamOptions{Topics: []string{topic}}) {
			switch e := e.(type) {
			case client.Connected:
				connected = true
			case client.Disconnected:
				if !connected {
					yield(nil, e.Err)
					return
				}
			}
			if err == nil {
				p.tellLink(c, service, e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// tellLink tells how the connection stands, at each change.
func (p *program) tellLink(c *cli.Context, service *client.Client, e client.StreamEvent) {
	switch e := e.(type) {
	case client.Connected:
		p.notice(c, "connected to %s", service.URL())
	case client.Disconnected:
		p.notice(c, "disconnected: %s; trying again in %s", e.Err, e.Retry.Round(100*time.Millisecond))
	case client.ResetEvent:
		p.notice(c, "some changes were left out: %s", e.Reason)
	}
}

// tailWriter prints rows as they come, and none later.
type tailWriter struct {
	output.RowWriter
	out    *output.Sink
	lines  bool // for people: lines rather than rows
	hidden func(keys []string) []string
}

func (p *program) tailPrinter(c *cli.Context, columns []output.Column) (*tailWriter, *output.Sink, error) {
	f, err := p.printer(c).Format()
	if err != nil {
		return nil, nil, err
	}
	if f.Raw() || f.Name == "json" || f.Name == "xlsx" {
		return nil, nil, cmdline.Usagef("--format %s is for what comes to an end; try --ndjson", f.Name)
	}
	out, err := p.printer(c).Create()
	if err != nil {
		return nil, nil, err
	}
	to, err := p.printer(c).RowWriter(f, out, output.Sheet{Name: c.Command.Name, Columns: columns})
	if err != nil {
		return nil, nil, out.Finish(err)
	}
	return &tailWriter{RowWriter: to, out: out, lines: f.Name == "table", hidden: func(keys []string) []string { return p.printer(c).HiddenKeys(f, keys) }}, out, nil
}

func (w *tailWriter) begin() error {
	if w.lines {
		return nil
	}
	return errors.Join(w.RowWriter.Begin(), w.out.Flush())
}

func (w *tailWriter) end() error {
	if w.lines {
		return nil
	}
	return w.RowWriter.End()
}

func (w *tailWriter) print(what tidings, keys []string) error {
	if w.lines {
		fmt.Fprintln(w.out, display.Sanitize(what.line))
		return w.out.Flush()
	}
	row, err := output.DocumentRow(what.document)
	if keys = w.hidden(keys); err == nil && len(keys) > 0 {
		row, err = output.ShortenedRow(row, keys)
	}
	if err == nil {
		err = w.Row(row)
	}
	return errors.Join(err, w.out.Flush())
}
