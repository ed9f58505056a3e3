package deliverytest

import (
	"context"
	"errors"
	"testing"
)

// TestRuleOnce makes a second call while the first one runs under a rule for one call: the rule that was
// set before applies to it.
func TestRuleOnce(t *testing.T) {
	s := New(nil)
	usual := errors.New("usual")
	once := errors.New("once")
	s.SetRule(Refuse(usual), Write)
	isRunning := make(chan struct{})
	end := make(chan struct{})
	s.SetRuleOnce(func(context.Context, func(context.Context) error) error {
		close(isRunning)
		<-end
		return once
	}, Write)
	work := func(context.Context) error { return nil }
	first := make(chan error)
	go func() { first <- s.do(t.Context(), Write, work) }()
	<-isRunning
	if err := s.do(t.Context(), Write, work); !errors.Is(err, usual) {
		t.Errorf("second call: error %v, want %v", err, usual)
	}
	close(end)
	if err := <-first; !errors.Is(err, once) {
		t.Errorf("first call: error %v, want %v", err, once)
	}
}
