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

// shows returns the action of a command that prints documents of the service. The
// fields in keys are shortened on a terminal.
func shows[T any](columns []output.Column, keys []string, get func(c *cli.Context, service *client.Client) ([]T, error)) cli.ActionFunc {
	return reads(func(c *cli.Context, out *output.Printer, service *client.Client) error {
		documents, err := get(c, service)
		if err != nil {
			return err
		}
		return output.Documents(out, columns, keys, documents...)
	})
}

// showsOne is like shows, for a single document.
func showsOne[T any](columns []output.Column, keys []string, get func(c *cli.Context, service *client.Client) (T, error)) cli.ActionFunc {
	return shows(columns, keys, func(c *cli.Context, service *client.Client) ([]T, error) {
		document, err := get(c, service)
		return []T{document}, err
	})
}

// each is a change of each object named by the arguments. It continues after a
// failure and prints a notice for each object.
type each struct {
	verb      string // such as "delete"
	one, many string // such as "the subscriber", "subscribers"
	also      string // suffix of the prompt, such as " with all messages"
	sweeping  bool
	do        func(c *cli.Context, service *client.Client, name string) (done string, err error)
}

func (e each) action() cli.ActionFunc {
	return changes(func(c *cli.Context, _ *session) (change, error) { return e.change(c), nil })
}

func (e each) change(c *cli.Context) change {
	names := c.Args().Slice()
	text := fmt.Sprintf("%s %d %s%s", e.verb, len(names), e.many, e.also)
	if len(names) == 1 {
		text = e.verb + " " + e.one + " " + names[0] + e.also
	}
	return change{text: text, sweeping: e.sweeping, do: func(out *output.Printer, service *client.Client) error {
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

// enabling returns the verb of a command that enables or disables.
func enabling(enabled bool) string {
	if enabled {
		return "enable"
	}
	return "disable"
}

// unlessEnabled returns the suffix of the notice about a new object.
func unlessEnabled(enabled bool) string {
	if enabled {
		return ""
	}
	return ", disabled"
}

// systemKind returns a kind of the service's own records. It panics for an unknown
// name.
func systemKind(name string) *record.Kind {
	kind, ok := record.System().Lookup(name)
	if !ok {
		panic("whctl: no kind " + name)
	}
	return kind
}

// listFlags returns the flags of commands that list records.
func listFlags(examples conditionExamples) []cli.Flag {
	return append(queryFlags(examples), output.Flags()...)
}

// keyFlag returns the flag of commands that show SubscriberIDs.
func keyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "full", Usage: "show full SubscriberIDs on a terminal; they grant access like a key"}
}

// anySet reports whether any of the flags is set.
func anySet(c *cli.Context, flags []cli.Flag) bool {
	for _, f := range flags {
		if c.IsSet(f.Names()[0]) {
			return true
		}
	}
	return false
}

// maxArgument limits how much of a file is read, in bytes.
const maxArgument = 4 << 20

// argument returns the text of an argument, or the contents of @FILE, or standard
// input for @-.
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

// quoted returns a name in quotes.
func quoted(text string) string { return `"` + strings.TrimSpace(text) + `"` }

// nilIfZero returns nil for the zero value, which is printed as a null.
func nilIfZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}
