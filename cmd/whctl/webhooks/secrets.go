package webhooks

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// Columns of whctl subscriptions show that lists do not have.
var (
	secretColumns = []output.Column{
		{Name: "SigningSecrets", Type: record.Int},
		{Name: "OldSecretsUntil", Type: record.Epoch},
	}
	secretView = output.ViewColumn{
		Title:  "Signing secrets",
		Fields: "SigningSecrets OldSecretsUntil",
		As:     output.Secrets,
		Rank:   output.DetailOnly,
	}
)

// rotateSecret runs whctl subscriptions rotate-secret.
func rotateSecret(c *cli.Context, s *command.Session) (command.Change, error) {
	if err := command.CheckSecretFile(c); err != nil {
		return command.Change{}, err
	}
	rotate := func(out *output.Printer, service *client.Client, ref subscriptionRef) error {
		request := wire.SecretRequest{KeepFor: c.String("keep-for")}
		rotated, err := service.RotateSecret(c.Context, ref.subscriber, ref.id, request)
		if err != nil {
			return withFlags(err)
		}
		out.Notice("messages are now signed with the new secret%s", oldSecrets(rotated))
		if c.IsSet("secret-file") {
			return passSecret(c, out, rotated.Secret, s.Prompter.Watches)
		}
		return out.Created(rotated.Secret, rotated)
	}
	return onSubscription(c, "replace the secret of", c.Args().First(), rotate), nil
}

// oldSecrets describes the replaced secrets that also sign messages, and until when; empty if there
// are none.
func oldSecrets(rotated *wire.RotatedSecret) string {
	until := time.Time(rotated.OldSecretUntil)
	if until.IsZero() {
		return ""
	}
	if old := rotated.SigningSecrets - 1; old > 1 {
		last := time.Time(rotated.OldSecretsUntil)
		return fmt.Sprintf(", and with %d old ones, the last of them until %s",
			old, last.UTC().Format(time.RFC3339))
	}
	return " and until " + until.UTC().Format(time.RFC3339) + " with the old one"
}

// passSecret writes a new secret to --secret-file, or to standard error if a user watches it: logs
// must not contain it. With --json the caller prints the secret.
func passSecret(c *cli.Context, out *output.Printer, secret string, isWatched bool) error {
	if path := c.String("secret-file"); path != "" {
		return writeSecret(out, path, secret)
	}
	if c.Bool("json") {
		return nil
	}
	if isWatched {
		out.Notice("signing secret (not shown again): %s", secret)
		return nil
	}
	out.Notice("signing secret not shown; use --secret-file or --json, " +
		"or create another with whctl subscriptions rotate-secret")
	return nil
}

// writeSecret writes a new secret to a file that only the user can read.
func writeSecret(out *output.Printer, path, secret string) error {
	err := output.ReplaceFile(path, []byte(secret+"\n"), output.PrivateFile)
	if err != nil {
		return fmt.Errorf(
			"cannot write the secret: %w; create another with whctl subscriptions rotate-secret", err)
	}
	out.Notice("signing secret written to %s", path)
	return nil
}
