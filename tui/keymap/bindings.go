// Package keymap is what the keys of the screens mean: scopes, actions and the
// one table that dispatch, hints and help are made of.
package keymap

// Scope is where a binding holds. What is open has a list of them, the
// narrowest first.
type Scope uint8

const (
	Everywhere Scope = iota
	InLists
	InGrids
	InKinds
	InBrowser
	InRecord
	InHome
	InSubscribers
	InSubscriptions
	InSubscription
	InMessages
	InMessage
	InEvents
	InRequests // the last scope of a screen
	InText     // help and other text that scrolls
	InConfirm
	InTypedConfirm
	InLine // a line that is typed
	InColumns
	InForm
	InMenu
	InJobs
	InErrors
	InRetryConfirm
	InTypedRetryConfirm
	InSecret
)

// ScopeNames head the sections of the help.
var ScopeNames = [...]string{
	Everywhere: "Everywhere", InLists: "Lists", InGrids: "Columns", InKinds: "Records", InBrowser: "Rows of a record kind",
	InRecord: "One record", InHome: "Home", InSubscribers: "Subscribers", InSubscriptions: "Subscriptions", InSubscription: "One subscription", InMessages: "Messages",
	InMessage: "One message", InEvents: "Events", InRequests: "Requests", InText: "Text", InConfirm: "A question", InTypedConfirm: "A question that a word answers", InLine: "A line that you type",
	InColumns: "Choice of columns", InForm: "A form", InMenu: "A menu", InJobs: "Exports", InErrors: "Errors", InRetryConfirm: "A question about retries", InTypedRetryConfirm: "A question about retries that a word answers", InSecret: "A secret",
}

// Action is what a key means.
type Action uint8

const (
	noAction Action = iota
	ShowHelp
	OpenCommandLine
	OpenFilter
	GoBack
	QuitOrBack
	Quit
	GoTab
	PreviousLocation
	SwitchProfile
	SwitchTimeMode
	PauseLive
	Refresh
	ProblemsOnly
	ShowErrors
	ShowJobs
	ShowActions
	Redraw
	Suspend
	ToggleMouse
	Undo
	ShowCommand
	GoUp
	GoDown
	GoTop
	GoBottom
	PageUp
	PageDown
	HalfUp
	HalfDown
	GoLeft
	GoRight
	FirstColumn
	LastColumn
	Open
	PreviousPage
	NextPage
	SortColumn
	FilterColumn
	FilterByValue
	ClearFilters
	ChooseColumns
	FreezeColumns
	Narrower
	Wider
	Mark
	MarkRange
	MarkAll
	Unmark
	CopyCell
	CopyRow
	Export
	Reveal
	ShowSubscriptions
	ShowInfo
	ShowMessages
	CancelJob
	AddNew
	Retry
	Delete
	Test
	ToggleEnabled
	Edit
	NewSecret
	NextTab
	PreviousTab
	NextMatch
	PreviousMatch
	Accept
	Decline
	Complete
	HistoryPrevious
	HistoryNext
	Toggle
	ToggleAll
	MoveEarlier
	MoveLater
	ResetColumns
	HideEmptyColumns
	KeysAndAmounts
	WrapLines
	SaveBinary
	Submit
	SubmitAndTest
	NextField
	PreviousField
	LineDown
	LineUp
	ToggleScheduled
)

// Binding is one row of the table of keys, from which dispatch, the line of
// hints and the help are made.
type Binding struct {
	Scope  Scope
	Keys   string // as bubbletea names them, separated by blanks; a blank itself is "space"
	Action Action
	Hint   string // in the line of hints; empty for keys that are only in the help
	help   string
	Writes bool // it can change something at the service
}

