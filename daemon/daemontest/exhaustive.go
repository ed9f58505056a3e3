package daemontest

import "os"

// exhaustiveVariable is set by .ci/nightly.
const exhaustiveVariable = "WHD_TEST_EXHAUSTIVE"

// Exhaustive reports whether tests of many combinations are to check all of them. By default
// they leave out combinations that hardly differ from the others.
func Exhaustive() bool { return os.Getenv(exhaustiveVariable) != "" }
