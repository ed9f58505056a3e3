package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// shows is the action of a command that prints documents of the service, with the
// columns of a table. Of keys, a screen shows the ends only.
func shows[T any](columns []output.Column, keys []string, get func(c *cli.Context, service *client.Client) ([]T, error)) cli.ActionFunc {
	return reads(func(c *cli.Context, out *output.Printer, service *client.Client) error {
		documents, err := get(c, service)
		if err != nil {
			return err
		}
		return output.Documents(out, columns, keys, documents...)
	})
}

// showsOne is shows for a single document.
func showsOne[T any](columns []output.Column, keys []string, get func(c *cli.Context, service *client.Client) (T, error)) cli.ActionFunc {
	return shows(columns, keys, func(c *cli.Context, service *client.Client) ([]T, error) {
		document, err := get(c, service)
		return []T{document}, err
	})
}

// each does something to each of the things that the arguments name, and goes on
// after a failure. It says for each what it did.
type each struct {
	verb      string // such as "delete"
	one, many string // such as "the subscriber", "subscribers"
	also      string // behind the names, such as " with all messages"
	sweeping  bool
	do        func(c *cli.Context, service *client.Client, name string) (done string, err error)
}

func (e each) action() cli.ActionFunc {
	return changes(func(c *cli.Context, _ *session) (change, error) { return e.change(c), nil })
}

func (e each) change(c *cli.Context) change {
	names := c.Args().Slice()
	what := fmt.Sprintf("%s %d %s%s", e.verb, len(names), e.many, e.also)
	if len(names) == 1 {
		what = e.verb + " " + e.one + " " + names[0] + e.also
	}
	return change{what: what, sweeping: e.sweeping, do: func(out *output.Printer, service *client.Client) error {
		failed := 0
		for _, name := range names {
			done, err := e.do(c, service, name)
			switch {
			case err != nil && (len(names) == 1 || c.Context.Err() != nil || endsQuietly(err)):
				return err
			case err != nil:
				failed++
				out.Notice("%s: %s", name, err)
			default:
				out.Notice("%s", done)
			}
		}
		if failed > 0 {
			return &partialError{fmt.Sprintf("%d of %d failed", failed, len(names))}
		}
		return nil
	}}
}

// enabling is the verb of a command that enables or disables.
func enabling(enabled bool) string {
	if enabled {
		return "enable"
	}
	return "disable"
}

// unlessEnabled says of something that was made that it is disabled.
func unlessEnabled(enabled bool) string {
	if enabled {
		return ""
	}
	return ", disabled"
}

// systemKind is a kind of what the service keeps itself.
func systemKind(name string) *record.Kind {
	kind, ok := record.System().Lookup(name)
	if !ok {
		panic("whctl: no kind " + name) // a mistake of the caller, caught by any test of it
	}
	return kind
}

// listFlags are those of commands that list.
func listFlags() []cli.Flag { return append(queryFlags(), output.Flags()...) }

// keyFlag is for what shows SubscriberIDs.
func keyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "full", Usage: "show SubscriberIDs whole on a terminal; whoever knows one can use it"}
}

// anySet reports whether one of the flags is given.
func anySet(c *cli.Context, flags []cli.Flag) bool {
	for _, f := range flags {
		if c.IsSet(f.Names()[0]) {
			return true
		}
	}
	return false
}

// maxArgument keeps a wrong file from being read whole.
const maxArgument = 4 << 20

// argument is the text of an argument, which may be that of a file: @FILE, or @-
// for standard input.
func argument(c *cli.Context, text string) (string, error) {
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return text, nil
	}
	from := c.App.Reader
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, maxArgument))
	return strings.TrimPrefix(string(content), "\ufeff"), err
}

// quoted is a name as messages have it.
func quoted(text string) string { return `"` + strings.TrimSpace(text) + `"` }

// nilIfZero is the null that an absent value stands for.
func nilIfZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}
