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
	"github.com/bizhook/whd/cmd/whctl/output"
	"github.com/bizhook/whd/cmd/whctl/profile"
)

func (p *program) loginCommands() []*cli.Command {
	return []*cli.Command{
		{
			Name: "login", Usage: "sign in, and remember it for the profile", Action: p.login,
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "remember", Usage: "store the password too, to sign in anew when the session is over"},
				&cli.BoolFlag{Name: "insecure-storage", Usage: "where there is no keyring, store secrets in a file that only you can read"},
			},
			Description: `whctl login --profile prod --url https://erp01:5050 --user jsmith
whctl login --password-file secret.txt --remember`,
		},
		{Name: "logout", Usage: "end the session and forget the login", Action: p.logout},
		{Name: "whoami", Usage: "show who is signed in, until when, and where the secret is", Flags: output.Flags(), Action: p.whoami},
	}
}

// signIn is a login on its way.
type signIn struct {
	*program
	c        *cli.Context
	settings *profile.Settings
	profile  string
	user     string
	password string
	service  *client.Client
}

// login is whctl login: it signs in, stores the login, and then the profile
// that it belongs to.
func (p *program) login(c *cli.Context) error {
	s, err := profile.Resolve(c, p.env, true)
	if err != nil {
		return err
	}
	p.resolved = s
	in := &signIn{program: p, c: c, settings: s, profile: cmp.Or(s.Profile, profile.NoProfile), user: s.Text("user")}
	if err := in.credentials(); err != nil {
		return err
	}
	o, err := p.options(c, s)
	if err != nil {
		return err
	}
	if in.service, err = client.New(o); err != nil {
		return err
	}
	defer in.service.Close()
	in.warnOfPlainHTTP()
	session, err := in.service.Login(c.Context, in.user, in.password)
	if err != nil {
		return err
	}
	in.user = cmp.Or(session.UserName, in.user)
	place, err := in.keep(session.SessionID)
	if err != nil {
		return in.undo(err)
	}
	if err := in.keepProfile(); err != nil {
		return err
	}
	return in.tell(place)
}

// warnOfPlainHTTP tells those who are about to send a password for everybody to
// read.
func (in *signIn) warnOfPlainHTTP() {
	u, err := url.Parse(in.service.URL())
	if err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		in.notice(in.c, "warning: %s is not encrypted: whoever is on the way there can read the password; an address of https:// hides it", in.service.URL())
	}
}

// credentials finds the user and the password, and asks for what is missing.
func (in *signIn) credentials() (err error) {
	if in.user == "" {
		if in.user, err = in.demand("user name", "--user or "+profile.EnvUser, in.prompter.Ask); err != nil {
			return err
		}
	}
	if in.password, _, err = in.givenPassword(in.c); err != nil || in.password != "" {
		return err
	}
	logins, err := in.vault.ReadLogins()
	if err != nil {
		return err
	}
	if stored := logins.Of(in.settings); stored != nil {
		if secret, err := in.vault.SecretOf(in.c.Context, stored); err == nil && secret.Password != "" {
			in.password = secret.Password
			return nil
		}
	}
	in.password, err = in.demand("password of "+in.user, "--password-stdin, --password-file or "+profile.EnvPassword, in.prompter.AskSecret)
	return err
}

// demand asks for something that cannot be done without.
func (in *signIn) demand(what, otherwise string, ask func(context.Context, string) (string, error)) (string, error) {
	if !in.mayAsk(in.c) {
		return "", cmdline.Usagef("nobody can be asked for the %s here: give %s", what, otherwise)
	}
	text, err := ask(in.c.Context, strings.ToUpper(what[:1])+what[1:]+": ")
	if err == nil && text == "" {
		err = cmdline.Usagef("the %s is empty", what)
	}
	return text, err
}

