// Package whd is the program whd: its commands and flags, and what they print. It
// is a package of its own so that tests can run whole commands, in their own
// process and in others: under the race detector, and with clocks that are wrong.
package whd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
)

// Main runs the command that the arguments name and returns the program's exit
// code. What a command is asked for goes to standard output, everything else to
// standard error.
func Main(p Process) int {
	keepFilesPrivate()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx, p) }()
	err := await(done, p.Signals, cancel)
	if usage, is := errors.AsType[*cli.UsageError](err); is {
		usage.Message = config.WithoutPasswords(usage.Message)
		cli.PrintError(p.Stderr, "whd", usage)
	} else if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			cli.PrintError(p.Stderr, "whd", errors.New(line))
		}
	}
	return cli.ExitCode(exits, err)
}

// await waits for the command's end. The first signal asks it to end; after a
// second one it is not waited for any longer.
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
		return fmt.Errorf("stopped at once by a second signal (%v)", s)
	}
}

// run runs the command. A flag before the command would be read, if there is one.
func run(ctx context.Context, p Process) error {
	if len(p.Args) > 0 && strings.HasPrefix(p.Args[0], "-") && !slices.Contains([]string{"h", "help", "V", "version"}, strings.TrimLeft(p.Args[0], "-")) {
		return cli.Usagef("the command comes first, then its flags: whd serve %s", p.Args[0])
	}
	return cli.Run(ctx, newApp(p), p.Args)
}
