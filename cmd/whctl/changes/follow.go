package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/records"
)

// untilStopped returns the action of a command that follows changes. With --once it ends when the
// service cannot reply because the capture of a kind has stopped, instead of waiting for an
// administrator.
func untilStopped(
	run func(ctx context.Context, c *cli.Context, s *command.Session) error,
) cli.ActionFunc {
	return command.With(func(c *cli.Context, s *command.Session) error {
		ctx, cancel := context.WithCancelCause(c.Context)
		defer cancel(nil)
		s.OnRetry = func(err error) {
			e, ok := errors.AsType[*client.Error](err)
			isStopped := ok && e.Code == wire.CaptureStopped
			if isStopped && c.Bool("once") {
				cancel(fmt.Errorf("%w; remove the cause, or see whctl changes resume --help", err))
			}
		}
		err := run(ctx, c, s)
		if cause := context.Cause(ctx); err != nil && client.Is(cause, client.Rejected) {
			return cause
		}
		return err
	})
}

// stateFile is the mode of files with a token, which is no secret.
const stateFile fs.FileMode = 0o644

// follower prints the changes of a kind.
type follower struct {
	out       *output.Sink
	statePath string // file of --state; empty for none
	saved     string // token in that file
	token     string // the changes until this token have been printed; empty at first for now
	rows      int64
}

// follow runs whctl follow.
func follow(ctx context.Context, c *cli.Context, s *command.Session) error {
	f := &follower{statePath: c.String("state"), token: c.String("since")}
	if err := f.readState(); err != nil {
		return err
	}
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	kind, err := awaitKind(ctx, service, c.Args().First())
	if err != nil {
		return command.Interrupted(err, 0)
	}
	f.out, err = s.Printer(c).Create()
	if err != nil {
		return err
	}
	end := noPosition
	if c.Bool("once") {
		current, err := currentPage(ctx, service, kind)
		if err != nil {
			return err
		}
		end, err = positionOf(current.Next)
		if err != nil {
			return err
		}
	}

	err = f.print(service.FollowChanges(ctx, kind, f.token), end)
	if f.token != "" && !client.Is(err, client.ResyncRequired) {
		s.Notice(c, "continue with --since %s", f.token)
	}
	return command.Interrupted(err, f.rows)
}

// readState reads the token of an earlier run, which --since overrides.
func (f *follower) readState() error {
	if f.statePath == "" || f.token != "" {
		return nil
	}
	text, err := os.ReadFile(f.statePath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Editors of Windows may add a byte order mark.
	f.saved = strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff"))
	f.token = f.saved
	return nil
}

// print prints pages of changes until it has printed those up to a position.
func (f *follower) print(pages iter.Seq2[*client.ChangePage, error], end position) error {
	for page, err := range pages {
		if err != nil {
			return err
		}
		if err := f.printPage(page); err != nil {
			return err
		}
		reached, err := end.reachedBy(f.token)
		if reached || err != nil {
			return err
		}
	}
	return nil
}

// printPage prints a page of changes. It saves the token afterwards, so that no change is lost if
// the process is killed.
func (f *follower) printPage(page *client.ChangePage) error {
	for _, text := range page.Texts {
		_, _ = f.out.Write(append(text, '\n')) // Flush returns an error again
	}
	if err := f.out.Flush(); err != nil {
		return err
	}
	if f.statePath != "" && f.saved != page.Next {
		if err := output.ReplaceFile(f.statePath, []byte(page.Next+"\n"), stateFile); err != nil {
			return err
		}
		f.saved = page.Next
	}
	f.token = page.Next
	f.rows += int64(len(page.Texts))
	return nil
}

// awaitKind returns a kind of the service. It waits while the service is away, since only the
// service knows its own kinds.
func awaitKind(ctx context.Context, service *client.Client, name string) (*record.Kind, error) {
	list, err := service.AwaitKindList(ctx)
	if err != nil {
		return nil, err
	}
	registry, err := list.Registry()
	if err != nil {
		return nil, err
	}
	return records.KindNamed(registry, name)
}

// currentPage returns a page with the token of now, the fields of the key, and those that are not
// captured.
func currentPage(
	ctx context.Context, service *client.Client, kind *record.Kind,
) (page *client.ChangePage, err error) {
	for page, err = range service.FollowChanges(ctx, kind, "") {
		break
	}
	return page, err
}

// epochOf returns the first part of a token. It is another one after each start of the capture.
func epochOf(token string) string {
	epoch, _, _ := strings.Cut(token, "-")
	return epoch
}

// position is a position in the changes of a kind.
type position int64

// noPosition is never reached.
const noPosition position = -1

// positionOf returns the position of a token.
func positionOf(token string) (position, error) {
	n, err := wire.TokenPosition(token)
	if err != nil {
		return 0, fmt.Errorf("the service returned an invalid token: %q", token)
	}
	return position(n), nil
}

// reachedBy reports whether the changes up to a token include the position.
func (p position) reachedBy(token string) (bool, error) {
	if p == noPosition {
		return false, nil
	}
	current, err := positionOf(token)
	if err != nil {
		return false, err
	}
	return current >= p, nil
}
