package sender

import (
	"context"
	"testing"
	"time"
)

func TestRunWithin(t *testing.T) {
	for name, tt := range map[string]struct {
		returnsAlone      bool // without an interrupt
		returnsOnceClosed bool // after an interrupt
		interruptBlocks   bool
		want              bool
	}{
		"returns in time":                  {returnsAlone: true, want: true},
		"returns when it is interrupted":   {returnsOnceClosed: true, want: true},
		"never returns":                    {want: false},
		"never returns, and closing hangs": {interruptBlocks: true, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			end := make(chan struct{}) // ends all goroutines of the test
			interrupted := make(chan struct{})
			returned := make(chan struct{})
			do := func() {
				defer close(returned)
				switch {
				case tt.returnsAlone:
				case tt.returnsOnceClosed:
					<-interrupted
				default:
					<-end
				}
			}
			interrupt := func() {
				close(interrupted)
				if tt.interruptBlocks {
					<-end
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			grace := time.Hour
			if !tt.want {
				grace = time.Millisecond
			}
			if !tt.returnsAlone {
				cancel()
			}
			if got := runWithin(ctx, grace, do, interrupt); got != tt.want {
				t.Errorf("runWithin returned %t, want %t", got, tt.want)
			}
			cancel()
			close(end)
			<-returned
		})
	}
}
