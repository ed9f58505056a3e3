// Package whd implements the command line of the program whd. It is a package, not
// part of main, so that tests can run whole commands both in their own process and
// in others: under the race detector, and with shifted clocks.
package whd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
)

// Main runs a command and returns the program's exit code. Results are written to
// standard output, messages and errors to standard error.
func Main(p Process) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- dispatch(ctx, newApp(p), p.Args) }()
	err := await(done, p.Signals, cancel)
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		printError(p.Stderr, err)
	}()
	awaitReader(printed)
	return cli.ExitCode(exits, err)
}

// dispatch runs a command or completes a command line.
func dispatch(ctx context.Context, app *urfave.App, args []string) error {
	if len(args) > 0 && args[0] == cli.CompleteCommand {
		return cli.PrintCompletions(app, args[1:])
	}
	return cli.Run(ctx, app, args)
}

func printError(out io.Writer, err error) {
	if usage, ok := errors.AsType[*cli.UsageError](err); ok {
		usage.Message = config.WithoutPasswords(usage.Message)
		cli.PrintError(out, "whd", usage)
	} else if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			cli.PrintError(out, "whd", errors.New(line))
		}
	}
}

// await waits until the command ends. The first signal cancels the command; the
// second signal returns without waiting for it.
func await(done <-chan error, signals <-chan os.Signal, cancel func()) error {
	select {
	case err := <-done:
		return err
	case <-signals:
		cancel()
	}
	select {
	case err := <-done:
		return err
	case s := <-signals:
		return fmt.Errorf("aborted by a second signal (%v)", s)
	}
}
