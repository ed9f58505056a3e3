package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
)

var keyTable = output.Table{
	Columns: []output.Column{
		{Name: "KeyID", Type: record.Text},
		{Name: "Name", Type: record.Text},
		{Name: "Role", Type: record.Text},
		{Name: "AddedDateTime", Type: record.DateTime},
		{Name: "ExpiryDateTime", Type: record.DateTime},
		{Name: "LastUsedDateTime", Type: record.DateTime},
	},
	View: []output.ViewColumn{
		{Title: "Name", Fields: "Name", As: output.Words},
		{Title: "Role", Fields: "Role", As: output.Words},
		{Title: "Expires", Fields: "ExpiryDateTime", As: output.Expiry},
		{Title: "Last used", Fields: "LastUsedDateTime", As: output.Age, Rank: 1},
		{Title: "Created", Fields: "AddedDateTime", As: output.Age, Rank: 2},
		{Title: "Key ID", Fields: "KeyID", As: output.Whole, Rank: 3},
	},
}

func keyCommands() []*cli.Command {
	return []*cli.Command{{
		Name:    "keys",
		Aliases: []string{"key"},
		Usage:   "manage the API keys that programs sign in with",
		Subcommands: []*cli.Command{
			{
				Name:   "list",
				Usage:  "list API keys, without their secrets",
				Flags:  output.Flags(),
				Action: command.ShowsAll(keyTable, (*client.Client).APIKeys),
			},
			{
				Name:      "show",
				ArgsUsage: "KEY",
				Usage:     "show an API key without its secret, by ID or name",
				Flags:     output.Flags(),
				Action: command.ShowsOne(keyTable,
					func(c *cli.Context, service *client.Client) (*wire.APIKey, error) {
						return service.APIKey(c.Context, c.Args().First())
					}),
			},
			{
				Name:      "create",
				Aliases:   []string{"add"},
				ArgsUsage: "NAME",
				Usage:     "create an API key and print it once",
				Action:    command.Changes(createKey),
				Flags: command.ResultFlags("print the created key as JSON instead of the secret",
					&cli.StringFlag{
						Name:  "role",
						Usage: "`ROLE`  role of the key: reader, publisher, writer or admin",
					},
					&cli.StringFlag{
						Name: "expires",
						Usage: "`TIME`  expiry: a date such as 2027-01-31, a duration such as 30d, " +
							"or never (default 90d)",
					},
					command.SecretFileFlag(),
				),
				Description: `whctl keys create nightly --role reader --expires 365d --secret-file nightly.key`,
			},
			{
				Name:      "delete",
				Aliases:   []string{"remove", "rm"},
				ArgsUsage: "KEY...",
				Usage:     "delete API keys, by ID or name",
				Flags:     command.ChangeFlags(),
				Action: command.Each{
					Verb:     "delete",
					One:      "the key",
					Many:     "keys",
					Sweeping: true,
					Do: func(c *cli.Context, service *client.Client, name string) (string, error) {
						err := service.RemoveAPIKey(c.Context, name)
						return fmt.Sprintf("key %s deleted", name), err
					},
				}.Action(),
			},
		},
	}}
}

// createKey runs whctl keys create. It prints the key, or the key's ID if the
// key is written to a file.
func createKey(c *cli.Context, s *command.Session) (command.Change, error) {
	request, err := keyRequest(c, s)
	if err != nil {
		return command.Change{}, err
	}
	create := func(out *output.Printer, service *client.Client) error {
		key, err := service.AddAPIKey(c.Context, request)
		if err != nil {
			return err
		}
		out.Notice("key %s (%s) created with the role %s", key.Name, key.KeyID, key.Role)
		path := c.String("secret-file")
		if path == "" {
			return out.Created(key.Key, key)
		}
		if err := output.ReplaceFile(path, []byte(key.Key+"\n"), output.PrivateFile); err != nil {
			return fmt.Errorf("cannot write the key: %w; delete it with whctl keys delete %s",
				err, key.KeyID)
		}
		out.Notice("key written to %s", path)
		key.Key = ""
		return out.Created(key.KeyID, key)
	}
	summary := fmt.Sprintf("create the key %s with the role %s", request.Name, request.Role)
	return command.Change{Text: summary, Do: create}, nil
}

// keyRequest reads the arguments and flags of whctl keys create.
func keyRequest(c *cli.Context, s *command.Session) (wire.APIKeyRequest, error) {
	request := wire.APIKeyRequest{Name: c.Args().First(), Role: c.String("role")}
	if request.Role == "" {
		return request, cmdline.Usagef("keys create needs --role: reader, publisher, writer or admin")
	}
	if err := cmdline.OneOf(request.Role, command.Roles); err != nil {
		return request, cmdline.Usagef("--role %s", err)
	}
	if err := command.CheckSecretFile(c); err != nil {
		return request, err
	}
	var err error
	request.ExpiryDateTime, err = expiry(c.String("expires"), s.Now())
	return request, err
}

// expiry parses --expires, a duration or a time, and returns the value of ExpiryDateTime.
func expiry(text string, now time.Time) (string, error) {
	if text == "" || text == wire.NeverExpires {
		return text, nil
	}
	end, isDuration := filter.Shifted(text, now, 1)
	if !isDuration {
		var err error
		end, err = filter.Time(text, now)
		if err != nil {
			return "", cmdline.Usagef("--expires must be a time such as 2027-01-31, "+
				"a duration such as 30d, or never, not %q", text)
		}
	}
	return end.UTC().Format(time.RFC3339), nil
}
