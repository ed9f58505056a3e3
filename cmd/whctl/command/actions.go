package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// Shows returns the action of a command that prints documents of the service.
func Shows[T any](
	t output.Table, get func(c *cli.Context, service *client.Client) ([]T, error),
) cli.ActionFunc {
	return Reads(func(c *cli.Context, out *output.Printer, service *client.Client) error {
		documents, err := get(c, service)
		if err != nil {
			return err
		}
		return output.Documents(out, t, documents...)
	})
}

// ShowsAll is like Shows, for a list that has no arguments.
func ShowsAll[T any](
	t output.Table, list func(*client.Client, context.Context) ([]T, error),
) cli.ActionFunc {
	return Shows(t, func(c *cli.Context, service *client.Client) ([]T, error) {
		return list(service, c.Context)
	})
}

// ShowsOne is like Shows, for a single document.
func ShowsOne[T any](
	t output.Table, get func(c *cli.Context, service *client.Client) (T, error),
) cli.ActionFunc {
	return Reads(func(c *cli.Context, out *output.Printer, service *client.Client) error {
		document, err := get(c, service)
		if err != nil {
			return err
		}
		out.One = true
		return output.Documents(out, t, document)
	})
}

// Each is a change of each object named by the arguments. It continues after a
// failure and prints a notice for each object.
type Each struct {
	Verb      string // such as "delete"
	One, Many string // such as "the subscriber", "subscribers"
	Also      string // suffix of the prompt, such as " with all messages"
	Sweeping  bool   // see Change

	// Do changes an object and returns the text of the notice.
	Do func(c *cli.Context, service *client.Client, name string) (done string, err error)
}

// Action returns the action of the command.
func (e Each) Action() cli.ActionFunc {
	return Changes(func(c *cli.Context, _ *Session) (Change, error) {
		names := c.Args().Slice()
		text := fmt.Sprintf("%s %d %s%s", e.Verb, len(names), e.Many, e.Also)
		if len(names) == 1 {
			text = e.Verb + " " + e.One + " " + names[0] + e.Also
		}
		change := func(out *output.Printer, service *client.Client) error {
			return e.change(c, out, service, names)
		}
		return Change{Text: text, Sweeping: e.Sweeping, Do: change}, nil
	})
}

// change changes the objects with some names. It returns the error if there is only one, or else a
// PartialError if it fails for some.
func (e Each) change(
	c *cli.Context, out *output.Printer, service *client.Client, names []string,
) error {
	failed := 0
	for _, name := range names {
		done, err := e.Do(c, service, name)
		if errors.Is(err, client.ErrNotSent) {
			continue
		}
		if err == nil {
			out.Notice("%s", done)
			continue
		}
		isInterrupted := c.Context.Err() != nil
		if len(names) == 1 || isInterrupted || EndsQuietly(err) {
			return err
		}
		failed++
		out.Notice("%s: %s", name, err)
	}
	if failed > 0 {
		return &PartialError{Message: fmt.Sprintf("%d of %d failed", failed, len(names))}
	}
	return nil
}

// Enabling returns the verb of a command that enables or disables.
func Enabling(enabled bool) string {
	if enabled {
		return "enable"
	}
	return "disable"
}

// UnlessEnabled returns the suffix of the notice about a new object.
func UnlessEnabled(enabled bool) string {
	if enabled {
		return ""
	}
	return ", disabled"
}

// Roles are the roles of users and API keys, the least first.
var Roles = []string{"reader", "publisher", "writer", "admin"}

// SystemKind returns a kind of the service's own records. It panics if the name, which is a
// constant of the caller, is unknown.
func SystemKind(name string) *record.Kind {
	kind, ok := record.System().Lookup(name)
	if !ok {
		panic("whctl: no kind " + name)
	}
	return kind
}

// KeyFlag returns the flag of commands that show SubscriberIDs.
func KeyFlag() cli.Flag {
	return &cli.BoolFlag{
		Name:  "full",
		Usage: "show full SubscriberIDs on a terminal; they grant access like a key",
	}
}

// AnySet reports whether any of the flags is set.
func AnySet(c *cli.Context, flags []cli.Flag) bool {
	return slices.ContainsFunc(flags, func(f cli.Flag) bool { return c.IsSet(f.Names()[0]) })
}

// maxArgument is the maximum size of a file that is an argument, in bytes. No request may be
// larger with the default settings of the service.
const maxArgument = 4 << 20

// Argument returns the text of an argument, or the contents of @FILE, or standard
// input for @-. A file that is too large is an error.
func Argument(c *cli.Context, text string) (string, error) {
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		return text, nil
	}
	reader := c.App.Reader
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		reader = file
	}
	content, err := io.ReadAll(io.LimitReader(reader, maxArgument+1))
	if len(content) > maxArgument {
		return "", fmt.Errorf("%s is larger than %d MiB", text, maxArgument>>20)
	}
	return strings.TrimPrefix(string(content), "\ufeff"), err
}

// Quoted returns a name in quotes.
func Quoted(text string) string { return `"` + strings.TrimSpace(text) + `"` }

// NilIfZero returns nil for the zero value, which is printed as a null.
func NilIfZero[T comparable](value T) any {
	var zero T
	if value == zero {
		return nil
	}
	return value
}

// SecretFileFlag returns the flag of commands that create a secret.
func SecretFileFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "secret-file",
		Usage: "write the new secret to `FILE`, readable only by you; it must not exist",
	}
}

// CheckSecretFile returns an error if the file of --secret-file exists: it may have the only copy of
// another secret. It is checked before a request, since the service shows a new secret only once.
func CheckSecretFile(c *cli.Context) error {
	path := c.String("secret-file")
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // such as a pipe
		return nil
	}
	return cmdline.Usagef("--secret-file: %s exists, and may have the only copy of a secret; "+
		"name another file, or remove it", path)
}
