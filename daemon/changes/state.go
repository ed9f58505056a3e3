package changes

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Capture is the stored state of a kind's capture.
type Capture struct {
	Kind      string
	Fence     int64 // fence of the daemon that captures
	Next      int64 // the ID of the next change
	FirstKept int64 // the ID of the oldest change that followers may read
	State     State
}

// Phase is the phase of a capture.
type Phase string

// The phases.
const (
	FirstLook Phase = "first look" // the shadow is being filled
	Capturing Phase = "capturing"
	Stopped   Phase = "stopped" // until an administrator resumes it, or its cause is gone
	Idle      Phase = "idle"    // nothing needs the changes; the shadow is kept for a while
)

// State is the part of a capture's state that is stored as JSON.
type State struct {
	Phase    Phase            `json:",omitempty"`
	Reason   string           `json:",omitempty"` // reason of Stopped, or why capture lags
	Manual   bool             `json:",omitempty"` // Stopped until an administrator resumes it
	Compared []string         `json:",omitempty"` // fields that conditions compare with their values before a change
	Scheme   int64            `json:",omitempty"` // scheme of new entries
	Schemes  map[int64]Scheme `json:",omitempty"` // those that entries may have
	Epoch    uint64           `json:",omitempty"` // tokens of earlier epochs are invalid; 0 if none are
	Database Database         `json:",omitempty"` // at the last read
	Stamp    []byte           `json:",omitempty"` // where the next poll starts
	Content  string           `json:",omitempty"` // see Table.Content, at the start of the last sweep
	Began    time.Time        `json:",omitempty"` // start of the last complete sweep
	Swept    time.Time        `json:",omitempty"` // its end
	Took     int64            `json:",omitempty"` // its time of reading, in milliseconds
	Rows     int64            `json:",omitempty"` // number of rows in the shadow at its end
	Needed   time.Time        `json:",omitempty"` // the last time that a follower needed the changes
	Ended    time.Time        `json:",omitempty"` // since when the phase is Idle

	KeptFrom map[string]time.Time `json:",omitempty"` // since when all values before a change of a field are known
}

// stop notes that the capture has stopped. If it already waits for an administrator, it keeps the
// reason that the administrator decides about.
func (s *State) stop(reason string, manual bool) {
	if s.awaitsResumption() {
		return
	}
	s.Phase = Stopped
	s.Reason = reason
	s.Manual = manual
}

// awaitsResumption reports whether the capture has stopped until an administrator resumes it.
func (s *State) awaitsResumption() bool { return s.Phase == Stopped && s.Manual }

// resume notes that an administrator has resumed the capture, and accepts the database as it is.
func (s *State) resume() {
	s.Reason = ""
	s.Manual = false
	s.Database = Database{}
	s.Content = ""
	s.Phase = Capturing
	if s.Swept.IsZero() {
		s.Phase = FirstLook
	}
}

// forget drops all knowledge about the rows. A stop until an administrator resumes the capture
// stays.
func (s *State) forget() {
	empty := State{Needed: s.Needed}
	if s.awaitsResumption() {
		empty.Phase = Stopped
		empty.Reason = s.Reason
		empty.Manual = true
	}
	*s = empty
}

// checkSchemes returns why entries of the shadow of a kind cannot be compared.
func (s *State) checkSchemes(kind string) error {
	for _, number := range slices.Sorted(maps.Keys(s.Schemes)) {
		if err := s.Schemes[number].check(); err != nil {
			return fmt.Errorf("the stored list %d of compared fields of %s is damaged: %w", number, kind, err)
		}
	}
	return nil
}

// adopt makes a scheme that of new entries. Entries of the others are converted by the next sweep.
func (s *State) adopt(number int64, scheme Scheme) {
	if s.Schemes == nil {
		s.Schemes = make(map[int64]Scheme)
	}
	if s.Schemes[s.Scheme].Stamp != scheme.Stamp {
		s.Stamp = nil // of another field
	}
	if number != s.Scheme {
		s.Content = "" // the next sweep has to read all rows
	}
	maps.DeleteFunc(s.KeptFrom, func(name string, _ time.Time) bool {
		return !slices.Contains(scheme.Kept, name)
	})
	s.Scheme = number
	s.Schemes[number] = scheme
}

// begin sets the first phase of the capture. One that has stopped remains so.
func (s *State) begin() {
	s.Ended = time.Time{}
	if s.Phase == Stopped {
		return
	}
	s.Phase = Capturing
	if s.Swept.IsZero() {
		s.Phase = FirstLook
	}
}
