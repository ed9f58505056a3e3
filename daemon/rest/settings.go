package rest

import (
	"context"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/metadata"
	"github.com/bizhook/whd/daemon/query"
)

// Settings are those of the service that may change while it runs.
type Settings interface {
	// All lists them as they are now.
	All() []wire.Setting
	// Change gives them other texts, all or none, and does not return before
	// requests go by them.
	Change(ctx context.Context, to []SettingChange, by audit.Actor) error
}

// SettingChange is another text for a setting, or nil to go back to what the
// file or the default says.
type SettingChange struct {
	Name  string
	Text  *string
	Wrong string // why what was said of it is no text; empty where it is
}

// changeSettings is the operation whose members are the settings.
const changeSettings = "ChangeSettings"

// settingMembers are the settings as members of the operation that changes them.
func (s *Server) settingMembers() (members []metadata.Member) {
	if s.Settings == nil {
		return nil // in documents of no service in particular
	}
	for _, one := range s.Settings.All() {
		m := metadata.Member{Name: one.Name, Type: "string", Help: one.Help}
		if one.Kind == "number" {
			m.Type = "int"
		}
		if one.Kind == "true or false" {
			m.Type = "bool"
		}
		members = append(members, m)
	}
	return members
}

// settings lists the settings that may change while the service runs.
func (s *Server) settings(x *exchange) error {
	all := s.Settings.All()
	return x.list("Settings", all, len(all))
}

// changeSettings changes those that the members name, and lists all.
func (s *Server) changeSettings(x *exchange) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	var to []SettingChange
	for _, m := range f.members {
		if slices.ContainsFunc(f.asked, func(name string) bool { return strings.EqualFold(name, m.Name) }) {
			continue
		}
		f.knows(m.Name)
		to = append(to, settingChange(m))
	}
	if err := f.done(x); err != nil {
		return err
	}
	if len(to) > maxSettings {
		return fault.New(fault.Invalid, "The request names more than %d settings", maxSettings)
	}
	if err := s.Settings.Change(x.r.Context(), to, actor(x)); err != nil {
		return err
	}
	return s.settings(x)
}

// maxSettings is more than there are: a reply must not grow with members that
// mean nothing.
const maxSettings = 200

// settingChange reads a member. Here an empty list says something: nothing is to
// be in the list. Other members without a value take the setting back.
func settingChange(m query.Member) SettingChange {
	c := SettingChange{Name: shownName(m.Name)}
	switch {
	case m.Other:
		c.Wrong = "takes a text, a number, true or false, a list of texts, or null"
	case m.List && slices.ContainsFunc(m.Texts, func(text string) bool { return strings.Contains(text, ",") }):
		c.Wrong = "takes a list of texts without commas"
	case m.List || !m.Empty:
		text := strings.Join(m.Texts, ",")
		c.Text = &text
	}
	return c
}
