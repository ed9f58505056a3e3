package daemon

import (
	"fmt"
	"reflect"
)

// reload goes over to settings that were read again, as far as they may change
// while the daemon runs. It names those that have changed and those that wait for
// a restart. Where what may change does not go together with what may not, or the
// file is gone, nothing changes.
func (l *liveSettings) reload(again Config) (changed, waiting []string, err error) {
	l.taking.Lock()
	defer l.taking.Unlock()
	was := l.state.Load()
	if was.told.File != "" && again.File == "" { // which is not named by anybody, else it would have been missed
		return nil, nil, fmt.Errorf("the file %s is gone; to go on without it takes a restart", was.told.File)
	}
	told := was.told
	told.origins = &Origins{of: make(map[string]Origin)}
	for _, s := range settings() {
		from := was.told.origins.Of(s.name)
		switch here, there := reflect.ValueOf(s.into(&told)).Elem(), reflect.ValueOf(s.into(&again)).Elem(); {
		case s.live:
			here.Set(there)
			from = again.origins.Of(s.name)
		case !reflect.DeepEqual(here.Interface(), there.Interface()):
			waiting = append(waiting, s.name)
		}
		told.origins.of[s.name] = from
	}
	if err := told.check(); err != nil {
		if waiting != nil {
			err = fmt.Errorf("without a restart they do not go together: %w", err)
		}
		return nil, nil, err
	}
	return l.enter(told, was.version, was.saved), waiting, nil
}
