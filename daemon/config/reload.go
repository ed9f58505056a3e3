package config

import (
	"fmt"
	"reflect"

	"github.com/bizhook/whd/client/wire"
)

// Live lists the live settings with their values. The result is the response of
// GET /Settings.
func (c *Config) Live() (all []wire.Setting) {
	for _, s := range table {
		if !s.Live {
			continue
		}
		var standard Config
		_ = s.assign(&standard, s.Default) // TestTableIsValid checks that defaults are valid
		all = append(all, wire.Setting{
			Name:    s.Name,
			Value:   s.text(c),
			Default: s.text(&standard),
			Origin:  string(c.Origin(s.Name)),
			Kind:    s.kind().name,
			Choices: s.choices,
			Help:    s.Help,
		})
	}
	return all
}

// Reloaded returns c with the live settings of read. It also returns the names of the
// live settings that changed and of the other settings that differ, which need a
// restart. It fails if the result contradicts itself, or if the settings file is
// missing. Files of record kinds that cannot be read at all do not replace the kinds.
func (c Config) Reloaded(read Config) (next Config, changed, needRestart []string, err error) {
	if c.File != "" && read.File == "" { // only the platform's file is optional
		return c, nil, nil, fmt.Errorf("the file %s is missing; restart the daemon to run without it", c.File)
	}
	next = c
	if read.ERP.Kinds.Replaces(c.ERP.Kinds) {
		next.ERP.Kinds = read.ERP.Kinds
	}
	next.origins = make(map[string]Origin)
	for _, s := range table {
		value := s.field(&next)
		newValue := s.field(&read)
		if !s.Live {
			if !reflect.DeepEqual(value.Interface(), newValue.Interface()) {
				needRestart = append(needRestart, s.Name)
			}
			next.origins[s.Name] = c.Origin(s.Name)
			continue
		}
		if s.text(&c) != s.text(&read) {
			changed = append(changed, s.Name)
		}
		value.Set(newValue)
		next.origins[s.Name] = read.Origin(s.Name)
	}
	if next.Webhooks.Enabled {
		err = next.Webhooks.Check()
	}
	if err != nil {
		if needRestart != nil {
			err = fmt.Errorf("the changed settings require a restart: %w", err)
		}
		return c, nil, nil, err
	}
	return next, changed, needRestart, nil
}
