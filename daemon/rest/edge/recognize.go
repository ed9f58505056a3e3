package edge

// Recognizer reports whether a request to a route without a login has valid credentials. Clients
// with credentials have larger shares of the memory and the slots. The request remains anonymous
// for its handler, which may require other credentials.
type Recognizer func(*Context) bool

// check is the result of a Recognizer for a request.
type check struct{ done, passed bool }

// recognizes reports whether a request is authenticated or has valid credentials. These are
// checked once.
func (r Recognizer) recognizes(x *Context) bool {
	if !x.isKnown() && !x.credentials.done && r != nil {
		x.credentials = check{done: true, passed: r(x)}
	}
	return x.isKnown()
}

// isKnown reports whether a request is authenticated, or has been recognized.
func (x *Context) isKnown() bool { return x.Identity.Known() || x.credentials.passed }
