package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
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
func listFlags() []cli.Flag { return append(queryFlags(), output.Flags()...) }

// keyFlag is for what shows SubscriberIDs.
func keyFlag() cli.Flag {
	return &cli.BoolFlag{Name: "full", Usage: "show SubscriberIDs whole on a terminal; whoever knows one can use it"}
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
		if text, err = output.DocumentText(document); err != nil {
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
