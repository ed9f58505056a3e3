package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// stateFile is the mode of files with a token, which is no secret.
const stateFile fs.FileMode = 0o644

// follow runs whctl follow. The token is stored after the changes before it have been
// printed, so that none is lost if the process is killed.
func follow(c *cli.Context, s *command.Session) (err error) {
	state := c.String("state")
	token := c.String("since")
	stored := ""
	if state != "" && token == "" {
		text, err := os.ReadFile(state)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		stored = strings.TrimSpace(string(text))
		token = stored
	}
	ctx, ends := endsOnStop(c, s)
	defer ends(&err)
	service, err := s.ReadClient(c)
	if err != nil {
		return err
	}
	defer service.Close()
	kind, err := awaitKind(ctx, service, c.Args().First())
	if err != nil {
		return command.Interrupted(err, 0)
	}
	out, err := s.Printer(c).Create()
	if err != nil {
		return err
	}
	until := target(-1)
	if c.Bool("once") {
		current, err := present(ctx, service, kind)
		if err != nil {
			return err
		}
		until, err = targetOf(current.Next)
		if err != nil {
			return err
		}
	}
	rows := int64(0)
	for page, err := range service.FollowChanges(ctx, kind, token) {
		if err != nil {
			return ended(c, s, err, token, rows)
		}
		for _, text := range page.Texts {
			_, _ = out.Write(append(text, '\n')) // an error is that of Flush, too
		}
		if err = out.Flush(); err == nil && state != "" && stored != page.Next {
			stored = page.Next
			err = output.ReplaceFile(state, []byte(page.Next+"\n"), stateFile)
		}
		if err != nil {
			return ended(c, s, err, token, rows)
		}
		token, rows = page.Next, rows+int64(len(page.Texts))
		if reached, err := until.by(token); reached || err != nil {
			return ended(c, s, err, token, rows)
		}
	}
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

// ended prints the token from which whctl follow can continue.
func ended(c *cli.Context, s *command.Session, err error, token string, rows int64) error {
	if token != "" && !client.Is(err, client.ResyncRequired) {
		s.Notice(c, "continue with --since %s", token)
	}
	return command.Interrupted(err, rows)
}

// endsOnStop returns the context of a command. With --once it ends when the service cannot
// reply because the capture of a kind has stopped, instead of waiting for an administrator;
// ends sets the error of the command to the reason.
func endsOnStop(c *cli.Context, s *command.Session) (ctx context.Context, ends func(*error)) {
	ctx, cancel := context.WithCancelCause(c.Context)
	s.OnRetry = func(err error) {
		if e, ok := errors.AsType[*client.Error](err); ok && e.Code == wire.CaptureStopped && c.Bool("once") {
			cancel(fmt.Errorf("%w; remove the cause, or see whctl changes resume --help", err))
		}
	}
	return ctx, func(err *error) {
		if stopped := context.Cause(ctx); *err != nil && client.Is(stopped, client.Rejected) {
			*err = stopped
		}
		cancel(nil)
	}
}

// target is a position in the changes of a kind; negative for none.
type target int64

// present returns the token of now, with the fields of the key and those not captured.
func present(ctx context.Context, service *client.Client, kind *record.Kind) (page *client.ChangePage, err error) {
	for page, err = range service.FollowChanges(ctx, kind, "") {
		break
	}
	return page, err
}

// epochOf returns the part of a token that names the start of capture which it is of.
func epochOf(token string) string {
	epoch, _, _ := strings.Cut(token, "-")
	return epoch
}

func targetOf(token string) (target, error) {
	at, err := wire.TokenPosition(token)
	if err != nil {
		err = fmt.Errorf("the service has named no valid token: %q", token)
	}
	return target(at), err
}

// by reports whether the changes up to a token include the position.
func (t target) by(token string) (bool, error) {
	if t < 0 {
		return false, nil
	}
	at, err := targetOf(token)
	return at >= t, err
}
