// Package keymap defines the keys of the screens: scopes, actions and the table from
// which key dispatch, hints and help are generated.
package keymap

// Scope is where a binding applies. A screen or overlay has a list of scopes, the
// narrowest first.
type Scope uint8

const (
	Everywhere Scope = iota
	InLists
	InGrids
	InKinds
	InGroupable // rows that can be grouped
	InGroups
	InBrowser
	InRecord
	InHome
	InSubscribers
	InSubscriptions
	InSubscription
	InMessages
	InMessage
	InEvents
	InWhy
	InChanges
	InRequests // the last scope of screens
	InText     // help and other scrollable text
	InConfirm
	InTypedConfirm
	InLine // a single-line input
	InColumns
	InForm
	InMenu
	InJobs
	InErrors
	InRetryConfirm
	InTypedRetryConfirm
	InSecret
)

// ScopeNames are the headings of the help.
var ScopeNames = [...]string{
	Everywhere:          "Everywhere",
	InLists:             "Lists",
	InGrids:             "Columns",
	InKinds:             "Records",
	InGroupable:         "Grouping",
	InGroups:            "Groups",
	InBrowser:           "Rows of a record kind",
	InRecord:            "One record",
	InHome:              "Home",
	InSubscribers:       "Subscribers",
	InSubscriptions:     "Subscriptions",
	InSubscription:      "One subscription",
	InMessages:          "Messages",
	InMessage:           "One message",
	InEvents:            "Events",
	InWhy:               "History of a key",
	InChanges:           "Changes",
	InRequests:          "Requests",
	InText:              "Text",
	InConfirm:           "Confirmation",
	InTypedConfirm:      "Typed confirmation",
	InLine:              "Input line",
	InColumns:           "Column chooser",
	InForm:              "Form",
	InMenu:              "Menu",
	InJobs:              "Exports",
	InErrors:            "Errors",
	InRetryConfirm:      "Retry confirmation",
	InTypedRetryConfirm: "Typed retry confirmation",
	InSecret:            "Secret",
}

// Action is the effect of a key.
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
	GroupRows
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
	ShowWhy
	ShowChanges
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
	NextPanel
	PreviousPanel
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
	NextFieldOrSubmit
	PreviousField
	LineDown
	LineUp
	ToggleScheduled
)

// Binding is one row of the key table.
type Binding struct {
	Scope  Scope
	Keys   string // as bubbletea names them, separated by spaces; the space key is "space"
	Action Action
	Hint   string // in the hint line; empty for keys that are listed only in the help
	help   string
	Writes bool // it can change data at the service
}

