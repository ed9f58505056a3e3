//go:build !unix

package daemontest

import "errors"

// CanFreeze is whether this platform can suspend processes.
const CanFreeze = false

// Freeze fails.
func (p *Process) Freeze() error { return errors.ErrUnsupported }

// Thaw fails.
func (p *Process) Thaw() error { return errors.ErrUnsupported }
