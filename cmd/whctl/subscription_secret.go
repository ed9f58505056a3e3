package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// headers reads --header.
func (p *program) headers(texts []string) (*[]wire.Header, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	var all []wire.Header
	for _, text := range texts {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, cmdline.Usagef(`--header must be like "X-Tenant: 7"`) // the text may be a secret
		}
		value, err := p.argument(strings.TrimSpace(value))
		if err != nil {
			return nil, cmdline.Usagef("--header %s: %s", name, err)
		}
		all = append(all, wire.Header{Name: strings.TrimSpace(name), Value: strings.TrimRight(value, "\r\n")})
	}
	return &all, nil
}

// hideSecret puts a new secret where it was asked for. Standard error is no
// place for it, unless a person looks at it.
func (p *program) hideSecret(c *cli.Context, secret string) error {
	switch path := c.String("secret-file"); {
	case path != "":
		if err := output.ReplaceFile(path, []byte(secret+"\n"), output.PrivateFile); err != nil {
			return fmt.Errorf("the secret is not written: %w; whctl subscriptions rotate-secret makes another", err)
		}
		p.notice(c, "its secret is in %s", path)
	case c.Bool("json"):
	case p.prompter.Watches:
		p.notice(c, "its secret, which is not shown again: %s", secret)
	default:
		p.notice(c, "its secret is not shown: --secret-file or --json would have; whctl subscriptions rotate-secret makes another")
	}
	return nil
}
