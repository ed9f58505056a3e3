package tui

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

	tea "github.com/charmbracelet/bubbletea"
)

// kept is what outlives a session, of one profile. Marks are never part of it:
// what is going to be changed is chosen anew each time.
type kept struct {
	Version  int
	Grids    map[string]arrangement `json:",omitempty"` // by record kind
	Views    []view                 `json:",omitempty"`
	Commands []string               `json:",omitempty"` // that were typed, the last behind
	Opened   map[string]time.Time   `json:",omitempty"` // when the rows of a record kind were, last
}

// arrangement is how the rows of a kind are shown.
type arrangement struct {
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

// keeper keeps it in memory and, where it has a path, in a file.
type keeper struct {
	kept
	path string // empty where nothing outlives the session

	mu      sync.Mutex // of the file and of what is not in it yet
	pending []func(*kept)
	failing bool // the last write
}

// openKeeper reads what was kept of a profile in a directory, which may be
// empty. The keeper can be used also where there is an error: a file that makes
// no sense is set aside.
func openKeeper(dir, profile string) (*keeper, error) {
	k := &keeper{}
	if dir == "" {
		return k, nil
	}
	k.path = filepath.Join(dir, cmp.Or(profile, "default")+".json")
	had, err := readKept(k.path)
	if err == nil {
		k.kept = had
		return k, nil
	}
	if errors.Is(err, errNewer) {
		k.path = ""
		return k, err
	}
	aside := k.path + ".unreadable"
	if moved := os.Rename(k.path, aside); moved != nil {
		k.path = ""
		return k, fmt.Errorf("%w, and it cannot be set aside: %w", err, moved)
	}
	return k, fmt.Errorf("%w; it is set aside as %s", err, aside)
}

var errNewer = errors.New("a newer whctl has written it: nothing is kept in this session")

// readKept reads the file. One that does not exist is empty.
func readKept(path string) (kept, error) {
	var had kept
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
		return kept{}, fmt.Errorf("%s: %w", path, err)
	}
	return had, nil
}

// change changes what is kept: in memory now, in the file with the next write.
func (k *keeper) change(how func(*kept)) {
	how(&k.kept)
	if k.path == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pending = append(k.pending, how)
}

// due reports whether something is not in the file yet.
func (k *keeper) due() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.pending) > 0
}

// write makes the changes since the last time in the file too. What another
// session has changed there meanwhile stays.
func (k *keeper) write() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pending) == 0 {
		return nil
	}
	now, err := readKept(k.path)
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
	if err := replace(k.path, text.Bytes()); err != nil {
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

// keep writes down what has changed since the last time.
func (a *app) keep() tea.Cmd {
	k := a.keeper
	if !k.due() {
		return nil
	}
	return func() tea.Msg {
		err := k.write()
		if told := k.fails(err != nil); err != nil && !told {
			return keptMsg{reply{err: err}}
		}
		return nil
	}
}

// fails takes note of how a write went, and tells whether the one before failed
// too: once is enough to tell the user. What is not in the file waits.
func (k *keeper) fails(now bool) (before bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, k.failing = k.failing, now
	return before
}

// commandHistory is what typed commands are found under.
const commandHistory = "command"

// recallCommands makes the commands of former sessions those of this one.
func (a *app) recallCommands() {
	a.history[commandHistory] = slices.Clone(a.keeper.Commands)
}

// setGrid keeps how a kind is shown.
func (k *keeper) setGrid(kind string, a arrangement) {
	k.change(func(all *kept) {
		if all.Grids == nil {
			all.Grids = make(map[string]arrangement)
		}
		all.Grids[kind] = a
	})
}

// setOpened keeps when the rows of a kind were opened.
func (k *keeper) setOpened(kind string, at time.Time) {
	k.change(func(all *kept) {
		if all.Opened == nil {
			all.Opened = make(map[string]time.Time)
		}
		all.Opened[kind] = at
	})
}

// addCommand keeps a command that was typed, once.
func (k *keeper) addCommand(text string) {
	k.change(func(all *kept) {
		all.Commands = append(slices.DeleteFunc(all.Commands, func(one string) bool { return one == text }), text)
		all.Commands = all.Commands[max(0, len(all.Commands)-commandsKept):]
	})
}