// Bindings is the key table.
var Bindings = Table{
	{Everywhere, "? f1", ShowHelp, "help", "show the keys of the current screen", false},
	{Everywhere, ":", OpenCommandLine, "go to", "open a record kind or tab, or run a command by name", false},
	{Everywhere, "/", OpenFilter, "", "filter rows, or search text", false},
	{Everywhere, "esc", GoBack, "", "back", false},
	{Everywhere, "q", QuitOrBack, "", "back; on the first screen of a tab: quit", false},
	{Everywhere, "ctrl+c", Quit, "", "quit", false},
	{Everywhere, "1 2 3 4 5 6", GoTab, "", "open a tab", false},
	{Everywhere, "-", PreviousLocation, "", "switch to the previous location", false},
	{Everywhere, "@", SwitchProfile, "", "switch profile", false},
	{Everywhere, "t", SwitchTimeMode, "", "show times as relative, local or UTC; dates in records do not change", false},
	{Everywhere, "p", PauseLive, "", "pause or resume live updates", false},
	{Everywhere, "R f5", Refresh, "", "refresh", false},
	{Everywhere, "x", ShowActions, "actions", "list all actions of this screen", false},
	{Everywhere, "U", Undo, "", "undo a delete that has not been sent yet", false},
	{Everywhere, "M", ToggleMouse, "", "toggle the mouse between clicking and selecting text", false},
	{Everywhere, "ctrl+e", ShowErrors, "", "list errors", false},
	{Everywhere, "J", ShowJobs, "", "list exports of this session", false},
	{Everywhere, "ctrl+l", Redraw, "", "redraw the screen", false},
	{Everywhere, "ctrl+z", Suspend, "", "suspend; fg resumes", false},
	{Everywhere, "c", ShowCommand, "", "show the equivalent whctl command", false},

	{InLists, "up k", GoUp, "", "up", false},
	{InLists, "down j", GoDown, "", "down", false},
	{InLists, "g home", GoTop, "", "first row; follows new rows in live lists", false},
	{InLists, "G end", GoBottom, "", "last row", false},
	{InLists, "pgup", PageUp, "", "page up", false},
	{InLists, "pgdown", PageDown, "", "page down", false},
	{InLists, "ctrl+u", HalfUp, "", "half page up", false},
	{InLists, "ctrl+d", HalfDown, "", "half page down", false},
	{InLists, "left h", GoLeft, "", "move left", false},
	{InLists, "right l", GoRight, "", "move right", false},

	{InGrids, "0", FirstColumn, "", "first column", false},
	{InGrids, "$", LastColumn, "", "last column", false},
	{InGrids, "[", PreviousPage, "", "page up", false},
	{InGrids, "]", NextPage, "", "page down", false},
	{InGrids, "z", FreezeColumns, "", "freeze the columns up to this one", false},
	{InGrids, "<", Narrower, "", "narrow the column", false},
	{InGrids, ">", Wider, "", "widen the column", false},
	{InGrids, "space", Mark, "mark", "mark or unmark the row", false},
	{InGrids, "v", MarkRange, "", "mark the range from the last marked row", false},
	{InGrids, "u", Unmark, "", "unmark all rows", false},
	{InGrids, "y", CopyCell, "", "copy the cell", false},
	{InGrids, "Y", CopyRow, "", "copy the row as JSON; marked rows as tab-separated text", false},

	{InGroupable, "t", GroupRows, "group", "group by this column; a date by month, again by day, by year", false},
	{InGroups, "enter", Open, "rows", "open the rows of the group", false},

	{InBrowser, "enter", Open, "open", "open the record", false},
	{InBrowser, "s", SortColumn, "sort", "sort by this column: ascending, descending, off", false},
	{InBrowser, "f", FilterColumn, "filter", "filter by this column", false},
	{InBrowser, "=", FilterByValue, "this value", "show only rows with this value", false},
	{InBrowser, "F", ClearFilters, "", "clear filters", false},
	{InBrowser, "C", ChooseColumns, "columns", "choose and order columns", false},
	{InBrowser, "i", ShowInfo, "", "statistics of this column over all matching rows", false},
	{InBrowser, "w", ShowWhy, "", "history of its key: changes, events, messages", false},
	{InBrowser, "L", ShowChanges, "", "live list of changes, if they are captured", false},
	{InBrowser, "e", Export, "export", "write rows to a file", false},

	{InKinds, "enter", Open, "open", "open the rows of this kind", false},
	{InKinds, "/", OpenFilter, "search", "search record kinds", false},
	{InKinds, "L", ShowChanges, "", "live list of changes, if they are captured", false},
	{InKinds, "y", CopyCell, "", "copy the name", false},

	{InRecord, "enter tab right l", NextTab, "next tab", "fields, JSON, request", false},
	{InRecord, "shift+tab left h", PreviousTab, "", "previous tab", false},
	{InRecord, "[", PreviousPage, "previous", "previous record", false},
	{InRecord, "]", NextPage, "next", "next record", false},
	{InRecord, "w", WrapLines, "wrap", "toggle wrapping of long values", false},
	{InRecord, "o", SaveBinary, "", "save a binary field to a file", false},
	{InRecord, "n", NextMatch, "", "next match", false},
	{InRecord, "N", PreviousMatch, "", "previous match", false},
	{InRecord, "y", CopyCell, "copy", "copy the field under the cursor", false},
	{InRecord, "Y", CopyRow, "copy JSON", "copy the record as JSON", false},

	{InHome, "enter", Open, "open", "open the selected item, such as the messages of a failure", false},
	{InHome, "r", Retry, "retry", "retry the messages of the failure, or the failed ones of the endpoint", true},
	{InHome, "w", ShowWhy, "why", "history of the key of the newest message: changes, events, messages", false},
	{InHome, "i", ShowInfo, "", "open the subscription of the endpoint, with delivery statistics", false},
	{InHome, "n", AddNew, "", "add a subscriber", true},
	{InHome, "!", ProblemsOnly, "all failures", "failed and retrying messages, the newest failure first", false},
	{InHome, "tab", NextPanel, "next list", "first entry of the next list", false},
	{InHome, "shift+tab", PreviousPanel, "", "first entry of the previous list", false},

	{InSubscribers, "enter", Open, "open", "open its subscriptions", false},
	{InSubscribers, "m", ShowMessages, "messages", "messages of the subscriber", false},
	{InSubscribers, "n", AddNew, "new", "add a subscriber", true},
	{InSubscribers, "E", Edit, "change", "rename", true},
	{InSubscribers, "o", ToggleEnabled, "enable/disable", "enable or disable", true},
	{InSubscribers, "D", Delete, "delete", "delete, including its subscriptions and messages", true},
	{InSubscribers, "y", CopyCell, "copy ID", "copy the SubscriberID, which is a secret", false},

	{InSubscriptions, "enter", Open, "messages", "open its messages", false},
	{InSubscriptions, "i", ShowInfo, "info", "details and delivery statistics of the subscription", false},
	{InSubscriptions, "n", AddNew, "new", "add a subscription", true},
	{InSubscriptions, "E", Edit, "change", "change events, URL or delivery settings", true},
	{InSubscriptions, "T", Test, "test", "send a test message", true},
	{InSubscriptions, "o", ToggleEnabled, "enable/disable", "enable or disable", true},
	{InSubscriptions, "W", NewSecret, "", "replace the signing secret", true},
	{InSubscriptions, "D", Delete, "delete", "delete, and cancel queued messages", true},
	{InSubscriptions, "y", CopyCell, "copy ID", "copy the SubscriptionID", false},

	{InSubscription, "enter", Open, "messages", "open its messages", false},
	{InSubscription, "E", Edit, "change", "change events, URL or delivery settings", true},
	{InSubscription, "T", Test, "test", "send a test message", true},
	{InSubscription, "o", ToggleEnabled, "enable/disable", "enable or disable", true},
	{InSubscription, "W", NewSecret, "secret", "replace the signing secret", true},
	{InSubscription, "D", Delete, "delete", "delete, and cancel queued messages", true},
	{InSubscription, "v", Reveal, "reveal", "show masked parts of the URL", false},
	{InSubscription, "[", PreviousPage, "previous", "previous subscription", false},
	{InSubscription, "]", NextPage, "next", "next subscription", false},
	{InSubscription, "n", NextMatch, "", "next match", false},
	{InSubscription, "N", PreviousMatch, "", "previous match", false},
	{InSubscription, "y", CopyCell, "copy", "copy the field under the cursor", false},

	{InMessages, "enter", Open, "detail", "open the message", false},
	{InMessages, "r", Retry, "retry", "retry the message, or all marked messages", true},
	{InMessages, "D", Delete, "delete", "delete the message, or all marked messages", true},
	{InMessages, "a", MarkAll, "mark all", "mark all messages that match the filter", false},
	{InMessages, "!", ProblemsOnly, "failures", "cycle: failed and retrying, the newest failure first; all not delivered; all", false},
	{InMessages, "s", SortColumn, "", "sort by this column: ascending, descending, newest first", false},
	{InMessages, "f", FilterColumn, "", "filter by this column", false},
	{InMessages, "=", FilterByValue, "this value", "filter by this value; in column To, by subscription", false},
	{InMessages, "F", ClearFilters, "", "clear filters", false},
	{InMessages, "C", ChooseColumns, "", "choose and order columns", false},
	{InMessages, "e", Export, "", "write messages to a file", false},
	{InMessages, "w", ShowWhy, "", "history of its key: changes, events, messages", false},
	{InMessages, "y", CopyCell, "", "copy the cell; in the status column, the MessageID", false},

	{InMessage, "tab right l", NextTab, "next tab", "attempts, body, headers, response, cURL", false},
	{InMessage, "shift+tab left h", PreviousTab, "", "previous tab", false},
	{InMessage, "r", Retry, "retry", "retry", true},
	{InMessage, "D", Delete, "delete", "delete", true},
	{InMessage, "[", PreviousPage, "previous", "previous message", false},
	{InMessage, "]", NextPage, "next", "next message", false},
	{InMessage, "w", ShowWhy, "", "history of its key: changes, events, messages", false},
	{InMessage, "n", NextMatch, "", "next match", false},
	{InMessage, "N", PreviousMatch, "", "previous match", false},
	{InMessage, "y", CopyCell, "copy", "copy the field under the cursor", false},
	{InMessage, "Y", CopyRow, "copy all", "copy the content of the tab", false},
	{InMessage, "e", Export, "save body", "save the body to a file", false},
	{InMessage, "v", Reveal, "", "show masked values, if the service returns them", false},

	{InEvents, "enter", Open, "messages", "open the messages of this event", false},
	{InEvents, "n", AddNew, "subscribe", "add a subscription to this event", true},
	{InEvents, "S", ShowSubscriptions, "subscriptions", "open the subscriptions of this event", false},
	{InEvents, "/", OpenFilter, "search", "search events", false},
	{InEvents, "y", CopyCell, "copy", "copy the name", false},

	{InWhy, "enter", Open, "message", "open the message; on a change or an event, the messages with the key", false},
	{InWhy, "r", Retry, "retry", "retry the message", true},
	{InWhy, "/", OpenFilter, "search", "search lines", false},
	{InWhy, "y", CopyCell, "copy", "copy the text", false},

	{InChanges, "enter", Open, "open", "open the change", false},
	{InChanges, "w", ShowWhy, "why", "history of its key: changes, events, messages", false},
	{InChanges, "/", OpenFilter, "search", "search changes", false},
	{InChanges, "y", CopyCell, "copy key", "copy the key", false},

	{InRequests, "!", ProblemsOnly, "failed", "toggle between failed and all requests", false},

	{InText, "up k", GoUp, "", "up", false},
	{InText, "down j", GoDown, "", "down", false},
	{InText, "g home", GoTop, "", "start", false},
	{InText, "G end", GoBottom, "", "end", false},
	{InText, "pgup", PageUp, "", "page up", false},
	{InText, "pgdown space", PageDown, "", "page down", false},
	{InText, "/", OpenFilter, "find", "show only lines that contain a word", false},
	{InText, "y", CopyCell, "", "copy", false},
	{InText, "esc q ? f1", GoBack, "close", "close", false},

	{InSecret, "y", CopyCell, "copy", "copy the secret", false},
	{InSecret, "up k", GoUp, "", "scroll up", false},
	{InSecret, "down j", GoDown, "", "scroll down", false},
	{InSecret, "esc", GoBack, "close", "close; the secret is not shown again", false},

	{InConfirm, "y", Accept, "", "confirm", false},
	{InConfirm, "up k", GoUp, "", "scroll up", false},
	{InConfirm, "down j", GoDown, "", "scroll down", false},
	{InConfirm, "enter esc n q", Decline, "", "cancel", false},

	{InRetryConfirm, "i", ToggleScheduled, "", "include or exclude scheduled messages", false},
	{InTypedRetryConfirm, "tab", ToggleScheduled, "", "include or exclude scheduled messages", false},

	{InTypedConfirm, "enter", Accept, "", "confirm if the typed text matches, otherwise cancel", false},
	{InTypedConfirm, "up", GoUp, "", "scroll up", false},
	{InTypedConfirm, "down", GoDown, "", "scroll down", false},
	{InTypedConfirm, "esc", Decline, "", "cancel", false},

	{InLine, "enter", Submit, "", "submit", false},
	{InLine, "esc", GoBack, "", "cancel", false},
	{InLine, "tab", Complete, "", "accept the first suggestion", false},
	{InLine, "up", HistoryPrevious, "", "previous input", false},
	{InLine, "down", HistoryNext, "", "next input", false},

	{InColumns, "enter", Accept, "apply", "show these columns", false},
	{InColumns, "esc q", GoBack, "cancel", "cancel", false},
	{InColumns, "up k", GoUp, "", "up", false},
	{InColumns, "down j", GoDown, "", "down", false},
	{InColumns, "/", OpenFilter, "find", "search fields by name", false},
	{InColumns, "space", Toggle, "toggle", "show or hide the column", false},
	{InColumns, "*", ToggleAll, "all", "show or hide all columns", false},
	{InColumns, "m", KeysAndAmounts, "keys and amounts", "show only keys and amounts", false},
	{InColumns, "K shift+up", MoveEarlier, "", "move left", false},
	{InColumns, "J shift+down", MoveLater, "move", "move right", false},
	{InColumns, "r", ResetColumns, "reset", "restore the default columns", false},
	{InColumns, "h", HideEmptyColumns, "hide empty", "hide columns that are empty in all loaded rows", false},

	{InForm, "ctrl+s", Submit, "submit", "submit the form", false},
	{InForm, "enter", NextFieldOrSubmit, "", "next field, accepting the suggestion; in the last field: submit", false},
	{InForm, "tab", NextField, "", "next field, accepting the suggestion; in the last field: first field", false},
	{InForm, "shift+tab", PreviousField, "", "previous field", false},
	{InForm, "down", LineDown, "", "next suggestion, otherwise next field", false},
	{InForm, "up", LineUp, "", "previous suggestion, otherwise previous field", false},
	{InForm, "ctrl+t", SubmitAndTest, "test", "submit and send a test message", false},
	{InForm, "esc", GoBack, "cancel", "cancel", false},

	{InMenu, "enter", Accept, "select", "select the row", false},
	{InMenu, "up k", GoUp, "", "up", false},
	{InMenu, "down j", GoDown, "", "down", false},
	{InMenu, "esc q x", GoBack, "close", "close", false},

	{InJobs, "up k", GoUp, "", "up", false},
	{InJobs, "down j", GoDown, "", "down", false},
	{InJobs, "D", CancelJob, "cancel", "cancel the export and remove its file", false},
	{InJobs, "y", CopyCell, "copy path", "copy the path of the file", false},
	{InJobs, "esc q J", GoBack, "close", "close", false},

	{InErrors, "up k", GoUp, "", "up", false},
	{InErrors, "down j", GoDown, "", "down", false},
	{InErrors, "y", CopyCell, "copy", "copy the error with its request ID", false},
	{InErrors, "Y", CopyRow, "copy all", "copy all errors", false},
	{InErrors, "esc q ctrl+e", GoBack, "close", "close", false},
}