var Bindings = Table{
	{Everywhere, "? f1", ShowHelp, "help", "help for what is on the screen", false},
	{Everywhere, ":", OpenCommandLine, "go to", "go to a record kind, a tab, or do something by its name", false},
	{Everywhere, "/", OpenFilter, "", "filter rows, or find in a text", false},
	{Everywhere, "esc", GoBack, "", "one step back", false},
	{Everywhere, "q", QuitOrBack, "", "back; on the first screen of a tab: quit", false},
	{Everywhere, "ctrl+c", Quit, "", "quit", false},
	{Everywhere, "1 2 3 4 5 6", GoTab, "", "the tabs", false},
	{Everywhere, "-", PreviousLocation, "", "what was seen before, and back again", false},
	{Everywhere, "@", SwitchProfile, "", "another profile", false},
	{Everywhere, "t", SwitchTimeMode, "", "times: ages, local, UTC; those of records stay", false},
	{Everywhere, "p", PauseLive, "", "pause what is live, and go on", false},
	{Everywhere, "R f5", Refresh, "", "fetch again", false},
	{Everywhere, "x", ShowActions, "actions", "everything that can be done here", false},
	{Everywhere, "U", Undo, "", "take a delete back, as long as it waits", false},
	{Everywhere, "M", ToggleMouse, "", "the mouse: clicks here, or selects text", false},
	{Everywhere, "ctrl+e", ShowErrors, "", "the errors so far", false},
	{Everywhere, "J", ShowJobs, "", "the exports of this session", false},
	{Everywhere, "ctrl+l", Redraw, "", "draw the screen anew", false},
	{Everywhere, "ctrl+z", Suspend, "", "to the shell; fg comes back", false},
	{Everywhere, "c", ShowCommand, "", "the whctl command that shows the same", false},

	{InLists, "up k", GoUp, "", "up", false},
	{InLists, "down j", GoDown, "", "down", false},
	{InLists, "g home", GoTop, "", "the first row; where rows are live, follow them", false},
	{InLists, "G end", GoBottom, "", "the last row", false},
	{InLists, "pgup", PageUp, "", "a page up", false},
	{InLists, "pgdown", PageDown, "", "a page down", false},
	{InLists, "ctrl+u", HalfUp, "", "half a page up", false},
	{InLists, "ctrl+d", HalfDown, "", "half a page down", false},
	{InLists, "left h", GoLeft, "", "to the left", false},
	{InLists, "right l", GoRight, "", "to the right", false},

	{InGrids, "0", FirstColumn, "", "the first column", false},
	{InGrids, "$", LastColumn, "", "the last column", false},
	{InGrids, "[", PreviousPage, "", "a page up", false},
	{InGrids, "]", NextPage, "", "a page down", false},
	{InGrids, "z", FreezeColumns, "", "keep the columns up to this one in place", false},
	{InGrids, "<", Narrower, "", "a narrower column", false},
	{InGrids, ">", Wider, "", "a wider column", false},
	{InGrids, "space", Mark, "mark", "mark the row, or take its mark away", false},
	{InGrids, "v", MarkRange, "", "mark up to the row that was marked last", false},
	{InGrids, "u", Unmark, "", "take all marks away", false},
	{InGrids, "y", CopyCell, "", "copy the cell", false},
	{InGrids, "Y", CopyRow, "", "copy the row as JSON; marked rows with tabs between cells", false},

	{InBrowser, "enter", Open, "open", "open the record", false},
	{InBrowser, "s", SortColumn, "sort", "sort by this column: up, down, not", false},
	{InBrowser, "f", FilterColumn, "filter", "filter by this column", false},
	{InBrowser, "=", FilterByValue, "this value", "keep the rows with this value", false},
	{InBrowser, "F", ClearFilters, "", "no filters", false},
	{InBrowser, "C", ChooseColumns, "columns", "choose and order columns", false},
	{InBrowser, "e", Export, "export", "write rows to a file", false},

	{InKinds, "enter", Open, "open", "open the rows of this kind", false},
	{InKinds, "/", OpenFilter, "search", "only the kinds with a word", false},
	{InKinds, "y", CopyCell, "", "copy the name", false},

	{InRecord, "enter tab right l", NextTab, "next tab", "fields, JSON, request", false},
	{InRecord, "shift+tab left h", PreviousTab, "", "the tab before", false},
	{InRecord, "[", PreviousPage, "previous", "the record before", false},
	{InRecord, "]", NextPage, "next", "the record after", false},
	{InRecord, "w", WrapLines, "wrap", "long values on several lines, or on one", false},
	{InRecord, "o", SaveBinary, "", "write what a field of bytes holds to a file", false},
	{InRecord, "n", NextMatch, "", "the next match", false},
	{InRecord, "N", PreviousMatch, "", "the match before", false},
	{InRecord, "y", CopyCell, "copy", "copy the value", false},
	{InRecord, "Y", CopyRow, "copy JSON", "copy the record as JSON", false},

	{InHome, "enter", Open, "open", "open what is selected", false},
	{InHome, "i", ShowInfo, "endpoint", "the subscription of the selected endpoint, and how deliveries to it stand", false},
	{InHome, "!", ProblemsOnly, "problems", "the messages that failed", false},

	{InSubscribers, "enter", Open, "open", "the subscriptions", false},
	{InSubscribers, "m", ShowMessages, "messages", "all messages of the subscriber", false},
	{InSubscribers, "n", AddNew, "new", "add a subscriber", true},
	{InSubscribers, "E", Edit, "change", "change its name", true},
	{InSubscribers, "o", ToggleEnabled, "on/off", "enable or disable", true},
	{InSubscribers, "D", Delete, "delete", "delete with its subscriptions and messages", true},
	{InSubscribers, "y", CopyCell, "copy id", "copy the SubscriberID, which is its key", false},

	{InSubscriptions, "enter", Open, "messages", "the messages", false},
	{InSubscriptions, "i", ShowInfo, "info", "all that is known of the subscription, and how deliveries stand", false},
	{InSubscriptions, "n", AddNew, "new", "add a subscription", true},
	{InSubscriptions, "E", Edit, "change", "change which events go where, or how", true},
	{InSubscriptions, "T", Test, "test", "send a test message", true},
	{InSubscriptions, "o", ToggleEnabled, "on/off", "enable or disable", true},
	{InSubscriptions, "W", NewSecret, "", "sign with a new secret", true},
	{InSubscriptions, "D", Delete, "delete", "delete, and cancel what is pending", true},
	{InSubscriptions, "y", CopyCell, "copy id", "copy the SubscriptionID", false},

	{InSubscription, "enter", Open, "messages", "the messages", false},
	{InSubscription, "E", Edit, "change", "change which events go where, or how", true},
	{InSubscription, "T", Test, "test", "send a test message", true},
	{InSubscription, "o", ToggleEnabled, "on/off", "enable or disable", true},
	{InSubscription, "W", NewSecret, "secret", "sign with a new secret", true},
	{InSubscription, "D", Delete, "delete", "delete, and cancel what is pending", true},
	{InSubscription, "v", Reveal, "reveal", "show what is masked of its URL", false},
	{InSubscription, "[", PreviousPage, "previous", "the subscription before", false},
	{InSubscription, "]", NextPage, "next", "the subscription after", false},
	{InSubscription, "n", NextMatch, "", "the next match", false},
	{InSubscription, "N", PreviousMatch, "", "the match before", false},
	{InSubscription, "y", CopyCell, "copy id", "copy the SubscriptionID", false},

	{InMessages, "enter", Open, "detail", "open the message", false},
	{InMessages, "r", Retry, "retry", "send again: the row, or all that are marked", true},
	{InMessages, "D", Delete, "delete", "delete: the row, or all that are marked", true},
	{InMessages, "a", MarkAll, "all", "mark all that match the filter", false},
	{InMessages, "!", ProblemsOnly, "problems", "failed; failed and waiting; all", false},
	{InMessages, "s", SortColumn, "", "sort by this column: up, down, the newest first", false},
	{InMessages, "f", FilterColumn, "", "filter by this column", false},
	{InMessages, "=", FilterByValue, "this value", "only the same; of To, the subscription", false},
	{InMessages, "F", ClearFilters, "", "no filters", false},
	{InMessages, "C", ChooseColumns, "", "choose and order columns", false},
	{InMessages, "e", Export, "", "write messages to a file", false},
	{InMessages, "y", CopyCell, "", "copy the cell; of the status, the MessageID", false},

	{InMessage, "tab right l", NextTab, "next tab", "attempts, body, headers, response, cURL", false},
	{InMessage, "shift+tab left h", PreviousTab, "", "the tab before", false},
	{InMessage, "r", Retry, "retry", "send it again", true},
	{InMessage, "D", Delete, "delete", "delete it", true},
	{InMessage, "[", PreviousPage, "previous", "the message before", false},
	{InMessage, "]", NextPage, "next", "the message after", false},
	{InMessage, "n", NextMatch, "", "the next match", false},
	{InMessage, "N", PreviousMatch, "", "the match before", false},
	{InMessage, "y", CopyCell, "", "copy the MessageID", false},
	{InMessage, "Y", CopyRow, "copy", "copy what the tab shows", false},
	{InMessage, "e", Export, "save body", "write the body to a file", false},
	{InMessage, "v", Reveal, "", "show what is masked, as far as the service tells it", false},

	{InEvents, "enter", Open, "messages", "the messages of this event", false},
	{InEvents, "n", AddNew, "subscribe", "subscribe somebody to this event", true},
	{InEvents, "S", ShowSubscriptions, "who gets it", "the subscriptions that get this event", false},
	{InEvents, "/", OpenFilter, "search", "only the events with a word", false},
	{InEvents, "y", CopyCell, "copy", "copy the name", false},

	{InRequests, "!", ProblemsOnly, "failed", "only those that failed, or all", false},

	{InText, "up k", GoUp, "", "up", false},
	{InText, "down j", GoDown, "", "down", false},
	{InText, "g home", GoTop, "", "the beginning", false},
	{InText, "G end", GoBottom, "", "the end", false},
	{InText, "pgup", PageUp, "", "a page up", false},
	{InText, "pgdown space", PageDown, "", "a page down", false},
	{InText, "/", OpenFilter, "find", "only the lines with a word", false},
	{InText, "y", CopyCell, "", "copy what is to be copied", false},
	{InText, "esc q ? f1", GoBack, "close", "close", false},

	{InSecret, "y", CopyCell, "copy", "copy the secret", false},
	{InSecret, "up k", GoUp, "", "what is above, where it is longer than the screen", false},
	{InSecret, "down j", GoDown, "", "what is below", false},
	{InSecret, "esc", GoBack, "close", "close: the secret is not shown again", false},

	{InConfirm, "y", Accept, "", "yes", false},
	{InConfirm, "up k", GoUp, "", "what is above, where it is longer than the screen", false},
	{InConfirm, "down j", GoDown, "", "what is below", false},
	{InConfirm, "enter esc n q", Decline, "", "no", false},

	{InRetryConfirm, "i", ToggleScheduled, "", "with what is scheduled already, or without", false},
	{InTypedRetryConfirm, "tab", ToggleScheduled, "", "with what is scheduled already, or without", false},

	{InTypedConfirm, "enter", Accept, "", "yes, where the word was typed; else no", false},
	{InTypedConfirm, "up", GoUp, "", "what is above, where it is longer than the screen", false},
	{InTypedConfirm, "down", GoDown, "", "what is below", false},
	{InTypedConfirm, "esc", Decline, "", "no", false},

	{InLine, "enter", Submit, "", "do it", false},
	{InLine, "esc", GoBack, "", "leave it", false},
	{InLine, "tab", Complete, "", "take the first suggestion", false},
	{InLine, "up", HistoryPrevious, "", "what was typed before", false},
	{InLine, "down", HistoryNext, "", "what was typed after that", false},

	{InColumns, "enter", Accept, "apply", "show these columns", false},
	{InColumns, "esc q", GoBack, "cancel", "leave it", false},
	{InColumns, "up k", GoUp, "", "up", false},
	{InColumns, "down j", GoDown, "", "down", false},
	{InColumns, "/", OpenFilter, "find", "only the fields with a word in their names", false},
	{InColumns, "space", Toggle, "toggle", "show this column, or not", false},
	{InColumns, "*", ToggleAll, "all", "all columns, or none where all are shown", false},
	{InColumns, "m", KeysAndAmounts, "money", "only what tells records apart, and amounts", false},
	{InColumns, "K shift+up", MoveEarlier, "", "further to the left", false},
	{InColumns, "J shift+down", MoveLater, "move", "further to the right", false},
	{InColumns, "r", ResetColumns, "reset", "all columns in their own order", false},
	{InColumns, "h", HideEmptyColumns, "hide empty", "hide those that are empty in all rows that are here", false},

	{InForm, "ctrl+s", Submit, "do it", "do what the form is for", false},
	{InForm, "enter tab", NextField, "", "the next field, with what is picked; enter behind the last: do it", false},
	{InForm, "shift+tab", PreviousField, "", "the field before", false},
	{InForm, "down", LineDown, "", "the next of what can be picked, else the next field", false},
	{InForm, "up", LineUp, "", "the one before, else the field before", false},
	{InForm, "ctrl+t", SubmitAndTest, "test", "do it and send a test message", false},
	{InForm, "esc", GoBack, "cancel", "leave it", false},

	{InMenu, "enter", Accept, "do it", "do it", false},
	{InMenu, "up k", GoUp, "", "up", false},
	{InMenu, "down j", GoDown, "", "down", false},
	{InMenu, "esc q x", GoBack, "close", "close", false},

	{InJobs, "up k", GoUp, "", "up", false},
	{InJobs, "down j", GoDown, "", "down", false},
	{InJobs, "D", CancelJob, "cancel it", "cancel the export; its file is taken away", false},
	{InJobs, "y", CopyCell, "copy path", "copy the path of the file", false},
	{InJobs, "esc q J", GoBack, "close", "close", false},

	{InErrors, "up k", GoUp, "", "up", false},
	{InErrors, "down j", GoDown, "", "down", false},
	{InErrors, "y", CopyCell, "copy", "copy the error with its request id", false},
	{InErrors, "Y", CopyRow, "copy all", "copy all errors", false},
	{InErrors, "esc q ctrl+e", GoBack, "close", "close", false},
}
