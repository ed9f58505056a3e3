package webhooks

import (
	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/listen"
)

// ListenCommands returns the command that follows messages.
func ListenCommands() []*cli.Command {
	return []*cli.Command{{
		Name:   "listen",
		Usage:  "print messages as they are sent, or forward them to a local receiver",
		Action: command.With(follow),
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name:  "forward-to",
				Usage: "forward messages to the receiver at `URL`, such as localhost:3000/hooks",
			},
			&cli.StringFlag{Name: "event", Usage: "only events that match `PATTERN`, such as salesorder.*"},
			&cli.StringFlag{Name: "subscription", Usage: "only messages of this `SUBSCRIPTION`, by ID"},
			&cli.StringFlag{Name: "subscriber", Usage: "only messages of this `SUBSCRIBER`, by ID or name"},
			&cli.StringFlag{
				Name:  "secret-file",
				Usage: "sign with the secret in `FILE`, which is created if it does not exist",
			},
			&cli.BoolFlag{Name: "show-response", Usage: "print all responses of the receiver, not only failures"},
			&cli.Int64Flag{Name: "take", Aliases: []string{"n"}, Usage: "stop after `N` messages"},
			&cli.BoolFlag{Name: "ndjson", Usage: "print a JSON object for each message"},
		},
		Description: `whctl listen --event "salesorder.*"
whctl listen --forward-to localhost:3000
whctl listen --forward-to localhost:3000/hooks --event "salesorder.*" --secret-file local.secret`,
	}}
}

// follow runs whctl listen.
func follow(c *cli.Context, s *command.Session) error {
	forward, err := forwarder(c, s)
	if err != nil {
		return err
	}
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	filter, err := readFilter(c, s, service)
	if err != nil {
		return err
	}
	l := listen.Listener{
		Service:      service,
		Forwarder:    forward,
		Filter:       filter,
		Now:          s.Now,
		Max:          c.Int64("take"),
		Zone:         s.Zone(),
		Out:          s.Stdout,
		Notice:       s.Printer(c).Notice,
		NDJSON:       c.Bool("ndjson"),
		ShowResponse: c.Bool("show-response"),
	}
	count, err := l.Run(c.Context)
	return command.Interrupted(err, count)
}

// forwarder returns the forwarder of the flags, nil without --forward-to.
func forwarder(c *cli.Context, s *command.Session) (*listen.Forwarder, error) {
	if c.String("forward-to") == "" {
		for _, name := range []string{"secret-file", "show-response"} {
			if c.IsSet(name) {
				return nil, cmdline.Usagef("--%s needs --forward-to, such as localhost:3000", name)
			}
		}
		return nil, nil
	}
	forward, err := listen.NewForwarder(c.String("forward-to"), s.Now)
	if err != nil {
		return nil, err
	}
	if path := c.String("secret-file"); path != "" {
		if err := forward.SignWith(path); err != nil {
			return nil, cmdline.Usagef("--secret-file: %s", err)
		}
	}
	return forward, nil
}
