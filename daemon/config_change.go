package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest"
	"github.com/bizhook/whd/daemon/store"
)

var _ rest.Settings = (*liveSettings)(nil)

// All is rest.Settings's.
func (l *liveSettings) All() []wire.Setting {
	state := l.state.Load()
	var all []wire.Setting
	for _, s := range liveTable() {
		all = append(all, l.document(s, state))
	}
	return all
}

// document shows a setting.
func (l *liveSettings) document(s setting, state *liveState) wire.Setting {
	var standard Config
	_ = s.put(&standard, s.initial) // which a test of the table proves to be right
	origin := state.told.origins.Of(s.name)
	doc := wire.Setting{
		Name: s.name, Value: s.value(&state.config).text(), Default: s.value(&standard).text(), Origin: string(origin),
		Kind: s.value(&standard).kind(), Choices: s.choices, Help: s.help, Changeable: !origin.outranks(),
	}
	if origin.outranks() {
		doc.Reason = outrankedBy(origin)
	}
	if state.counts[s.name] {
		doc.Origin, doc.LastSavedDateTime = string(byService), state.saved[s.name].Saved.UTC().Format(wire.DateLayout)
	}
	return doc
}

func outrankedBy(o Origin) string {
	return "the " + string(o) + " decides it; a restart without that frees it"
}

// The actions on settings, for the audit trail.
const (
	changeSetting audit.Action = "setting change"
	resetSetting  audit.Action = "setting reset"
)

// changeAttempts is how often a change is tried that others come before.
const changeAttempts = 5

// Change is rest.Settings's. What is written is based on the version that it was
// checked with, so that no two changes, here or by another daemon, make together
// what each of them would not.
func (l *liveSettings) Change(ctx context.Context, to []rest.SettingChange, by audit.Actor) error {
	for range changeAttempts {
		version, saved, err := l.read(ctx)
		if err != nil {
			return err
		}
		l.take(version, saved)
		p := plan{state: l.state.Load(), actor: by, at: time.Now()}
		if err := p.make(to); err != nil || len(p.changes) == 0 {
			return err
		}
		done, err := l.book.Change(ctx, p.state.version, p.changes)
		if err != nil {
			return err
		}
		if done {
			l.take(p.state.version+1, p.saved)
			return nil
		}
	}
	return fault.New(fault.Conflict, "Others are changing settings at this moment")
}

// read reads what the service holds.
func (l *liveSettings) read(ctx context.Context) (int64, map[string]store.SavedSetting, error) {
	version, all, err := l.book.All(ctx)
	saved := make(map[string]store.SavedSetting, len(all))
	for _, one := range all {
		saved[one.Name] = one
	}
	return version, saved, err
}

// plan is a change of settings while it is checked.
type plan struct {
	state     *liveState
	actor     audit.Actor
	at        time.Time
	saved     map[string]store.SavedSetting // as it will be
	changes   []store.SettingChange
	wrong     []fault.Field
	outranked []fault.Field
}

// make checks the wishes by the rules of the table, each for itself and then all
// together. It fails for all that is wrong at once.
func (p *plan) make(to []rest.SettingChange) error {
	p.saved = maps.Clone(p.state.saved)
	if p.saved == nil {
		p.saved = make(map[string]store.SavedSetting)
	}
	next := p.state.config
	for _, wish := range to {
		s, err := liveSetting(wish.Name)
		if err == nil && wish.Wrong != "" {
			err = errors.New(wish.Wrong)
		}
		if err == nil {
			err = p.add(&next, s, wish.Text)
		}
		if err != nil {
			p.wrong = append(p.wrong, fault.Field{Name: wish.Name, Message: err.Error()})
		}
	}
	switch {
	case p.wrong != nil:
		return &fault.Error{Kind: fault.Invalid, Message: "The settings cannot be changed", Fields: p.wrong}
	case p.outranked != nil:
		return &fault.Error{Kind: fault.Conflict, Message: "Settings that a variable or a flag decides cannot be changed while the service runs", Fields: p.outranked}
	}
	return p.together(&next)
}

// add notes what becomes of one setting.
func (p *plan) add(next *Config, s setting, wish *string) error {
	if origin := p.state.told.origins.Of(s.name); origin.outranks() {
		p.outranked = append(p.outranked, fault.Field{Name: s.name, Message: outrankedBy(origin)})
		return nil
	}
	was := s.value(&p.state.config).text()
	if wish == nil {
		_ = s.put(next, s.value(&p.state.told).text()) // as it was told
		if _, held := p.saved[s.name]; held {
			delete(p.saved, s.name)
			p.note(resetSetting, s, nil, was, next)
		}
		return nil
	}
	if err := s.put(next, *wish); err != nil {
		return err
	}
	text := s.value(next).text()
	if len(text) > store.MostSetting {
		return fmt.Errorf("is longer than %d bytes", store.MostSetting)
	}
	if one, held := p.saved[s.name]; !held || one.Value != text {
		p.saved[s.name] = store.SavedSetting{Name: s.name, Value: text, Saved: p.at}
		p.note(changeSetting, s, &text, was, next)
	}
	return nil
}

func (p *plan) note(what audit.Action, s setting, text *string, was string, next *Config) {
	var d audit.Detail
	d.Set("Value", s.value(next).text())
	d.Set("Was", was)
	p.changes = append(p.changes, store.SettingChange{Name: s.name, Value: text,
		Entry: audit.Entry{Actor: p.actor, At: p.at, Action: what, Subject: s.name, Detail: d.String()}})
}

// together checks the rules between settings. The settings that are changed and
// that the rule speaks of are to blame.
func (p *plan) together(next *Config) error {
	err := next.check()
	if err == nil {
		return nil
	}
	f := &fault.Error{Kind: fault.Invalid, Message: "The settings do not go together: " + err.Error()}
	for _, c := range p.changes {
		if strings.Contains(err.Error(), c.Name) {
			f.Fields = append(f.Fields, fault.Field{Name: c.Name, Message: err.Error()})
		}
	}
	return f
}

// liveSetting finds a setting that may change, in any letter case.
func liveSetting(name string) (setting, error) {
	var names []string
	for _, s := range settings() {
		switch {
		case !strings.EqualFold(s.name, name):
		case !s.live:
			return s, errors.New("takes a restart: it is read from the file, a variable or a flag when the service starts")
		default:
			return s, nil
		}
		if s.live {
			names = append(names, s.name)
		}
	}
	return setting{}, errors.New("is no setting" + didYouMean("", record.Near(name, names)))
}
