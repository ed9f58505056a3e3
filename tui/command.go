package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/screens/records"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/ui"
)

// command is a command of the palette.
type command struct {
	name string
	help string
	key  string // does the same on a screen; empty for none
	// check returns the error of an argument; nil if the command takes any text.
	check func(p *palette, argument string) error
	// completions lists the possible arguments; nil for none.
	completions func(p *palette) []string
	run         func(p *palette, argument string) tea.Cmd
}

// commands returns all commands.
func commands() []command {
	return []command{
		{
			name: "help",
			help: "show the keys of the current screen",
			key:  everywhere(keymap.ShowHelp),
			run:  does(keymap.ShowHelp),
		},
		{
			name: "cli",
			help: "show the equivalent whctl command",
			key:  everywhere(keymap.ShowCommand),
			run:  does(keymap.ShowCommand),
		},
		{
			name: "rw",
			help: "allow changes in this session",
			run: func(p *palette, argument string) tea.Cmd {
				return p.account.AllowChanges(argument)
			},
		},
		{
			name: "ro",
			help: "forbid changes in this session",
			run: func(p *palette, _ string) tea.Cmd {
				p.account.ForbidChanges()
				return nil
			},
		},
		{
			name:        "save",
			help:        "save these rows as a view: save NAME",
			check:       (*palette).checkViewName,
			completions: (*palette).viewNames,
			run:         (*palette).saveView,
		},
		{
			name:        "drop",
			help:        "delete a view: drop NAME",
			check:       (*palette).checkView,
			completions: (*palette).viewNames,
			run:         (*palette).dropView,
		},
		{
			name: "profiles",
			help: "switch to another profile",
			key:  everywhere(keymap.SwitchProfile),
			run:  does(keymap.SwitchProfile),
		},
		{
			name: "errors",
			help: "list errors",
			key:  everywhere(keymap.ShowErrors),
			run:  does(keymap.ShowErrors),
		},
		{
			name: "jobs",
			help: "list exports of this session",
			key:  everywhere(keymap.ShowJobs),
			run:  does(keymap.ShowJobs),
		},
		{
			name:  "bill",
			help:  "custom fields of a bill: BILL/STAGE, or BILL/STAGE/SETTING",
			check: func(_ *palette, text string) error { return records.CheckBill(text) },
			run: func(p *palette, argument string) tea.Cmd {
				return p.host.Open(ui.BillTarget{IDs: argument})
			},
		},
		{
			name:  "why",
			help:  "the history of a key, or of a message by ID: why KEY",
			key:   inRows(keymap.ShowWhy),
			check: (*palette).checkKey,
			run: func(p *palette, key string) tea.Cmd {
				return p.host.Open(ui.WhyTarget{Key: key})
			},
		},
		{
			name:        "changes",
			help:        "live list of the changes of records: changes RECORD",
			key:         inRows(keymap.ShowChanges),
			check:       (*palette).checkKind,
			completions: (*palette).kindNames,
			run: func(p *palette, name string) tea.Cmd {
				kind, _ := p.session.Registry.Lookup(name) // checked
				return p.host.Open(ui.ChangesTarget{Kind: kind})
			},
		},
		{
			name: "refresh",
			help: "refresh the screen",
			key:  everywhere(keymap.Refresh),
			run: func(p *palette, _ string) tea.Cmd {
				return p.host.Refresh()
			},
		},
		{
			name: "login",
			help: "sign in",
			run: func(p *palette, _ string) tea.Cmd {
				p.host.ShowSignIn()
				return nil
			},
		},
		{
			name: quitCommand,
			help: "quit whctl",
			key:  everywhere(keymap.Quit),
			run:  does(keymap.Quit),
		},
	}
}

// quitCommand is the name of the command that quits.
const quitCommand = "quit"

// everywhere returns the key of an action on all screens.
func everywhere(action keymap.Action) string { return keymap.KeyFor(keymap.Everywhere, action) }

// inRows returns the key of an action in the rows of a record kind.
func inRows(action keymap.Action) string { return keymap.KeyFor(keymap.InBrowser, action) + " in rows" }

// does returns the function of a command that runs the binding of an action.
func does(action keymap.Action) func(p *palette, _ string) tea.Cmd {
	return func(p *palette, _ string) tea.Cmd {
		return p.host.Do(keymap.Binding{Action: action}, "")
	}
}

// commandOf finds a command by its exact name.
func commandOf(name string) (command, bool) {
	list := commands()
	i := slices.IndexFunc(list, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return list[i], true
}

// checkArgument returns an error if the command cannot run with an argument.
func (c command) checkArgument(p *palette, argument string) error {
	if c.check == nil {
		return nil
	}
	return c.check(p, argument)
}

// maxViewName is the maximum length of the name of a view.
const maxViewName = 40

// checkKey returns an error without a key.
func (p *palette) checkKey(key string) error {
	if key == "" {
		return errors.New("give the key of an event or record, or the ID of a message")
	}
	return nil
}

// checkKind returns an error if there is no record kind with a name.
func (p *palette) checkKind(name string) error {
	if _, ok := p.session.Registry.Lookup(name); !ok {
		return fmt.Errorf("unknown record kind: %q", name)
	}
	return nil
}

func (p *palette) kindNames() []string {
	return record.Texts(p.session.Registry.Kinds(), func(kind *record.Kind) string { return kind.Name })
}

// checkViewName returns an error if a name is not a single word, or is already used by
// another target.
func (p *palette) checkViewName(name string) error {
	if name == "" {
		return errors.New("enter a name, such as :save failed-today")
	}
	if strings.ContainsAny(name, " @:\t") || len(name) > maxViewName {
		return fmt.Errorf("view names are one word without @ and :, at most %d characters", maxViewName)
	}
	if _, isView := p.session.State.View(name); isView {
		return nil // it is replaced
	}
	isTaken := func(t target) bool { return strings.EqualFold(t.name, name) }
	if slices.ContainsFunc(p.targets(), isTaken) {
		return fmt.Errorf("%s is already in use", name)
	}
	return nil
}

// checkView returns an error if there is no view with a name.
func (p *palette) checkView(name string) error {
	if _, ok := p.session.State.View(name); ok {
		return nil
	}
	if names := p.viewNames(); len(names) > 0 {
		return fmt.Errorf("enter the name of a view: %s", strings.Join(names, ", "))
	}
	return errors.New("no saved views; add one with :save NAME")
}

func (p *palette) viewNames() []string {
	return record.Texts(p.session.State.Views, func(v state.View) string { return v.Name })
}

// saveView saves the screen in front as a view.
func (p *palette) saveView(name string) tea.Cmd {
	v, ok := p.tabs.Front().(ui.Viewer)
	if !ok {
		p.host.Notify(ui.Warning, ui.ErrNoView.Error())
		return nil
	}
	view, err := v.AsView()
	if err != nil {
		p.host.Notify(ui.Warning, err.Error())
		return nil
	}
	view.Name = name
	_, replaced := p.session.State.View(name)
	p.session.State.SetView(view)
	v.SetViewName(name)
	text := name + " saved: open it from Home or with :" + name
	if replaced {
		text = name + " replaced"
	}
	p.host.Notify(ui.Info, text)
	return nil
}

// dropView deletes a view.
func (p *palette) dropView(name string) tea.Cmd {
	p.session.State.DeleteView(name)
	p.host.Notify(ui.Info, name+" deleted")
	return nil
}
