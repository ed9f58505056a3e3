package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/cmd/whctl/output"
)

// kindsAge is the age at which stored record kinds are requested again.
const kindsAge = 5 * time.Minute

// storedKinds are the record kinds of a service, in a file for each profile next to the
// configuration. Kinds is nil for a service of an earlier version.
type storedKinds struct {
	URL  string
	User string
	client.KindList

	at time.Time // of the last request
}

// kindsPath returns the path of the stored kinds of a profile; empty if there is no
// directory for them.
func (f *File) kindsPath(profile string) string {
	if f.Path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(f.Path), "kinds", cmp.Or(profile, NoProfile)+".json")
}

// RemoveKinds deletes the stored kinds of a profile.
func (f *File) RemoveKinds(profile string) error {
	if err := os.Remove(f.kindsPath(profile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readKinds returns the stored kinds; the zero value if there are none of the service and
// the user.
func (s *Settings) readKinds() (k storedKinds) {
	path := s.File.kindsPath(s.Profile)
	info, err := os.Stat(path)
	if err != nil {
		return k
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &k) != nil || k.URL != trimmedURL(s.Text("url")) || k.User != s.Text("user") {
		return storedKinds{}
	}
	k.at = info.ModTime()
	return k
}

// registry returns the kinds, or the built-in ones if there are none.
func (k *storedKinds) registry() *record.Registry {
	if k.Kinds != nil {
		if r, err := k.KindList.Registry(); err == nil {
			return r
		}
	}
	return record.Builtin()
}

// StoredKinds returns the record kinds that a command has stored, or else the built-in
// ones. It sends no request.
func (s *Settings) StoredKinds() *record.Registry {
	stored := s.readKinds()
	return stored.registry()
}

// RefreshKinds requests the record kinds of the service and stores them. If that fails, it
// returns those stored earlier, or else the built-in ones, with the error.
func (s *Settings) RefreshKinds(ctx context.Context, service *client.Client) (*record.Registry, error) {
	stored, path := s.readKinds(), s.File.kindsPath(s.Profile)
	list, err := service.KindList(ctx, stored.ETag)
	switch {
	case client.Is(err, client.NotFound):
		stored.KindList = client.KindList{}
	case err != nil:
		return stored.registry(), err
	case list == nil: // unchanged
		now := time.Now()
		_ = os.Chtimes(path, now, now) // otherwise they are requested again
		return stored.registry(), nil
	default:
		if r, err := list.Registry(); err != nil {
			return stored.registry(), err
		} else if stored.KindList = *list; path == "" {
			return r, nil
		}
	}
	stored.URL, stored.User = trimmedURL(s.Text("url")), s.Text("user")
	text, err := json.Marshal(stored)
	if err == nil && path != "" {
		_ = output.ReplaceFile(path, text, output.PrivateFile) // otherwise they are requested again
	}
	return stored.registry(), nil
}

// Kinds returns the record kinds of the service: those that a command stored in the last
// minutes, unless refresh is set, or else as RefreshKinds does. A dry run sends no request.
func (k *Connector) Kinds(c *cli.Context, refresh bool) (*record.Registry, error) {
	s, err := k.Settings(c)
	if err != nil {
		return nil, err
	}
	stored := s.readKinds()
	if age := time.Since(stored.at); c.Bool(DryRunFlag) || !refresh && age >= 0 && age < kindsAge {
		return stored.registry(), nil
	}
	service, err := k.ReadClient(c)
	if err != nil {
		return stored.registry(), err
	}
	defer service.Close()
	return s.RefreshKinds(c.Context, service)
}

// StoredKinds is Settings.StoredKinds for completion. global returns the value of a global
// flag.
func StoredKinds(env func(string) string, global func(name string) string) *record.Registry {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	for _, one := range Table {
		if value := global(one.Flag); one.Flag != "" && value != "" {
			set.String(one.Flag, "", "")
			_ = set.Set(one.Flag, value) // a string
		}
	}
	s, err := resolve(cli.NewContext(nil, set, nil), env, mayBeMissing)
	if err != nil {
		return record.Builtin()
	}
	return s.StoredKinds()
}
