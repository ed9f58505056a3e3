// Package state stores the settings of the screens between runs: arrangement of rows,
// saved views and command history.
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

// State is the content of the state file of one profile. Marks are not stored, so that
// rows to be changed are selected explicitly in each session.
type State struct {
	Version  int
	Grids    map[string]Arrangement `json:",omitempty"` // keyed by record kind
	Views    []View                 `json:",omitempty"`
	Commands []string               `json:",omitempty"` // command history, oldest first
	Opened   map[string]time.Time   `json:",omitempty"` // when the rows of a record kind were last opened

	ExportFormat string `json:",omitempty"` // name of the format of the last export
}

// Arrangement is how the rows of a record kind are shown.
type Arrangement struct {
	Fields  []string       `json:",omitempty"` // shown fields, in order
	Widths  map[string]int `json:",omitempty"` // set by the user, in cells
	Frozen  int            `json:",omitempty"` // number of frozen columns
	OrderBy string         `json:",omitempty"` // a field, preceded by - if descending
	Where   []string       `json:",omitempty"` // filters as typed
}

// fileVersion is the format version of the file. Files of newer versions are not
// modified.
const fileVersion = 1

// maxCommands is the length of the command history.
const maxCommands = 100

// Store holds the state in memory and, if it has a path, in a file.
type Store struct {
	State
	Path string // empty if the state is not stored

	mu      sync.Mutex // guards the file and the fields below
	pending []func(*State)
	failing bool // the last write failed
}

// Open reads the state of a profile from a directory; without a directory, the state is
// only kept in memory. The store is usable even if Open returns an error. A file that
// cannot be parsed is renamed.
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
		return k, fmt.Errorf("%w; renaming it failed: %w", err, renameErr)
	}
	return k, fmt.Errorf("%w; renamed to %s", err, backup)
}

var errNewer = errors.New("written by a newer whctl: settings are not saved in this session")

// readFile reads the file. It returns an empty state if the file does not exist.
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

// change applies a change in memory and queues it for the next Write.
func (k *Store) change(apply func(*State)) {
	apply(&k.State)
	if k.Path == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, apply)
}

// Due reports whether there are unwritten changes.
func (k *Store) Due() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.pending) > 0
}

// Write applies the queued changes to the file, preserving changes by other sessions.
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
	out.SetEscapeHTML(false) // conditions stay readable
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

// replace atomically writes a file that only its owner can read.
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

// removeIfExists removes a file; it is not an error if the file does not exist.
func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RecordWrite stores the outcome of a Write and reports whether the previous one
// failed, so that an error is shown only once.
func (k *Store) RecordWrite(failed bool) (before bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.failing = k.failing, failed
	return before
}

// SetGrid sets the arrangement of a kind.
func (k *Store) SetGrid(kind string, a Arrangement) {
	k.change(func(all *State) {
		if all.Grids == nil {
			all.Grids = make(map[string]Arrangement)
		}
		all.Grids[kind] = a
	})
}

// SetOpened sets when the rows of a kind were last opened.
func (k *Store) SetOpened(kind string, at time.Time) {
	k.change(func(all *State) {
		if all.Opened == nil {
			all.Opened = make(map[string]time.Time)
		}
		all.Opened[kind] = at
	})
}

// SetExportFormat sets the format of the last export.
func (k *Store) SetExportFormat(name string) {
	k.change(func(all *State) { all.ExportFormat = name })
}

// AddCommand adds a command to the history and removes earlier occurrences.
func (k *Store) AddCommand(text string) {
	k.change(func(all *State) {
		all.Commands = append(slices.DeleteFunc(all.Commands, func(command string) bool {
			return command == text
		}), text)
		all.Commands = all.Commands[max(0, len(all.Commands)-maxCommands):]
	})
}

// View is a saved list of records or messages.
type View struct {
	Name         string
	Record       string // the kind
	Subscription string `json:",omitempty"` // SubscriptionID, for messages
	Label        string `json:",omitempty"` // display name of the subscription
	Problems     bool   `json:",omitempty"` // failed messages only
	Undelivered  bool   `json:",omitempty"` // failed and pending messages only
	Arrangement
}

// SetView adds a view or replaces the view with the same name.
func (k *Store) SetView(v View) {
	k.change(func(all *State) {
		i := slices.IndexFunc(all.Views, func(view View) bool { return view.Name == v.Name })
		if i < 0 {
			all.Views = append(all.Views, v)
			return
		}
		all.Views[i] = v
	})
}

// DeleteView removes a view.
func (k *Store) DeleteView(name string) {
	k.change(func(all *State) {
		all.Views = slices.DeleteFunc(all.Views, func(view View) bool { return view.Name == name })
	})
}

// View returns the view with a name.
func (k *Store) View(name string) (View, bool) {
	i := slices.IndexFunc(k.Views, func(view View) bool { return view.Name == name })
	if i < 0 {
		return View{}, false
	}
	return k.Views[i], true
}
