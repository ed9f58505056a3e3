package account

// markLength is short enough to be of no use to anybody who wants the session.
const markLength = 8

// SessionMark is the beginning of what is stored of a session id, by which logs
// tell sessions apart.
func SessionMark(id string) string { return hashOf(id)[:markLength] }
