package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) listenCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "listen", Usage: "pass messages on to a receiver on this machine, as they are sent", Action: p.listen,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "forward-to", Usage: "`URL` of the receiver, such as localhost:3000/hooks"},
			&cli.StringFlag{Name: "event", Usage: "only events like `PATTERN`, such as salesorder.*"},
			&cli.StringFlag{Name: "subscription", Usage: "only of the `SUBSCRIPTION`, by id"},
			&cli.StringFlag{Name: "subscriber", Usage: "only of the `SUBSCRIBER`, by id or name"},
			&cli.StringFlag{Name: "secret-file", Usage: "sign with the secret in `FILE`, which is made where it is not there"},
			&cli.BoolFlag{Name: "show-response", Usage: "print what the receiver answers, which else only failures are"},
			&cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "end after `N` messages"},
			&cli.BoolFlag{Name: "ndjson", Usage: "print an object for each message"},
		},
		Description: `whctl listen --forward-to localhost:3000
whctl listen --forward-to localhost:3000/hooks --event "salesorder.*" --secret-file local.secret`,
	}}
}

// listener passes messages on, and tells what becomes of each.
type listener struct {
	*program
	c       *cli.Context
	forward *forwarder
	most    int64 // 0 for no end
	count   int64
}

func (p *program) listen(c *cli.Context) error {
	if c.String("forward-to") == "" {
		return cmdline.Usagef("listen needs --forward-to, such as localhost:3000")
	}
	forward, err := newForwarder(c.String("forward-to"), p.now)
	if err != nil {
		return err
	}
	if _, err := p.settings(c); err != nil { // the time zone
		return err
	}
	l := &listener{program: p, c: c, forward: forward, most: c.Int64("take")}
	if err = l.mirror(); client.Is(err, client.Cancelled) {
		return interruption{l.count}
	}
	return err
}

// mirror repeats what the service sends to others, once they have answered.
func (l *listener) mirror() error {
	if path := l.c.String("secret-file"); path != "" {
		var err error
		if l.forward.secret, err = localSecret(path); err != nil {
			return cmdline.Usagef("--secret-file: %s", err)
		}
	}
	service, err := l.connect(l.c)
	if err != nil {
		return err
	}
	defer service.Close()
	filter, err := l.changeFilter(l.c, service)
	if err != nil {
		return err
	}
	for e, err := range l.stream(l.c, service, wire.TopicMessages) {
		if err != nil {
			return err
		}
		if _, ok := e.(client.Connected); ok {
			l.notice(l.c, "mirroring to %s; real subscribers are unaffected", l.forward.to.Redacted())
		}
		m, ok := e.(client.MessageEvent)
		if !ok || m.Duration == 0 || m.Deleted || !filter.takes(m.MessageChange) {
			continue // no attempt
		}
		if err := l.repeat(service, m.MessageChange); err != nil {
			return err
		}
		if l.count++; l.count == l.most {
			return nil
		}
	}
	return nil
}

// repeat fetches a message and sends it to the receiver here.
func (l *listener) repeat(service *client.Client, m wire.MessageChange) error {
	page, err := service.AllMessages(l.c.Context, url.Values{"MessageID": {m.MessageID}})
	if err != nil {
		return err
	}
	if len(page.Results) == 0 {
		l.notice(l.c, "message %s is deleted already", m.MessageID)
		return nil
	}
	if err := l.tellSent(m.EventName, m.MessageID); err != nil {
		return err
	}
	got, err := l.forward.post(l.c.Context, m.MessageID, m.EventName, []byte(page.Results[0].Body))
	if l.c.Context.Err() != nil {
		return &client.Error{Kind: client.Cancelled, Err: context.Canceled}
	}
	return l.tellAnswer(m.EventName, m.MessageID, got, err)
}

// tellSent prints that a message goes to the receiver.
func (l *listener) tellSent(event, id string) error {
	if l.c.Bool("ndjson") {
		return nil
	}
	_, err := fmt.Fprintf(l.stdout, "%s --> %s  msg %s\n", l.clock(wire.Moment(l.now())), display.Sanitize(event), display.Sanitize(id))
	return err
}

// passed is what became of a message, for programs.
type passed struct {
	At        string
	EventName string
	MessageID string
	URL       string
	HTTPCode  int     `json:",omitempty"`
	Duration  float64 // in milliseconds
	Error     string  `json:",omitempty"`
	Response  string  `json:",omitempty"`
}

// tellAnswer prints what the receiver said. Its text is shown where it failed.
func (l *listener) tellAnswer(event, id string, got answered, err error) error {
	failed := err != nil || got.status < 200 || got.status > 299
	shown := strings.TrimSpace(string(got.body))
	if !failed && !l.c.Bool("show-response") {
		shown = ""
	}
	if l.c.Bool("ndjson") {
		line := passed{At: l.now().UTC().Format(time.RFC3339Nano), EventName: event, MessageID: id, URL: l.forward.to.Redacted(),
			HTTPCode: got.status, Duration: float64(got.took.Microseconds()) / 1000, Response: shown}
		if err != nil {
			line.Error = err.Error()
		}
		text, err := output.DocumentText(line)
		if err == nil {
			_, err = fmt.Fprintf(l.stdout, "%s\n", text)
		}
		return err
	}
	word := fmt.Sprint(got.status)
	if err != nil {
		word = "no answer: " + err.Error()
	}
	_, err = fmt.Fprintf(l.stdout, "%s <-- %s  POST %s (%d ms)\n", l.clock(wire.Moment(l.now())), display.Sanitize(word), l.forward.to.Host, got.took.Milliseconds())
	if shown != "" && err == nil {
		_, err = fmt.Fprintf(&display.Writer{To: l.stdout}, "         %s\n", strings.ReplaceAll(shown, "\n", "\n         "))
	}
	return err
}
