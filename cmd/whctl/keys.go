package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

func (p *program) keyCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "keys", Aliases: []string{"key"}, Usage: "manage the API keys that programs sign in with",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the keys, without the keys themselves", Flags: output.Flags(), Action: p.listKeys},
			{
				Name: "add", Aliases: []string{"create"}, ArgsUsage: "NAME", Usage: "make a key and print it; nobody can see it again", Action: p.addKey,
				Flags: newFlags(
					&cli.StringFlag{Name: "role", Usage: "`ROLE`: reader, publisher, writer or admin"},
					&cli.StringFlag{Name: "expires", Usage: "`TIME` such as 2027-01-31, how long such as 30d, or never; default: 90d"},
					secretFileFlag(),
				),
				Description: `whctl keys add nightly --role reader --expires 365d --secret-file nightly.key`,
			},
			{Name: "remove", Aliases: []string{"delete", "rm"}, ArgsUsage: "KEY...", Usage: "end keys, by id or name", Flags: changeFlags(), Action: p.removeKeys},
		},
	}}
}

var keyColumns = []output.Column{
	{Name: "KeyID", Type: record.Text}, {Name: "Name", Type: record.Text}, {Name: "Role", Type: record.Text}, {Name: "AddedDateTime", Type: record.DateTime}, {Name: "ExpiryDateTime", Type: record.DateTime}, {Name: "LastUsedDateTime", Type: record.DateTime},
}

func (p *program) listKeys(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	keys, err := service.APIKeys(c.Context)
	if err != nil {
		return err
	}
	return output.Documents(p.printer(c), keyColumns, nil, keys...)
}

// addKey is whctl keys add. The key is what is printed, unless it goes into a
// file; then its id is.
func (p *program) addKey(c *cli.Context) error {
	request := wire.APIKeyRequest{Name: c.Args().First(), Role: c.String("role")}
	if request.Role == "" {
		return cmdline.Usagef("keys add needs --role: reader, publisher, writer or admin")
	}
	var err error
	if request.ExpiryDateTime, err = p.expiry(c.String("expires")); err != nil {
		return err
	}
	service, err := p.connectToChange(c, change{what: fmt.Sprintf("make the key %s with the role %s", request.Name, request.Role)})
	if err != nil {
		return err
	}
	defer service.Close()
	made, err := service.AddAPIKey(c.Context, request)
	if err != nil {
		return err
	}
	p.notice(c, "key %s (%s) is made, with the role %s", made.Name, made.KeyID, made.Role)
	if path := c.String("secret-file"); path != "" {
		if err := output.ReplaceFile(path, []byte(made.Key+"\n"), output.PrivateFile); err != nil {
			return fmt.Errorf("the key is not written: %w; whctl keys remove %s ends it", err, made.KeyID)
		}
		p.notice(c, "it is in %s", path)
		made.Key = ""
		return p.tellNew(c, made.KeyID, made)
	}
	return p.tellNew(c, made.Key, made)
}

// expiry reads --expires.
func (p *program) expiry(text string) (string, error) {
	if text == "" || text == wire.NeverExpires {
		return text, nil
	}
	if at, ok := filter.Shifted(text, p.now(), 1); ok {
		return at.UTC().Format(time.RFC3339), nil
	}
	at, err := filter.Time(text, p.now())
	if err != nil {
		return "", cmdline.Usagef("--expires must be a time such as 2027-01-31, how long such as 30d, or never, not %q", text)
	}
	return at.UTC().Format(time.RFC3339), nil
}

func (p *program) removeKeys(c *cli.Context) error {
	names := c.Args().Slice()
	service, err := p.connectToChange(c, change{what: "end " + several(names, "the key", "keys"), sweeping: true})
	if err != nil {
		return err
	}
	defer service.Close()
	return p.forEach(c, names, func(name string) (string, error) {
		return fmt.Sprintf("key %s is ended", name), service.RemoveAPIKey(c.Context, name)
	})
}
