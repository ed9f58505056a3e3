package profile

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Identity is who asks: a key, a user with a password, or a session; and how
// that is known.
type Identity struct {
	Source string // in words

	token, user, password, session string

	stored *Login // where it comes from there
}

// IdentityFlags say where secrets are. None holds one, since everyone on the
// machine can read command lines.
func IdentityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "token-file", Usage: "`FILE` that holds an API key (WHCTL_TOKEN)"},
		&cli.BoolFlag{Name: "password-stdin", Usage: "read the user's password from standard input, one line"},
		&cli.StringFlag{Name: "password-file", Usage: "`FILE` that holds the user's password (WHCTL_PASSWORD)"},
	}
}

// Identity finds out who asks.
func (k *Connector) Identity(c *cli.Context) (Identity, error) {
	if k.identity == nil {
		who, err := k.findIdentity(c)
		if err != nil {
			return Identity{}, err
		}
		k.identity = &who
	}
	return *k.identity, nil
}

// findIdentity goes by a key, by a password that is given with this command, or
// by what whctl login has stored for the same service and user.
func (k *Connector) findIdentity(c *cli.Context) (Identity, error) {
	if path := c.String("token-file"); path != "" {
		token, err := SecretFile(path)
		return Identity{token: token, Source: "file " + path}, err
	}
	if token := k.Env(EnvToken); token != "" {
		return Identity{token: token, Source: "variable " + EnvToken}, nil
	}
	password, source, err := k.GivenPassword(c)
	if err != nil {
		return Identity{}, err
	}
	if password == "" {
		return k.storedIdentity(c)
	}
	user := k.settings.Text("user")
	if user == "" {
		return Identity{}, cmdline.Usagef("%s is of no user: --user or %s names one", source, EnvUser)
	}
	return Identity{user: user, password: password, Source: source}, nil
}

// GivenPassword is the password that comes with the command.
func (k *Connector) GivenPassword(c *cli.Context) (password, source string, err error) {
	path := c.String("password-file")
	switch {
	case c.Bool("password-stdin") && path != "":
		return "", "", cmdline.Usagef("--password-stdin and --password-file cannot be combined")
	case c.Bool("password-stdin"):
		password, err = SecretLine(k.Stdin, "standard input")
		return password, "standard input", err
	case path != "":
		password, err = SecretFile(path)
		return password, "file " + path, err
	}
	return k.Env(EnvPassword), "variable " + EnvPassword, nil
}

// Password is that of the user who has signed in with one; empty for others.
func (k *Connector) Password() string {
	if k.identity == nil {
		return ""
	}
	return k.identity.password
}

// SecretFile reads the secret that is all of a file.
func SecretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", cmdline.Usagef("%s", err)
	}
	defer file.Close()
	return SecretLine(file, path)
}

// SecretLine reads one line, without its end.
func SecretLine(from io.Reader, name string) (string, error) {
	line, err := cmdline.FirstLine(from)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if line == "" {
		return "", cmdline.Usagef("%s holds no secret: its first line is empty", name)
	}
	return line, nil
}

// storedIdentity is what whctl login has stored for the profile. It is used for
// the service and the user that it was made for, and for no other.
func (k *Connector) storedIdentity(c *cli.Context) (Identity, error) {
	none := Identity{Source: "nowhere"}
	logins, err := k.Vault.ReadLogins()
	if err != nil {
		return none, err
	}
	stored := logins.Of(k.settings)
	if stored == nil {
		return none, nil
	}
	secret, err := k.Vault.SecretOf(c.Context, stored)
	if err != nil {
		k.Notice(c, "the stored login cannot be read: %s", err)
		return none, nil
	}
	return Identity{
		user: stored.User, session: secret.Session, password: secret.Password,
		Source: stored.Place(logins.Path), stored: stored,
	}, nil
}

// keepSession stores a session that took the place of one that was over.
func (k *Connector) keepSession(c *cli.Context, who Identity, session string) {
	if who.stored == nil {
		return
	}
	secret := Secret{Session: session, Password: who.password}
	if err := k.Vault.Store(c.Context, who.stored, secret); err != nil {
		k.Notice(c, "the new session cannot be stored: %s", err)
	}
}

// HowToSignIn is what would help where the service wants to know who asks. A key
// that it refuses would win over any login.
func (k *Connector) HowToSignIn() string {
	if k.identity != nil && k.identity.token != "" {
		return fmt.Sprintf("the API key is from the %s: put another one there, or take it away and sign in with whctl login", k.identity.Source)
	}
	line := []string{"whctl", "login"}
	if s := k.settings; s != nil {
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
	return fmt.Sprintf("sign in: %s   (scripts: an API key in %s)", strings.Join(line, " "), EnvToken)
}

// Until says until when a session is good; empty where it does not end.
func Until(session *wire.CurrentSession) string {
	if session.ExpiryDateTime == "" {
		return ""
	}
	return ", until " + session.ExpiryDateTime
}
