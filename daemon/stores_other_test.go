//go:build !linux

package daemon_test

import "testing"

func managed(*testing.T, func(env string)) {}
