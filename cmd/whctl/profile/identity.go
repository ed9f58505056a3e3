package profile

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// Identity holds the credentials of requests: an API key, a user with a password,
// or a session.
type Identity struct {
	Source string // source of the credentials, such as "file key.txt"

	token    string // API key
	user     string
	password string
	session  string
	stored   *Login // nil if the credentials are not from a stored login
}

// IdentityFlags returns the flags that locate secrets. No flag takes the secret
// itself, because all users of a machine can read command lines.
func IdentityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:  "token-file",
			Usage: "read an API key from `FILE`; without it, WHCTL_TOKEN is the key",
		},
		&cli.BoolFlag{
			Name:  "password-stdin",
			Usage: "read the user's password from the first line of standard input",
		},
		&cli.StringFlag{
			Name:  "password-file",
			Usage: "read the user's password from `FILE`; without it, WHCTL_PASSWORD is the password",
		},
	}
}

// Identity returns the credentials. They are determined once.
func (k *Connector) Identity(c *cli.Context) (Identity, error) {
	if k.identity == nil {
		id, err := k.findIdentity(c)
		if err != nil {
			return Identity{}, err
		}
		k.identity = &id
	}
	return *k.identity, nil
}

// findIdentity returns the first of: an API key, a password given with this
// command, and the login stored for the same service and user.
func (k *Connector) findIdentity(c *cli.Context) (Identity, error) {
	if path := c.String("token-file"); path != "" {
		token, err := SecretFile(path)
		return Identity{token: token, Source: "file " + path}, err
	}
	if token := k.environmentSecret(c, EnvToken, "--token-file"); token != "" {
		return Identity{token: token, Source: "variable " + EnvToken}, nil
	}
	password, err := k.GivenPassword(c)
	if err != nil {
		return Identity{}, err
	}
	if password.Text == "" {
		return k.storedIdentity(c)
	}
	user := k.settings.Text("user")
	if user == "" {
		return Identity{}, cmdline.Usagef(
			"%s has a password but no user is set; use --user or %s", password.Origin, EnvUser)
	}
	return Identity{user: user, password: password.Text, Source: password.Origin}, nil
}

// GivenPassword returns the password of the flags or of the environment; with an empty text if there is
// none.
func (k *Connector) GivenPassword(c *cli.Context) (Value, error) {
	path := c.String("password-file")
	isPiped := c.Bool("password-stdin")
	if isPiped && path != "" {
		return Value{}, cmdline.Usagef("--password-stdin and --password-file cannot be combined")
	}
	if isPiped {
		k.passwordSource = "standard input"
		password, err := SecretLine(k.Stdin, k.passwordSource)
		return Value{password, k.passwordSource}, err
	}
	if path != "" {
		k.passwordSource = "file " + path
		password, err := SecretFile(path)
		return Value{password, k.passwordSource}, err
	}
	password := k.environmentSecret(c, EnvPassword, "--password-file")
	if password == "" {
		return Value{}, nil
	}
	k.passwordSource = "variable " + EnvPassword
	return Value{password, k.passwordSource}, nil
}

// environmentSecret returns the secret in a variable; empty if it is not set, or for another service
// than the one of the command line. Then a notice names the flag that takes a secret.
func (k *Connector) environmentSecret(c *cli.Context, variable, flag string) string {
	secret := k.Env(variable)
	if secret == "" || !k.addressesAnotherService() {
		return secret
	}
	k.Notice(c, "%s is not sent: it belongs to the service in %s, %s, not to that of --url; use %s, or set %[2]s",
		variable, EnvURL, k.environmentOrigin(), flag)
	return ""
}

// addressesAnotherService reports whether --url has another origin than WHCTL_URL. The secrets of the
// environment are for the service of the environment: whctl must not send them to another one, which
// may be a service for tests, or a mistake.
func (k *Connector) addressesAnotherService() bool {
	if k.Env(EnvURL) == "" || k.settings == nil {
		return false
	}
	chosen := k.settings.Values["url"]
	isFromFlag := chosen.Origin == "flag --url"
	return isFromFlag && originOf(chosen.Text) != k.environmentOrigin()
}

// environmentOrigin returns the origin of WHCTL_URL; empty if it cannot be parsed.
func (k *Connector) environmentOrigin() string { return originOf(address.completed(k.Env(EnvURL))) }

// originOf returns the scheme and host of an address, with the port unless it is that of the scheme;
// empty if it cannot be parsed.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	scheme := strings.ToLower(u.Scheme)
	standardPort := ":80"
	if scheme == "https" {
		standardPort = ":443"
	}
	host := strings.TrimSuffix(strings.ToLower(u.Host), ":") // without a port
	return scheme + "://" + strings.TrimSuffix(host, standardPort)
}

// Password returns the password of the credentials; empty if there is none.
func (k *Connector) Password() string {
	if k.identity == nil {
		return ""
	}
	return k.identity.password
}

