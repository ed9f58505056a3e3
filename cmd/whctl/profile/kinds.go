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

// KindStore is the file with the record kinds of a service. Each profile has one, next to
// the configuration.
type KindStore struct {
	path string // empty if there is no configuration
	url  string
	user string
}

// storedKinds is the content of the file.
type storedKinds struct {
	URL  string
	User string
	At   time.Time // time of the last request
	client.KindList
}

// Kinds returns the store of the service's record kinds.
func (s *Settings) Kinds() KindStore {
	k := KindStore{url: trimmedURL(s.Text("url")), user: s.Text("user")}
	if s.File.Path != "" {
		k.path = filepath.Join(filepath.Dir(s.File.Path), "kinds", cmp.Or(s.Profile, NoProfile)+".json")
	}
	return k
}

// read returns the content of the file; the zero value if there is none of the service and
// the user.
func (s KindStore) read() storedKinds {
	text, err := os.ReadFile(s.path)
	if err != nil {
		return storedKinds{}
	}
	var stored storedKinds
	err = json.Unmarshal(text, &stored)
	if err != nil || stored.URL != s.url || stored.User != s.user {
		return storedKinds{}
	}
	return stored
}

// registry returns the kinds, or the built-in ones if they are invalid.
func (k storedKinds) registry() *record.Registry {
	if r, err := k.Registry(); err == nil {
		return r
	}
	return record.Builtin()
}

// Stored returns the record kinds that a command has stored, or else the built-in ones. It
// sends no request.
func (s KindStore) Stored() *record.Registry {
	return s.read().registry()
}

// Remove deletes the stored kinds.
func (s KindStore) Remove() error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Refresh requests the record kinds of the service and stores them. If that fails, it
// returns those stored earlier, or else the built-in ones, with the error.
func (s KindStore) Refresh(ctx context.Context, service *client.Client) (*record.Registry, error) {
	stored := s.read()
	list, err := service.KindList(ctx, stored.ETag)
	if err != nil {
		return stored.registry(), err
	}
	if list != nil { // they have changed
		if _, err := list.Registry(); err != nil {
			return stored.registry(), err
		}
		stored.KindList = *list
	}
	stored.URL = s.url
	stored.User = s.user
	stored.At = time.Now()
	text, err := json.Marshal(stored)
	if err == nil && s.path != "" {
		_ = output.ReplaceFile(s.path, text, output.PrivateFile) // otherwise they are requested again
	}
	return stored.registry(), nil
}

// StoredKinds is KindStore.Stored for completion. global returns the value of a global
// flag.
func StoredKinds(env func(string) string, global func(name string) string) *record.Registry {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	for _, setting := range Table {
		if setting.Flag == "" || global(setting.Flag) == "" {
			continue
		}
		set.String(setting.Flag, "", "")
		_ = set.Set(setting.Flag, global(setting.Flag)) // any text is a string
	}
	s, err := resolve(cli.NewContext(nil, set, nil), env, MayBeMissing)
	if err != nil {
		return record.Builtin()
	}
	return s.Kinds().Stored()
}
