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
	s := &Store{}
	if dir == "" {
		return s, nil
	}
	s.Path = filepath.Join(dir, cmp.Or(profile, "default")+".json")
	stored, err := readFile(s.Path)
	if err == nil {
		s.State = stored
		return s, nil
	}
	if errors.Is(err, errNewer) {
		s.Path = ""
		return s, err
	}
	backup := s.Path + ".unreadable"
	if renameErr := os.Rename(s.Path, backup); renameErr != nil {
		s.Path = ""
		return s, fmt.Errorf("%w; renaming it failed: %w", err, renameErr)
	}
	return s, fmt.Errorf("%w; renamed to %s", err, backup)
}

var errNewer = errors.New("written by a newer whctl: settings are not saved in this session")

// readFile reads the file. It returns an empty state if the file does not exist.
func readFile(path string) (State, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	var stored State
	if err := json.Unmarshal(text, &stored); err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	if stored.Version > fileVersion {
		return State{}, fmt.Errorf("%s: %w", path, errNewer)
	}
	return stored, nil
}

// change applies a change in memory and queues it for the next Write.
func (s *Store) change(apply func(*State)) {
	apply(&s.State)
	if s.Path == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, apply)
}

// Due reports whether there are unwritten changes.
func (s *Store) Due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0
}

// Write applies the queued changes to the file, preserving changes by other sessions.
func (s *Store) Write() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return nil
	}
	current, err := readFile(s.Path)
	if err != nil {
		return err
	}
	current.Version = fileVersion
	for _, apply := range s.pending {
		apply(&current)
	}
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false) // conditions stay readable
	out.SetIndent("", "  ")
	if err := out.Encode(current); err != nil {
		return err
	}
	if err := replace(s.Path, text.Bytes()); err != nil {
		return err
	}
	s.pending = nil
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
func (s *Store) RecordWrite(failed bool) (before bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.failing = s.failing, failed
	return before
}

// SetGrid sets the arrangement of a kind.
func (s *Store) SetGrid(kind string, a Arrangement) {
	s.change(func(state *State) {
		if state.Grids == nil {
			state.Grids = make(map[string]Arrangement)
		}
		state.Grids[kind] = a
	})
}

// SetOpened sets when the rows of a kind were last opened.
func (s *Store) SetOpened(kind string, openedAt time.Time) {
	s.change(func(state *State) {
		if state.Opened == nil {
			state.Opened = make(map[string]time.Time)
		}
		state.Opened[kind] = openedAt
	})
}

// SetExportFormat sets the format of the last export.
func (s *Store) SetExportFormat(name string) {
	s.change(func(state *State) { state.ExportFormat = name })
}

// AddCommand adds a command to the history and removes earlier occurrences.
func (s *Store) AddCommand(text string) {
	s.change(func(state *State) {
		remaining := slices.DeleteFunc(state.Commands, func(command string) bool { return command == text })
		state.Commands = append(remaining, text)
		state.Commands = state.Commands[max(0, len(state.Commands)-maxCommands):]
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
func (s *Store) SetView(v View) {
	s.change(func(state *State) {
		i := slices.IndexFunc(state.Views, func(view View) bool { return view.Name == v.Name })
		if i < 0 {
			state.Views = append(state.Views, v)
			return
		}
		state.Views[i] = v
	})
}

// DeleteView removes a view.
func (s *Store) DeleteView(name string) {
	s.change(func(state *State) {
		state.Views = slices.DeleteFunc(state.Views, func(view View) bool { return view.Name == name })
	})
}

// View returns the view with a name.
func (s *Store) View(name string) (View, bool) {
	i := slices.IndexFunc(s.Views, func(view View) bool { return view.Name == name })
	if i < 0 {
		return View{}, false
	}
	return s.Views[i], true
}
