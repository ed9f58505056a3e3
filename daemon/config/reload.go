package config

import (
	"fmt"
	"reflect"

	"github.com/bizhook/whd/client/wire"
)

// Live lists the settings that may change while the daemon runs.
func (c *Config) Live() (all []wire.Setting) {
	for _, s := range table {
		if !s.Live {
			continue
		}
		var standard Config
		_ = s.put(&standard, s.Default) // which a test of the table proves to be right
		all = append(all, wire.Setting{
			Name: s.Name, Value: s.text(c), Default: s.text(&standard), Origin: string(c.Origin(s.Name)),
			Kind: s.kind().name, Choices: s.choices, Help: s.Help,
		})
	}
	return all
}

// Reloaded is c with the settings of another reading that may change while the
// daemon runs. It names those whose values differ and those that wait for a
// restart. Where what may change does not go together with what may not, or the
// file is gone, it fails.
func (c Config) Reloaded(again Config) (next Config, changed, waiting []string, err error) {
	if c.File != "" && again.File == "" { // which is at the platform's place, else it would have been missed
		return c, nil, nil, fmt.Errorf("the file %s is gone; to go on without it takes a restart", c.File)
	}
	next = c
	next.origins = make(map[string]Origin)
	for _, s := range table {
		from := c.Origin(s.Name)
		here, there := s.place(&next), s.place(&again)
		switch {
		case s.Live:
			if s.text(&c) != s.text(&again) {
				changed = append(changed, s.Name)
			}
			here.Set(there)
			from = again.Origin(s.Name)
		case !reflect.DeepEqual(here.Interface(), there.Interface()):
			waiting = append(waiting, s.Name)
		}
		next.origins[s.Name] = from
	}
	if next.Webhooks.Enabled {
		err = next.Webhooks.Check()
	}
	if err != nil {
		if waiting != nil {
			err = fmt.Errorf("without a restart they do not go together: %w", err)
		}
		return c, nil, nil, err
	}
	return next, changed, waiting, nil
}
