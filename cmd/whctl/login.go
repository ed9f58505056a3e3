package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/command"
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func loginCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name:   "login",
			Usage:  "sign in and store the login in the profile",
			Action: command.With(login),
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "remember", Usage: "also store the password, to renew an expired session"},
				&cli.BoolFlag{
					Name:  "insecure-storage",
					Usage: "without a keyring, store secrets in a file readable only by you",
				},
			},
			Description: `whctl login --profile prod --url https://erp01:5050 --user jsmith
whctl login --password-file secret.txt --remember`,
		},
		{
			Name:   "logout",
			Usage:  "end the session and delete the stored login",
			Action: command.With(logout),
		},
		{
			Name:   "whoami",
			Usage:  "show the signed-in user, when the session expires and where the credentials are stored",
			Flags:  output.Flags(),
			Action: command.With(whoami),
		},
	}
}

// signIn is a login in progress.
type signIn struct {
	session  *command.Session
	c        *cli.Context
	settings *profile.Settings
	profile  string
	user     string
	password string
	service  *client.Client
}

// login runs whctl login: it signs in, then stores the login and the profile.
func login(c *cli.Context, s *command.Session) error {
	settings, err := s.Resolve(c, profile.MayBeCreated)
	if err != nil {
		return err
	}
	in := &signIn{
		session:  s,
		c:        c,
		settings: settings,
		profile:  cmp.Or(settings.Profile, profile.NoProfile),
		user:     settings.Text("user"),
	}
	if err := in.readUser(); err != nil {
		return err
	}
	if err := in.readPassword(); err != nil {
		return err
	}
	o, err := s.Options(c)
	if err != nil {
		return err
	}
	in.service, err = client.New(o)
	if err != nil {
		return err
	}
	defer in.service.Close()
	return in.run()
}

// run signs in with the credentials and stores the login. If the login cannot be stored, its session is
// ended.
func (in *signIn) run() error {
	in.warnOfPlainHTTP()
	reply, err := in.service.Login(in.c.Context, in.user, in.password)
	if err != nil {
		return err
	}
	isStored := false
	defer func() {
		if !isStored {
			in.endSession()
		}
	}()

	// Nothing is stored before the last request has succeeded, and the profile is known to be editable.
	in.user = cmp.Or(reply.UserName, in.user)
	current, err := in.service.CurrentSession(in.c.Context)
	if err != nil {
		return err
	}
	file, err := in.changedFile()
	if err != nil {
		return err
	}

	place, err := in.store(reply.SessionID)
	if err != nil {
		return err
	}
	isStored = true
	if file != in.settings.File {
		if err := file.Save(); err != nil {
			return fmt.Errorf("signed in, and the secret is in the %s, but the profile %s cannot be saved: %w",
				place, in.profile, err)
		}
	}
	in.session.Notice(in.c, "signed in to %s as %s (%s), profile %s%s; the secret is in the %s",
		in.service.URL(), current.UserName, current.Role, in.profile, profile.Until(current), place)
	for _, name := range in.session.Overriding() {
		in.session.Notice(in.c, "warning: the variable %s takes precedence over this login; "+
			"remove it to use the login", name)
	}
	return nil
}

// endSessionTimeout limits the request that ends the session of a login that was not stored, for which the
// user does not want to wait.
const endSessionTimeout = 3 * time.Second

// endSession ends the session, also after an interrupt. It ignores errors, since the session expires
// anyway.
func (in *signIn) endSession() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.c.Context), endSessionTimeout)
	defer cancel()
	_ = in.service.Logout(ctx)
}

// warnOfPlainHTTP prints a warning if the password is sent over a network without encryption.
func (in *signIn) warnOfPlainHTTP() {
	address := in.service.URL()
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || wire.IsLoopback(u.Hostname()) {
		return
	}
	in.session.Notice(in.c, "warning: the connection to %s is not encrypted, "+
		"so the password can be intercepted; use https://", address)
}

// readUser prompts for the user, unless the settings have one.
func (in *signIn) readUser() error {
	if in.user != "" {
		return nil
	}
	var err error
	in.user, err = in.demand("user name", "--user or "+profile.EnvUser, in.session.Prompter.ReadLine)
	return err
}

// readPassword determines the password: that of the flags or the environment, or that of the user's stored
// login, or else the user is prompted for it.
func (in *signIn) readPassword() error {
	password, err := in.session.GivenPassword(in.c)
	if err != nil {
		return err
	}
	if password.Text != "" {
		in.password = password.Text
		return nil
	}
	in.password, err = in.storedPassword()
	if err != nil || in.password != "" {
		return err
	}
	alternative := "--password-stdin, --password-file or " + profile.EnvPassword
	in.password, err = in.demand("password of "+in.user, alternative, in.session.Prompter.ReadSecret)
	return err
}

// storedPassword returns the password of the user's stored login; empty if there is none, or if the
// keyring cannot be read. The settings may have no user, and then match the login of another one.
func (in *signIn) storedPassword() (string, error) {
	logins, err := in.session.Vault.ReadLogins()
	if err != nil {
		return "", err
	}
	stored := logins.Of(in.settings)
	if stored == nil || !strings.EqualFold(stored.User, in.user) {
		return "", nil
	}
	secret, _ := in.session.Vault.SecretOf(in.c.Context, stored) // empty after an error
	return secret.Password, nil
}

// demand prompts for a required text. alternative names the flags and variables for it.
func (in *signIn) demand(
	name, alternative string, prompt func(context.Context, string) (string, error),
) (string, error) {
	if !in.session.MayPrompt(in.c) {
		return "", cmdline.Usagef("cannot prompt for the %s without a terminal; use %s", name, alternative)
	}
	text, err := prompt(in.c.Context, strings.ToUpper(name[:1])+name[1:]+": ")
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", cmdline.Usagef("the %s is empty", name)
	}
	return text, nil
}

