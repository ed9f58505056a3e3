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

// fileVersion is the form of the file. A newer one is left alone.
const fileVersion = 1

// maxCommands is how many typed commands are kept.
const maxCommands = 100

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
	st, err := readFile(k.Path)
	if err == nil {
		k.State = st
		return k, nil
	}
	if errors.Is(err, errNewer) {
		k.Path = ""
		return k, err
	}
	backup := k.Path + ".unreadable"
	if renameErr := os.Rename(k.Path, backup); renameErr != nil {
		k.Path = ""
		return k, fmt.Errorf("%w, and it cannot be set aside: %w", err, renameErr)
	}
	return k, fmt.Errorf("%w; it is set aside as %s", err, backup)
}

var errNewer = errors.New("a newer whctl has written it: nothing is kept in this session")

// readFile reads the file. One that does not exist is empty.
func readFile(path string) (State, error) {
	var st State
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &st)
	}
	if err == nil && st.Version > fileVersion {
		err = errNewer
	}
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	return st, nil
}

// change changes what is kept: in memory now, in the file with the next write.
func (k *Store) change(apply func(*State)) {
	apply(&k.State)
	if k.Path == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, apply)
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
	current, err := readFile(k.Path)
	if err != nil {
		return err
	}
	current.Version = fileVersion
	for _, apply := range k.pending {
		apply(&current)
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false) // conditions are to be read by people too
	out.SetIndent("", "  ")
	if err := out.Encode(current); err != nil {
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
	temp := path + "." + rand.Text() + ".part"
	err := os.WriteFile(temp, text, 0o600)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	return nil
}

// removeIfExists takes a file away that may not be there.
func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RecordWrite takes note of how a write went, and tells whether the one before failed
// too: once is enough to tell the user. What is not in the file waits.
func (k *Store) RecordWrite(failed bool) (before bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.failing = k.failing, failed
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
		all.Commands = all.Commands[max(0, len(all.Commands)-maxCommands):]
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

// DeleteView forgets a view.
func (k *Store) DeleteView(name string) {
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
