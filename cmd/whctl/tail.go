package main

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
)

// tailFlags are those of what goes on until it is stopped.
func tailFlags() []cli.Flag {
	return append(outputFlags(), &cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "end after `N` rows"})
}

func messageTailFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "status", Usage: "only messages that are now `A,B` of 0 to 3, or new, ok, retry, failed"},
		&cli.StringFlag{Name: "event", Usage: "only events like `PATTERN`, such as salesorder.*"},
		&cli.StringFlag{Name: "subscription", Usage: "only of the `SUBSCRIPTION`, by id"},
		&cli.StringFlag{Name: "subscriber", Usage: "only of the `SUBSCRIBER`, by id or name"},
	}
}

// statusWords are the statuses of messages in words.
var statusWords = []string{"new", "ok", "retry", "failed"}

func statusWord(status int) string {
	if status < 0 || status >= len(statusWords) {
		return fmt.Sprint(status)
	}
	return statusWords[status]
}

// changeFilter says which changes of messages are meant.
type changeFilter struct {
	statuses                 []int
	event                    string
	subscriber, subscription string
}

func (f changeFilter) takes(m wire.MessageChange) bool {
	event, _ := path.Match(strings.ToLower(f.event), strings.ToLower(m.EventName)) // the pattern was checked
	return (len(f.statuses) == 0 || slices.Contains(f.statuses, m.Status)) &&
		(f.event == "" || event) &&
		(f.subscriber == "" || strings.EqualFold(f.subscriber, m.SubscriberID)) &&
		(f.subscription == "" || strings.EqualFold(f.subscription, m.SubscriptionID))
}

// changeFilter reads the flags.
func (p *program) changeFilter(c *cli.Context, service *client.Client) (f changeFilter, err error) {
	if f.statuses, err = readStatuses(c.String("status")); err != nil {
		return f, err
	}
	f.event = c.String("event")
	if _, err := path.Match(f.event, ""); err != nil {
		return f, usagef("--event %q is no pattern such as salesorder.*", f.event)
	}
	if text := c.String("subscriber"); text != "" {
		if f.subscriber, err = findSubscriber(c.Context, service, text); err != nil {
			return f, err
		}
	}
	if text := c.String("subscription"); text != "" {
		n, err := findSubscription(c.Context, service, f.subscriber, text)
		if err != nil {
			return f, err
		}
		f.subscription = n.id
	}
	return f, nil
}

func readStatuses(text string) ([]int, error) {
	var all []int
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n := slices.Index(statusWords, strings.ToLower(word))
		if number, err := strconv.Atoi(word); err == nil {
			n = number
		}
		if n < 0 || n >= len(statusWords) {
			return nil, usagef("--status %q must be of 0 to 3, or %s", word, strings.Join(statusWords, ", "))
		}
		all = append(all, n)
	}
	return all, nil
}

var changeColumns = []column{
	{"At", record.Epoch}, {"MessageID", record.Text}, {"SubscriberID", record.Text}, {"SubscriptionID", record.Text}, {"EventName", record.Text},
	{"Status", record.Int}, {"Retries", record.Int}, {"HTTPCode", record.Int}, {"Duration", record.TimeSpan}, {"NextAttemptDateTime", record.Epoch}, {"Deleted", record.Bool},
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
		zone = p.resolved.zone()
	}
	return time.Time(at).In(zone).Format(time.TimeOnly)
}

// tail prints what a stream tells until it is stopped, or until as many rows
// came as were asked for. Of what is not meant, shown gives no document.
func (p *program) tail(c *cli.Context, service *client.Client, topic string, columns []column, keys []string, shown func(client.StreamEvent) (document any, text string)) error {
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
	if err = out.finish(err); client.Is(err, client.Cancelled) {
		return interruption{rows}
	}
	return err
}

// followed are the documents of a stream that are meant, each with its line.
func (p *program) followed(c *cli.Context, service *client.Client, topic string, shown func(client.StreamEvent) (any, string)) iter.Seq2[tidings, error] {
	return func(yield func(tidings, error) bool) {
		for e, err := range service.Stream(c.Context, client.StreamOptions{Topics: []string{topic}}) {
			if err != nil {
				yield(tidings{}, err)
				return
			}
			p.tellLink(c, service, e)
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
	printer
	out    *output
	lines  bool // for people: lines rather than rows
	hidden func(keys []string) []string
}

func (p *program) tailPrinter(c *cli.Context, columns []column) (*tailWriter, *output, error) {
	f, err := p.format(c)
	if err != nil {
		return nil, nil, err
	}
	if f.new == nil || f.name == "json" || f.name == "xlsx" {
		return nil, nil, usagef("--format %s is for what comes to an end; try --ndjson", f.name)
	}
	out, err := p.create(c.String("output"))
	if err != nil {
		return nil, nil, err
	}
	to, err := p.printer(c, f, out, sheet{c.Command.Name, columns})
	if err != nil {
		return nil, nil, out.finish(err)
	}
	return &tailWriter{printer: to, out: out, lines: f.name == "table", hidden: func(keys []string) []string { return p.hiddenKeys(c, f, keys) }}, out, nil
}

func (w *tailWriter) begin() error {
	if w.lines {
		return nil
	}
	return errors.Join(w.printer.begin(), w.out.Flush())
}

func (w *tailWriter) end() error {
	if w.lines {
		return nil
	}
	return w.printer.end()
}

func (w *tailWriter) print(what tidings, keys []string) error {
	if w.lines {
		fmt.Fprintln(w.out, inertText(what.line))
		return w.out.Flush()
	}
	row, err := documentRow(what.document)
	if keys = w.hidden(keys); err == nil && len(keys) > 0 {
		row, err = shortenedRow(row, keys)
	}
	if err == nil {
		err = w.row(row)
	}
	return errors.Join(err, w.out.Flush())
}
