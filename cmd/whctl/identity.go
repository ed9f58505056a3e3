package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

// identity is who asks: a key, a user with a password, or a session; and how
// that is known.
type identity struct {
	token, user, password, session string

	source string         // in words
	stored *profile.Login // where it comes from there
}

// identityFlags say where secrets are. None holds one, since everyone on the
// machine can read command lines.
func identityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "token-file", Usage: "`FILE` that holds an API key (WHCTL_TOKEN)"},
		&cli.BoolFlag{Name: "password-stdin", Usage: "read the user's password from standard input, one line"},
		&cli.StringFlag{Name: "password-file", Usage: "`FILE` that holds the user's password (WHCTL_PASSWORD)"},
	}
}

// identity finds out who asks, once.
func (p *program) identity(c *cli.Context, s *profile.Settings) (identity, error) {
	if p.who == nil {
		who, err := p.findIdentity(c, s)
		if err != nil {
			return identity{}, err
		}
		p.who = &who
	}
	return *p.who, nil
}

// findIdentity goes by a key, by a password that is given with this command, or
// by what whctl login has stored for the same service and user.
func (p *program) findIdentity(c *cli.Context, s *profile.Settings) (identity, error) {
	token, source, err := p.givenToken(c)
	if err != nil || token != "" {
		return identity{token: token, source: source}, err
	}
	password, source, err := p.givenPassword(c)
	if err != nil {
		return identity{}, err
	}
	if password != "" {
		if s.Text("user") == "" {
			return identity{}, cmdline.Usagef("%s is of no user: --user or %s names one", source, profile.EnvUser)
		}
		return identity{user: s.Text("user"), password: password, source: source}, nil
	}
	return p.storedIdentity(c, s)
}

// givenToken is the API key that comes with the command.
func (p *program) givenToken(c *cli.Context) (token, source string, err error) {
	if path := c.String("token-file"); path != "" {
		token, err = secretFile(path)
		return token, "file " + path, err
	}
	return p.env(profile.EnvToken), "variable " + profile.EnvToken, nil
}

// givenPassword is the password that comes with the command.
func (p *program) givenPassword(c *cli.Context) (password, source string, err error) {
	path := c.String("password-file")
	switch {
	case c.Bool("password-stdin") && path != "":
		return "", "", cmdline.Usagef("--password-stdin and --password-file exclude each other")
	case c.Bool("password-stdin"):
		password, err = secretLine(p.stdin, "standard input")
		return password, "standard input", err
	case path != "":
		password, err = secretFile(path)
		return password, "file " + path, err
	}
	return p.env(profile.EnvPassword), "variable " + profile.EnvPassword, nil
}

// secretFile reads the secret that is all of a file.
func secretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", cmdline.Usagef("%s", err)
	}
	defer file.Close()
	return secretLine(file, path)
}

// maxSecret keeps a wrong file from being read whole.
const maxSecret = 4096

// secretLine reads one line, without its end.
func secretLine(from io.Reader, name string) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(from, maxSecret)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 {
		return "", cmdline.Usagef("%s holds no secret: its first line is empty", name)
	}
	return string(line), nil
}

// storedIdentity is what whctl login has stored for the profile. It is used for
// the service and the user that it was made for, and for no other.
func (p *program) storedIdentity(c *cli.Context, s *profile.Settings) (identity, error) {
	nobody := identity{source: "nowhere"}
	logins, err := p.vault.ReadLogins()
	if err != nil {
		return nobody, err
	}
	stored := logins.Of(s)
	if stored == nil {
		return nobody, nil
	}
	secret, err := p.vault.SecretOf(c.Context, stored)
	if err != nil {
		p.notice(c, "the stored login cannot be read: %s", err)
		return nobody, nil
	}
	return identity{
		user: stored.User, session: secret.Session, password: secret.Password,
		source: stored.Place(logins.Path), stored: stored,
	}, nil
}

// keepSession stores a session that took the place of one that was over.
func (p *program) keepSession(c *cli.Context, who identity, session string) {
	if who.stored == nil {
		return
	}
	secret := profile.Secret{Session: session, Password: who.password}
	if err := p.vault.Store(c.Context, who.stored, secret); err != nil {
		p.notice(c, "the new session cannot be stored: %s", err)
	}
}

// howToSignIn is what would help where the service wants to know who asks. A key
// that it refuses would win over any login.
func (p *program) howToSignIn() string {
	if p.who != nil && p.who.token != "" {
		return fmt.Sprintf("the API key is from the %s: put another one there, or take it away and sign in with whctl login", p.who.source)
	}
	line := []string{"whctl", "login"}
	if s := p.resolved; s != nil {
		if s.Profile != "" {
			line = append(line, "--profile", s.Profile)
		}
		if kept := s.File.Lookup(s.Profile, "url"); s.Values["url"].Origin != "default" && (kept == nil || kept.Text != s.Text("url")) {
			line = append(line, "--url", s.Text("url"))
		}
		if kept, user := s.File.Lookup(s.Profile, "user"), s.Text("user"); user != "" && (kept == nil || kept.Text != user) {
			line = append(line, "--user", user)
		}
	}
	return fmt.Sprintf("sign in: %s   (scripts: an API key in %s)", strings.Join(line, " "), profile.EnvToken)
}
