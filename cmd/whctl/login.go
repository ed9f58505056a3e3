package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

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
		{Name: "logout", Usage: "end the session and delete the stored login", Action: command.With(logout)},
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
	*command.Session
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
		Session:  s,
		c:        c,
		settings: settings,
		profile:  cmp.Or(settings.Profile, profile.NoProfile),
		user:     settings.Text("user"),
	}
	if err := in.credentials(); err != nil {
		return err
	}
	o, err := s.Options(c)
	if err != nil {
		return err
	}
	if in.service, err = client.New(o); err != nil {
		return err
	}
	defer in.service.Close()
	address := in.service.URL()
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" && !wire.IsLoopback(u.Hostname()) {
		s.Notice(c, "warning: the connection to %s is not encrypted, so the password can be intercepted; use https://",
			address)
	}
	reply, err := in.service.Login(c.Context, in.user, in.password)
	if err != nil {
		return err
	}
	in.user = cmp.Or(reply.UserName, in.user)
	place, err := in.store(reply.SessionID)
	if err != nil {
		_ = in.service.Logout(c.Context) // best effort; the session expires anyway
		return err
	}
	if err := in.storeProfile(); err != nil {
		return err
	}

	current, err := in.service.CurrentSession(c.Context)
	if err != nil {
		return err
	}
	s.Notice(c, "signed in to %s as %s (%s), profile %s%s; the secret is in the %s",
		address, current.UserName, current.Role, in.profile, profile.Until(current), place)
	for _, name := range s.Overriding() {
		s.Notice(c, "warning: the variable %s takes precedence over this login; remove it to use the login", name)
	}
	return nil
}

// credentials determines the user and the password, and prompts for missing ones.
func (in *signIn) credentials() (err error) {
	if in.user == "" {
		if in.user, err = in.demand("user name", "--user or "+profile.EnvUser, in.Prompter.ReadLine); err != nil {
			return err
		}
	}
	if in.password, _, err = in.GivenPassword(in.c); err != nil || in.password != "" {
		return err
	}
	logins, err := in.Vault.ReadLogins()
	if err != nil {
		return err
	}
	if stored := logins.Of(in.settings); stored != nil {
		if secret, err := in.Vault.SecretOf(in.c.Context, stored); err == nil && secret.Password != "" {
			in.password = secret.Password
			return nil
		}
	}
	alternative := "--password-stdin, --password-file or " + profile.EnvPassword
	in.password, err = in.demand("password of "+in.user, alternative, in.Prompter.ReadSecret)
	return err
}

// demand prompts for a required text. alternative names the flags and variables for
// it.
func (in *signIn) demand(
	name, alternative string, prompt func(context.Context, string) (string, error),
) (string, error) {
	if !in.MayPrompt(in.c) {
		return "", cmdline.Usagef("cannot prompt for the %s without a terminal; use %s", name, alternative)
	}
	text, err := prompt(in.c.Context, strings.ToUpper(name[:1])+name[1:]+": ")
	if err == nil && text == "" {
		err = cmdline.Usagef("the %s is empty", name)
	}
	return text, err
}

// store stores the login in the keyring, or in a file with --insecure-storage.
func (in *signIn) store(session string) (place string, err error) {
	secret := profile.Secret{Session: session}
	if in.c.Bool("remember") {
		secret.Password = in.password
	}
	l := &profile.Login{
		Profile: in.profile,
		URL:     in.service.URL(),
		User:    in.user,
		Store:   profile.InKeyring,
	}
	if err = in.Vault.Store(in.c.Context, l, secret); err == nil {
		return l.Place(""), nil
	}
	if !in.c.Bool("insecure-storage") {
		return "", fmt.Errorf("cannot store the login: %w; use --insecure-storage to store it in a file, or set %s or %s",
			err, profile.EnvToken, profile.EnvPassword)
	}
	in.Notice(in.c, "%s", err)
	l.Store = profile.InFile
	if err = in.Vault.Store(in.c.Context, l, secret); err != nil {
		return "", err
	}
	logins, err := in.Vault.ReadLogins()
	return l.Place(logins.Path), err
}

// storeProfile creates the profile or updates its address and user. The first
// profile becomes the default.
func (in *signIn) storeProfile() error {
	file := in.settings.File
	values := map[string]string{"url": in.service.URL(), "user": in.user}
	var err error
	for _, name := range []string{"url", "user"} {
		s, _ := profile.LookupSetting(name)
		if stored := file.Lookup(in.profile, name); stored != nil && stored.Text == values[name] {
			continue
		}
		if file, err = file.Set(in.profile, s, values[name]); err != nil {
			return err
		}
	}
	if file.Lookup("", "profile") == nil {
		if file, err = file.Use(in.profile); err != nil {
			return err
		}
	}
	if file == in.settings.File {
		return nil
	}
	return file.Save()
}

// logout runs whctl logout. The stored login is deleted even if the service is
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
	if err := s.Vault.Forget(c.Context, stored); err != nil && secretErr == nil {
		return err
	}
	if secretErr != nil {
		s.Notice(c, "stored login deleted; its session could not be ended and will expire: %s", secretErr)
		return nil
	}
	o, err := s.Options(c)
	if err == nil {
		err = endSession(c, o, secret.Session)
	}
	if err != nil {
		return fmt.Errorf("stored login deleted, but its session could not be ended: %w", err)
	}
	s.Notice(c, "signed out of %s", settings.Text("url"))
	return nil
}

// endSession ends a session. An unknown session is not an error.
func endSession(c *cli.Context, o client.Options, session string) error {
	o.Session = session
	service, err := client.New(o)
	if err != nil {
		return err
	}
	defer service.Close()
	if err := service.Logout(c.Context); !client.Is(err, client.Unauthorized) {
		return err
	}
	return nil
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
		_, err = out.Lines(whoamiColumns, [][]any{{
			session.UserName, session.DisplayName, session.Role, command.NilIfZero(profile.Expiry(session)), session.Via, id.Source, command.NilIfZero(settings.Profile), service.URL(),
		}})
		return err
	})(c)
}
