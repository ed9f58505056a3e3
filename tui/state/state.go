// Package state is what the screens remember between runs: how rows are shown,
// saved views, commands that were typed.
package state

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// State is what outlives a session, of one profile. Marks are never part of it:
// what is going to be changed is chosen anew each time.
type State struct {
	Version  int
	Grids    map[string]Arrangement `json:",omitempty"` // by record kind
	Views    []View                 `json:",omitempty"`
	Commands []string               `json:",omitempty"` // that were typed, the last behind
	Opened   map[string]time.Time   `json:",omitempty"` // when the rows of a record kind were, last
}

// Arrangement is how the rows of a kind are shown.
type Arrangement struct {
	Fields  []string       `json:",omitempty"` // shown, in their order
	Widths  map[string]int `json:",omitempty"` // chosen by hand, in cells
	Frozen  int            `json:",omitempty"` // how many of the first stay in place
	OrderBy string         `json:",omitempty"` // a field, with - before it downwards
	Where   []string       `json:",omitempty"` // as they are typed
}

// keptVersion is the form of the file. A newer one is left alone.
const keptVersion = 1

// commandsKept is how many typed commands are kept.
const commandsKept = 100

// Store keeps it in memory and, where it has a path, in a file.
type Store struct {
	State
	Path string // empty where nothing outlives the session

	mu      sync.Mutex // of the file and of what is not in it yet
	pending []func(*State)
	failing bool // the last write
}

// Open reads what was kept of a profile in a directory, which may be
// empty. The keeper can be used also where there is an error: a file that makes
// no sense is set aside.
func Open(dir, profile string) (*Store, error) {
	k := &Store{}
	if dir == "" {
		return k, nil
	}
	k.Path = filepath.Join(dir, cmp.Or(profile, "default")+".json")
	had, err := readKept(k.Path)
	if err == nil {
		k.State = had
		return k, nil
	}
	if errors.Is(err, errNewer) {
		k.Path = ""
		return k, err
	}
	aside := k.Path + ".unreadable"
	if moved := os.Rename(k.Path, aside); moved != nil {
		k.Path = ""
		return k, fmt.Errorf("%w, and it cannot be set aside: %w", err, moved)
	}
	return k, fmt.Errorf("%w; it is set aside as %s", err, aside)
}

var errNewer = errors.New("a newer whctl has written it: nothing is kept in this session")

// readKept reads the file. One that does not exist is empty.
func readKept(path string) (State, error) {
	var had State
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return had, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &had)
	}
	if err == nil && had.Version > keptVersion {
		err = errNewer
	}
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	return had, nil
}

// change changes what is kept: in memory now, in the file with the next write.
func (k *Store) change(how func(*State)) {
	how(&k.State)
	if k.Path == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, how)
}

// Due reports whether something is not in the file yet.
func (k *Store) Due() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.pending) > 0
}

// Write makes the changes since the last time in the file too. What another
// session has changed there meanwhile stays.
func (k *Store) Write() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pending) == 0 {
		return nil
	}
	now, err := readKept(k.Path)
	if err != nil {
		return err
	}
	now.Version = keptVersion
	for _, how := range k.pending {
		how(&now)
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false) // conditions are to be read by people too
	out.SetIndent("", "  ")
	if err := out.Encode(now); err != nil {
		return err
	}
	if err := replace(k.Path, text.Bytes()); err != nil {
		return err
	}
	k.pending = nil
	return nil
}

// replace writes a file that only its owner can read in place of another one.
func replace(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	part := path + "." + rand.Text() + ".part"
	err := os.WriteFile(part, text, 0o600)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, dropped(part))
	}
	return nil
}

// dropped takes a file away that may not be there.
func dropped(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Fails takes note of how a write went, and tells whether the one before failed
// too: once is enough to tell the user. What is not in the file waits.
func (k *Store) Fails(now bool) (before bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.failing = k.failing, now
	return before
}

// SetGrid keeps how a kind is shown.
func (k *Store) SetGrid(kind string, a Arrangement) {
	k.change(func(all *State) {
		if all.Grids == nil {
			all.Grids = make(map[string]Arrangement)
		}
		all.Grids[kind] = a
	})
}

// SetOpened keeps when the rows of a kind were opened.
func (k *Store) SetOpened(kind string, at time.Time) {
	k.change(func(all *State) {
		if all.Opened == nil {
			all.Opened = make(map[string]time.Time)
		}
		all.Opened[kind] = at
	})
}

// AddCommand keeps a command that was typed, once.
func (k *Store) AddCommand(text string) {
	k.change(func(all *State) {
		all.Commands = append(slices.DeleteFunc(all.Commands, func(one string) bool { return one == text }), text)
		all.Commands = all.Commands[max(0, len(all.Commands)-commandsKept):]
	})
}

// View is what somebody looks at often, under a name: rows of a kind, or
// messages.
type View struct {
	Name         string
	Record       string // the kind
	Subscription string `json:",omitempty"` // of messages
	Label        string `json:",omitempty"` // for people, of that
	Problems     bool   `json:",omitempty"` // messages that failed
	Undelivered  bool   `json:",omitempty"` // and those that wait
	Arrangement
}

// SetView keeps a view under its name.
func (k *Store) SetView(v View) {
	k.change(func(all *State) {
		i := slices.IndexFunc(all.Views, func(one View) bool { return one.Name == v.Name })
		if i < 0 {
			all.Views = append(all.Views, v)
			return
		}
		all.Views[i] = v
	})
}

// DropView forgets a view.
func (k *Store) DropView(name string) {
	k.change(func(all *State) {
		all.Views = slices.DeleteFunc(all.Views, func(one View) bool { return one.Name == name })
	})
}

func (k *Store) View(name string) (View, bool) {
	i := slices.IndexFunc(k.Views, func(one View) bool { return one.Name == name })
	if i < 0 {
		return View{}, false
	}
	return k.Views[i], true
}
