package tui

// canSuspend reports that Windows has no job control.
func canSuspend() bool { return false }