// keep stores the login in the keyring, or where that is allowed in a file.
func (in *signIn) keep(session string) (place string, err error) {
	kept := profile.Secret{Session: session}
	if in.c.Bool("remember") {
		kept.Password = in.password
	}
	l := &profile.Login{Profile: in.profile, URL: in.service.URL(), User: in.user, Store: profile.InKeyring}
	if err = in.vault.Store(in.c.Context, l, kept); err == nil {
		return l.Place(""), nil
	}
	if !in.c.Bool("insecure-storage") {
		return "", fmt.Errorf("the login cannot be stored: %w; --insecure-storage keeps it in a file, %s or %s need none", err, profile.EnvToken, profile.EnvPassword)
	}
	in.notice(in.c, "%s", err)
	l.Store = profile.InFile
	if err = in.vault.Store(in.c.Context, l, kept); err != nil {
		return "", err
	}
	logins, err := in.vault.ReadLogins()
	return l.Place(logins.Path), err
}

// undo ends a session that nobody could use again.
func (in *signIn) undo(err error) error {
	_ = in.service.Logout(in.c.Context) // it ends by itself in the end
	return err
}

// keepProfile makes the profile, or brings its address and user up to date. The
// first one is used from now on.
func (in *signIn) keepProfile() error {
	file := in.settings.File
	values := map[string]string{"url": in.service.URL(), "user": in.user}
	var err error
	for _, name := range []string{"url", "user"} {
		s, _ := profile.Named(name)
		if have := file.Lookup(in.profile, name); have != nil && have.Text == values[name] {
			continue
		}
		if file, err = file.Set(in.profile, s, values[name]); err != nil {
			return err
		}
	}
	if file.Lookup("", "profile") == nil {
		s, _ := profile.Named("profile")
		if file, err = file.Set("", s, in.profile); err != nil {
			return err
		}
	}
	if file == in.settings.File {
		return nil
	}
	return file.Save()
}

// tell says who is signed in now.
func (in *signIn) tell(place string) error {
	who, err := in.service.CurrentSession(in.c.Context)
	if err != nil {
		return err
	}
	in.notice(in.c, "signed in to %s as %s (%s), profile %s%s; the secret is in the %s",
		in.service.URL(), who.UserName, who.Role, in.profile, until(who), place)
	return nil
}

func until(who *wire.CurrentSession) string {
	if who.ExpiryDateTime == "" {
		return ""
	}
	return ", until " + who.ExpiryDateTime
}

// logout is whctl logout. The login is forgotten here even if the service
// cannot be told.
func (p *program) logout(c *cli.Context) error {
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	logins, err := p.vault.ReadLogins()
	if err != nil {
		return err
	}
	stored := logins.Of(s)
	if stored == nil {
		p.notice(c, "nobody is signed in to %s", s.Text("url"))
		return nil
	}
	kept, secretErr := p.vault.SecretOf(c.Context, stored)
	if err := p.vault.Forget(c.Context, stored); err != nil && secretErr == nil {
		return err
	}
	if secretErr != nil {
		p.notice(c, "the login is forgotten; its session ends by itself, since it cannot be read: %s", secretErr)
		return nil
	}
	if err := p.endSession(c, s, kept.Session); err != nil {
		return fmt.Errorf("the login is forgotten, but its session lives on: %w", err)
	}
	p.notice(c, "signed out of %s", s.Text("url"))
	return nil
}

// endSession tells the service. One that knows the session no longer is fine.
func (p *program) endSession(c *cli.Context, s *profile.Settings, session string) error {
	o, err := p.options(c, s)
	if err != nil {
		return err
	}
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
	{Name: "User", Type: record.Text}, {Name: "DisplayName", Type: record.Text}, {Name: "Role", Type: record.Text}, {Name: "Expires", Type: record.DateTime},
	{Name: "Via", Type: record.Text}, {Name: "Secret", Type: record.Text}, {Name: "Profile", Type: record.Text}, {Name: "URL", Type: record.Text},
}

// whoami is whctl whoami.
func (p *program) whoami(c *cli.Context) error {
	service, err := p.connect(c)
	if err != nil {
		return err
	}
	defer service.Close()
	who, err := service.CurrentSession(c.Context)
	if err != nil {
		return err
	}
	s, err := p.settings(c)
	if err != nil {
		return err
	}
	asked, err := p.identity(c, s)
	if err != nil {
		return err
	}
	_, err = p.printer(c).Lines(whoamiColumns, [][]any{{
		who.UserName, who.DisplayName, who.Role, nilIfEmpty(who.ExpiryDateTime), who.Via, asked.source, nilIfEmpty(s.Profile), service.URL(),
	}})
	return err
}

// nilIfEmpty is the null that an absent text stands for.
func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}