// SecretFile reads a secret, which is the first line of a file.
func SecretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", cmdline.Usagef("%s", err)
	}
	defer file.Close()
	return SecretLine(file, path)
}

// SecretLine reads a secret, which is the first line, without the line break. name
// is the source in errors.
func SecretLine(from io.Reader, name string) (string, error) {
	line, err := cmdline.FirstLine(from)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if line == "" {
		return "", cmdline.Usagef("%s has no secret: the first line is empty", name)
	}
	return line, nil
}

// nowhere is the source of no credentials.
const nowhere = "nowhere"

// storedIdentity returns the login stored for the profile. It is only used for the
// service and the user that it was created for.
func (k *Connector) storedIdentity(c *cli.Context) (Identity, error) {
	none := Identity{Source: nowhere}
	logins, err := k.Vault.ReadLogins()
	if err != nil {
		return none, err
	}
	stored := logins.Of(k.settings)
	if stored == nil {
		return none, nil
	}
	if logins.Exposed() {
		k.Notice(c, "warning: other users can read the secrets in %[1]s; run chmod 600 %[1]s", logins.Path)
	}
	secret, err := k.Vault.SecretOf(c.Context, stored)
	if err != nil {
		k.Notice(c, "cannot read the stored login: %s", err)
		return none, nil
	}
	return Identity{
		user:     stored.User,
		session:  secret.Session,
		password: secret.Password,
		Source:   stored.Place(logins.Path),
		stored:   stored,
	}, nil
}

// storeSession stores a renewed session.
func (k *Connector) storeSession(c *cli.Context, i Identity, session string) {
	if i.stored == nil {
		return
	}
	secret := Secret{Session: session, Password: i.password}
	if err := k.Vault.Renew(c.Context, i.stored, secret); err != nil {
		k.Notice(c, "cannot store the new session: %s", err)
	}
}

// Overriding returns the environment variables that take precedence over a stored login.
func (k *Connector) Overriding() []string {
	if k.addressesAnotherService() {
		return nil
	}
	names := []string{EnvToken, EnvPassword}
	return slices.DeleteFunc(names, func(name string) bool { return k.Env(name) == "" })
}

// HowToSignIn returns advice for an unauthenticated request. An API key or a password
// that is given takes precedence over a login, so an invalid one must be replaced or
// removed.
func (k *Connector) HowToSignIn() string {
	if k.identity != nil && k.identity.token != "" {
		return fmt.Sprintf("the API key is from the %s; replace it with one that an admin creates "+
			"(whctl keys create NAME --role ROLE), or remove it and sign in with whctl login", k.identity.Source)
	}
	login := k.loginLine()
	usesPassword := k.identity == nil || k.identity.Source == k.passwordSource
	if k.passwordSource != "" && usesPassword {
		return fmt.Sprintf("the password is from the %s; replace it, or remove it and %s",
			k.passwordSource, login)
	}
	hasNone := k.passwordSource == "" && k.identity != nil && k.identity.Source == nowhere
	if hasNone && k.Env(EnvUser) != "" && k.Env(EnvPassword) == "" {
		return fmt.Sprintf("the variable %s is empty or not set; set it, or %s", EnvPassword, login)
	}
	return login
}

// loginLine returns advice with the command that signs in. It has the flags for settings that are
// not those of the profile.
func (k *Connector) loginLine() string {
	line := []string{"whctl", "login"}
	if k.settings != nil {
		line = append(line, k.settings.loginFlags()...)
	}
	return fmt.Sprintf("sign in: %s   (in scripts, set an API key in %s)",
		strings.Join(line, " "), EnvToken)
}

// loginFlags returns the flags with which whctl login uses the same service and user.
func (s *Settings) loginFlags() []string {
	var flags []string
	if s.Profile != "" {
		flags = append(flags, "--profile", s.Profile)
	}
	if s.Values["url"].Origin != "default" && !s.isSaved("url") {
		flags = append(flags, "--url", s.Text("url"))
	}
	if s.Text("user") != "" && !s.isSaved("user") {
		flags = append(flags, "--user", s.Text("user"))
	}
	return flags
}

// isSaved reports whether the profile in the file has the effective value of a setting.
func (s *Settings) isSaved(name string) bool {
	saved := s.File.Lookup(s.Profile, name)
	return saved != nil && saved.Text == s.Text(name)
}

// Until formats the expiry of a session; empty if it does not expire.
func Until(session *wire.CurrentSession) string {
	if session.ExpiryDateTime == "" {
		return ""
	}
	return ", until " + Expiry(session)
}

// Expiry returns the expiry of a session with its zone, which the service does not
// write: its dates are in UTC. It is empty if the session does not expire.
func Expiry(session *wire.CurrentSession) string {
	expiry, err := time.Parse(wire.DateLayout, session.ExpiryDateTime)
	if err != nil {
		return session.ExpiryDateTime
	}
	return expiry.Format(time.RFC3339)
}