// store stores the login in the keyring, or without one in a file with --insecure-storage. It returns the
// place of the secret.
func (in *signIn) store(sessionID string) (string, error) {
	secret := profile.Secret{Session: sessionID}
	if in.c.Bool("remember") {
		secret.Password = in.password
	}
	login := &profile.Login{
		Profile: in.profile,
		URL:     in.service.URL(),
		User:    in.user,
		Store:   profile.InKeyring,
	}
	err := in.storeSecret(login, secret)
	_, hasNoKeyring := errors.AsType[*profile.KeyringError](err)
	if hasNoKeyring && !in.c.Bool("insecure-storage") {
		return "", fmt.Errorf("cannot store the login: %w; "+
			"use --insecure-storage to store it in a file, or set %s or %s",
			err, profile.EnvToken, profile.EnvPassword)
	}
	if hasNoKeyring {
		in.session.Notice(in.c, "%s", err)
		login.Store = profile.InFile
		err = in.storeSecret(login, secret)
	}
	if err != nil {
		return "", fmt.Errorf("cannot store the login: %w", err)
	}
	return login.Place(in.session.Vault.Path()), nil
}

// storeSecret stores the login and its secret. It prints a notice about a secret that stays in the keyring
// although it is not used.
func (in *signIn) storeSecret(login *profile.Login, secret profile.Secret) error {
	leftover, err := in.session.Vault.Store(in.c.Context, login, secret)
	if leftover != nil {
		in.session.Notice(in.c, "%s", leftover)
	}
	return err
}

// changedFile returns the configuration with the profile, its address and user. The first profile becomes
// the default. Without a change, it returns the file of the settings.
func (in *signIn) changedFile() (*profile.File, error) {
	file, err := withSetting(in.settings.File, in.profile, "url", in.service.URL())
	if err != nil {
		return nil, err
	}
	file, err = withSetting(file, in.profile, "user", in.user)
	if err != nil {
		return nil, err
	}
	if file.Lookup("", "profile") != nil {
		return file, nil
	}
	return file.Use(in.profile)
}

// withSetting returns the configuration with a setting of a profile; unchanged if it has the text.
func withSetting(file *profile.File, profileName, name, text string) (*profile.File, error) {
	if stored := file.Lookup(profileName, name); stored != nil && stored.Text == text {
		return file, nil
	}
	setting, _ := profile.LookupSetting(name)
	return file.Set(profileName, setting, text)
}

// logout runs whctl logout. The stored login is deleted even if the service or the keyring is
// unreachable.
func logout(c *cli.Context, s *command.Session) error {
	settings, err := s.Settings(c)
	if err != nil {
		return err
	}
	logins, err := s.Vault.ReadLogins()
	if err != nil {
		return err
	}
	stored := logins.Of(settings)
	if stored == nil {
		s.Notice(c, "not signed in to %s", settings.Text("url"))
		return nil
	}
	secret, secretErr := s.Vault.SecretOf(c.Context, stored)
	if err := c.Context.Err(); err != nil {
		return command.Interrupted(err, -1) // before anything is deleted
	}
	if c.Bool(profile.DryRunFlag) {
		if secretErr != nil {
			return secretErr
		}
		return endSession(c, s, secret.Session) // prints the request
	}
	leftover, err := s.Vault.Forget(stored)
	if err != nil {
		return fmt.Errorf("cannot delete the stored login: %w", err)
	}
	if leftover != nil {
		s.Notice(c, "%s", leftover)
	}
	if secretErr != nil {
		s.Notice(c, "stored login deleted; its session could not be ended and will expire: %s", secretErr)
		return nil
	}
	if err := endSession(c, s, secret.Session); err != nil {
		return fmt.Errorf("stored login deleted, but its session could not be ended: %w", err)
	}
	if leftover != nil {
		return errors.New("signed out, but the secret is still in the keyring")
	}
	s.Notice(c, "signed out of %s", settings.Text("url"))
	return nil
}

// endSession ends a session. An unknown session is not an error.
func endSession(c *cli.Context, s *command.Session, sessionID string) error {
	o, err := s.Options(c)
	if err != nil {
		return err
	}
	o.Session = sessionID
	service, err := client.New(o)
	if err != nil {
		return err
	}
	defer service.Close()
	err = service.Logout(c.Context)
	if client.Is(err, client.Unauthorized) {
		return nil
	}
	return err
}

var whoamiColumns = []output.Column{
	{Name: "User", Type: record.Text},
	{Name: "DisplayName", Type: record.Text},
	{Name: "Role", Type: record.Text},
	{Name: "Expires", Type: record.Text},
	{Name: "Via", Type: record.Text},
	{Name: "Secret", Type: record.Text},
	{Name: "Profile", Type: record.Text},
	{Name: "URL", Type: record.Text},
}

// whoami runs whctl whoami.
func whoami(c *cli.Context, s *command.Session) error {
	return command.Reads(func(c *cli.Context, out *output.Printer, service *client.Client) error {
		session, err := service.CurrentSession(c.Context)
		if err != nil {
			return err
		}
		settings, err := s.Settings(c)
		if err != nil {
			return err
		}
		id, err := s.Identity(c)
		if err != nil {
			return err
		}
		line := []any{
			session.UserName,
			session.DisplayName,
			session.Role,
			command.NilIfZero(profile.Expiry(session)),
			session.Via,
			id.Source,
			command.NilIfZero(settings.Profile),
			service.URL(),
		}
		_, err = out.Lines(whoamiColumns, [][]any{line})
		return err
	})(c)
}
