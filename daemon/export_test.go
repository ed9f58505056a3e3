package daemon

// What the tests from outside need of those from inside.
const Readme = readme

var (
	Update         = update
	ReplaceBetween = replaceBetween
)
