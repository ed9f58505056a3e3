package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/urfave/cli/v2"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/tui"
)

// keysTable holds the keys of the screens: by action, or in a table of its own
// by scope and action. What the names mean is found out by who needs it, so that
// a key of the screens keeps no other command from working.
const keysTable = "keys"

// addKeys takes up the keys of an action.
func (f *configFile) addKeys(names []string, line int, value *unstable.Node) error {
	one := tui.KeySetting{Action: names[len(names)-1], Origin: fmt.Sprintf("%s:%d", f.path, line)}
	switch len(names) {
	case 1, 2:
	case 3:
		one.Scope = names[1]
	default:
		return usagef("%s: unknown key %q", one.Origin, strings.Join(names, "."))
	}
	wrong := usagef(`%s: %s must be a list of keys such as ["r", "f9"]`, one.Origin, strings.Join(names, "."))
	if len(names) == 1 || value.Kind != unstable.Array {
		return wrong
	}
	for items := value.Children(); items.Next(); {
		item := items.Node()
		if item.Kind != unstable.String {
			return wrong
		}
		one.Keys = append(one.Keys, string(item.Data))
	}
	f.keys = append(f.keys, one)
	return nil
}

// keymap is what keys of the screens mean by this configuration.
func (f *configFile) keymap() (tui.Keymap, error) {
	keys, err := tui.NewKeymap(f.keys)
	if err != nil {
		return nil, usagef("%s", err)
	}
	return keys, nil
}

var keymapColumns = []column{{"Scope", record.Text}, {"Action", record.Text}, {"Keys", record.Text}, {"Meaning", record.Text}}

// listKeymap is whctl config keys.
func (p *program) listKeymap(c *cli.Context) error {
	file, err := p.readConfig()
	if err != nil {
		return err
	}
	keys, err := file.keymap()
	if err != nil {
		return err
	}
	var lines [][]any
	for _, row := range keys.Rows() {
		lines = append(lines, []any{row.Scope, row.Action, nilIfEmpty(strings.Join(row.Keys, " ")), row.Help})
	}
	_, err = p.show(c, keymapColumns, lines)
	return err
}

// keymap looks at the keys that the configuration gives the screens, where it
// gives any.
func (d *patient) keymap() finding {
	if d.settings == nil || len(d.settings.file.keys) == 0 {
		return finding{}
	}
	if _, err := d.settings.file.keymap(); err != nil {
		return finding{Result: wrong, Detail: err.Error(), Fix: "whctl config edit; whctl config keys lists actions"}
	}
	return finding{Result: fine, Detail: "of " + countOf(int64(len(d.settings.file.keys)), "action", "actions") + " are the configuration's"}
}

func helpKeymap(w io.Writer) {
	fmt.Fprint(w, `What keys do in whctl tui can be chosen in the configuration (whctl config edit):

  [keys]
  retry = ["r", "f9"]       wherever the action stands
  help = ["f1"]
  undo = []                 no key: the list of actions (x) still has it

  [keys.messages]           in the list of messages alone; this wins over [keys]
  delete = ["D", "delete"]

whctl config keys lists the actions with the keys that they have now. A key is a
letter or a sign, capital letters being others than small ones, or a name: space,
enter, esc, tab, shift+tab, up, pgdown, home, insert, f1 to f20, ctrl+r, alt+x.
The keys of tabs are as many as there are tabs, in their order.

Each key means one thing: one that another action of the same screen has is an
error, and so is a yes to questions on enter or on a key that asks them. What
leads out always has a key, and ctrl+c always quits. whctl doctor tells what is
wrong, and whctl tui does not begin until it is mended.
`)
}
