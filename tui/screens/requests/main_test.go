package requests_test

import (
	"testing"

	"github.com/bizhook/whd/tui/tuitest"
)

func TestMain(m *testing.M) { tuitest.Main(m) }
