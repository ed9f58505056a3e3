package tui

// scope is where a binding holds. What is open has a list of them, the
// narrowest first.
type scope uint8

const (
	everywhere scope = iota
	inLists
	inGrids
	inKinds
	inBrowser
	inRecord
	inHome
	inSubscribers
	inSubscriptions
	inSubscription
	inMessages
	inMessage
	inEvents
	inRequests // the last scope of a screen
	inText     // help and other text that scrolls
	inConfirm
	inTypedConfirm
	inLine // a line that is typed
	inColumns
	inForm
	inMenu
	inJobs
	inErrors
	inRetryQuestion
	inTypedRetryQuestion
	inSecret
)

// scopeNames head the sections of the help.
var scopeNames = [...]string{
	everywhere: "Everywhere", inLists: "Lists", inGrids: "Columns", inKinds: "Records", inBrowser: "Rows of a record kind",
	inRecord: "One record", inHome: "Home", inSubscribers: "Subscribers", inSubscriptions: "Subscriptions", inSubscription: "One subscription", inMessages: "Messages",
	inMessage: "One message", inEvents: "Events", inRequests: "Requests", inText: "Text", inConfirm: "A question", inTypedConfirm: "A question that a word answers", inLine: "A line that you type",
	inColumns: "Choice of columns", inForm: "A form", inMenu: "A menu", inJobs: "Exports", inErrors: "Errors", inRetryQuestion: "A question about retries", inTypedRetryQuestion: "A question about retries that a word answers", inSecret: "A secret",
}

// action is what a key means.
type action uint8

const (
	noAction action = iota
	askHelp
	askCommand
	askFilter
	goBack
	quitOrBack
	quit
	goTab
	goPrevious
	switchProfile
	switchTimes
	pauseLive
	refresh
	problemsOnly
	showErrors
	showJobs
	showActions
	redraw
	suspend
	switchMouse
	takeBack
	showTwin
	goUp
	goDown
	goTop
	goBottom
	pageUp
	pageDown
	halfUp
	halfDown
	goLeft
	goRight
	firstColumn
	lastColumn
	open
	pageBefore
	pageAfter
	sortColumn
	filterColumn
	keepValue
	clearFilters
	chooseColumns
	freezeHere
	narrower
	wider
	mark
	markRange
	markAll
	unmark
	copyCell
	copyRow
	export
	reveal
	showSubscribed
	showInfo
	showMessages
	cancelJob
	addNew
	retry
	remove
	test
	toggleEnabled
	edit
	renewSecret
	nextTab
	previousTab
	nextMatch
	previousMatch
	accept
	decline
	complete
	older
	newer
	toggle
	toggleAll
	moveEarlier
	moveLater
	resetChoice
	hideEmpty
	keysAndMoney
	wrapLines
	saveBytes
	submit
	submitAndTest
	nextField
	previousField
	lineDown
	lineUp
	include
)

// binding is one row of the table of keys, from which dispatch, the line of
// hints and the help are made.
type binding struct {
	scope  scope
	keys   string // as bubbletea names them, separated by blanks; a blank itself is "space"
	action action
	hint   string // in the line of hints; empty for keys that are only in the help
	help   string
	writes bool // it can change something at the service
}

var bindings = keymap{
	{everywhere, "? f1", askHelp, "help", "help for what is on the screen", false},
	{everywhere, ":", askCommand, "go to", "go to a record kind, a tab, or do something by its name", false},
	{everywhere, "/", askFilter, "", "filter rows, or find in a text", false},
	{everywhere, "esc", goBack, "", "one step back", false},
	{everywhere, "q", quitOrBack, "", "back; on the first screen of a tab: quit", false},
	{everywhere, "ctrl+c", quit, "", "quit", false},
	{everywhere, "1 2 3 4 5 6", goTab, "", "the tabs", false},
	{everywhere, "-", goPrevious, "", "what was seen before, and back again", false},
	{everywhere, "@", switchProfile, "", "another profile", false},
	{everywhere, "t", switchTimes, "", "times: ages, local, UTC; those of records stay", false},
	{everywhere, "p", pauseLive, "", "pause what is live, and go on", false},
	{everywhere, "R f5", refresh, "", "fetch again", false},
	{everywhere, "x", showActions, "actions", "everything that can be done here", false},
	{everywhere, "U", takeBack, "", "take a delete back, as long as it waits", false},
	{everywhere, "M", switchMouse, "", "the mouse: clicks here, or selects text", false},
	{everywhere, "ctrl+e", showErrors, "", "the errors so far", false},
	{everywhere, "J", showJobs, "", "the exports of this session", false},
	{everywhere, "ctrl+l", redraw, "", "draw the screen anew", false},
	{everywhere, "ctrl+z", suspend, "", "to the shell; fg comes back", false},
	{everywhere, "c", showTwin, "", "the whctl command that shows the same", false},

	{inLists, "up k", goUp, "", "up", false},
	{inLists, "down j", goDown, "", "down", false},
	{inLists, "g home", goTop, "", "the first row; where rows are live, follow them", false},
	{inLists, "G end", goBottom, "", "the last row", false},
	{inLists, "pgup", pageUp, "", "a page up", false},
	{inLists, "pgdown", pageDown, "", "a page down", false},
	{inLists, "ctrl+u", halfUp, "", "half a page up", false},
	{inLists, "ctrl+d", halfDown, "", "half a page down", false},
	{inLists, "left h", goLeft, "", "to the left", false},
	{inLists, "right l", goRight, "", "to the right", false},

	{inGrids, "0", firstColumn, "", "the first column", false},
	{inGrids, "$", lastColumn, "", "the last column", false},
	{inGrids, "[", pageBefore, "", "a page up", false},
	{inGrids, "]", pageAfter, "", "a page down", false},
	{inGrids, "z", freezeHere, "", "keep the columns up to this one in place", false},
	{inGrids, "<", narrower, "", "a narrower column", false},
	{inGrids, ">", wider, "", "a wider column", false},
	{inGrids, "space", mark, "mark", "mark the row, or take its mark away", false},
	{inGrids, "v", markRange, "", "mark up to the row that was marked last", false},
	{inGrids, "u", unmark, "", "take all marks away", false},
	{inGrids, "y", copyCell, "", "copy the cell", false},
	{inGrids, "Y", copyRow, "", "copy the row as JSON; marked rows with tabs between cells", false},

	{inBrowser, "enter", open, "open", "open the record", false},
	{inBrowser, "s", sortColumn, "sort", "sort by this column: up, down, not", false},
	{inBrowser, "f", filterColumn, "filter", "filter by this column", false},
	{inBrowser, "=", keepValue, "this value", "keep the rows with this value", false},
	{inBrowser, "F", clearFilters, "", "no filters", false},
	{inBrowser, "C", chooseColumns, "columns", "choose and order columns", false},
	{inBrowser, "e", export, "export", "write rows to a file", false},

	{inKinds, "enter", open, "open", "open the rows of this kind", false},
	{inKinds, "/", askFilter, "search", "only the kinds with a word", false},
	{inKinds, "y", copyCell, "", "copy the name", false},

	{inRecord, "enter tab right l", nextTab, "next tab", "fields, JSON, request", false},
	{inRecord, "shift+tab left h", previousTab, "", "the tab before", false},
	{inRecord, "[", pageBefore, "previous", "the record before", false},
	{inRecord, "]", pageAfter, "next", "the record after", false},
	{inRecord, "w", wrapLines, "wrap", "long values on several lines, or on one", false},
	{inRecord, "o", saveBytes, "", "write what a field of bytes holds to a file", false},
	{inRecord, "n", nextMatch, "", "the next match", false},
	{inRecord, "N", previousMatch, "", "the match before", false},
	{inRecord, "y", copyCell, "copy", "copy the value", false},
	{inRecord, "Y", copyRow, "copy JSON", "copy the record as JSON", false},

	{inHome, "enter", open, "open", "open what is selected", false},
	{inHome, "i", showInfo, "endpoint", "the subscription of the selected endpoint, and how deliveries to it stand", false},
	{inHome, "!", problemsOnly, "problems", "the messages that failed", false},

	{inSubscribers, "enter", open, "open", "the subscriptions", false},
	{inSubscribers, "m", showMessages, "messages", "all messages of the subscriber", false},
	{inSubscribers, "n", addNew, "new", "add a subscriber", true},
	{inSubscribers, "E", edit, "change", "change its name", true},
	{inSubscribers, "o", toggleEnabled, "on/off", "enable or disable", true},
	{inSubscribers, "D", remove, "delete", "delete with its subscriptions and messages", true},
	{inSubscribers, "y", copyCell, "copy id", "copy the SubscriberID, which is its key", false},

	{inSubscriptions, "enter", open, "messages", "the messages", false},
	{inSubscriptions, "i", showInfo, "info", "all that is known of the subscription, and how deliveries stand", false},
	{inSubscriptions, "n", addNew, "new", "add a subscription", true},
	{inSubscriptions, "E", edit, "change", "change which events go where, or how", true},
	{inSubscriptions, "T", test, "test", "send a test message", true},
	{inSubscriptions, "o", toggleEnabled, "on/off", "enable or disable", true},
	{inSubscriptions, "W", renewSecret, "", "sign with a new secret", true},
	{inSubscriptions, "D", remove, "delete", "delete, and cancel what is pending", true},
	{inSubscriptions, "y", copyCell, "copy id", "copy the SubscriptionID", false},

	{inSubscription, "enter", open, "messages", "the messages", false},
	{inSubscription, "E", edit, "change", "change which events go where, or how", true},
	{inSubscription, "T", test, "test", "send a test message", true},
	{inSubscription, "o", toggleEnabled, "on/off", "enable or disable", true},
	{inSubscription, "W", renewSecret, "secret", "sign with a new secret", true},
	{inSubscription, "D", remove, "delete", "delete, and cancel what is pending", true},
	{inSubscription, "v", reveal, "reveal", "show what is masked of its URL", false},
	{inSubscription, "[", pageBefore, "previous", "the subscription before", false},
	{inSubscription, "]", pageAfter, "next", "the subscription after", false},
	{inSubscription, "n", nextMatch, "", "the next match", false},
	{inSubscription, "N", previousMatch, "", "the match before", false},
	{inSubscription, "y", copyCell, "copy id", "copy the SubscriptionID", false},

	{inMessages, "enter", open, "detail", "open the message", false},
	{inMessages, "r", retry, "retry", "send again: the row, or all that are marked", true},
	{inMessages, "D", remove, "delete", "delete: the row, or all that are marked", true},
	{inMessages, "a", markAll, "all", "mark all that match the filter", false},
	{inMessages, "!", problemsOnly, "problems", "failed; failed and waiting; all", false},
	{inMessages, "s", sortColumn, "", "sort by this column: up, down, the newest first", false},
	{inMessages, "f", filterColumn, "", "filter by this column", false},
	{inMessages, "=", keepValue, "this value", "only the same; of To, the subscription", false},
	{inMessages, "F", clearFilters, "", "no filters", false},
	{inMessages, "C", chooseColumns, "", "choose and order columns", false},
	{inMessages, "e", export, "", "write messages to a file", false},
	{inMessages, "y", copyCell, "", "copy the cell; of the status, the MessageID", false},

	{inMessage, "tab right l", nextTab, "next tab", "attempts, body, headers, response, cURL", false},
	{inMessage, "shift+tab left h", previousTab, "", "the tab before", false},
	{inMessage, "r", retry, "retry", "send it again", true},
	{inMessage, "D", remove, "delete", "delete it", true},
	{inMessage, "[", pageBefore, "previous", "the message before", false},
	{inMessage, "]", pageAfter, "next", "the message after", false},
	{inMessage, "n", nextMatch, "", "the next match", false},
	{inMessage, "N", previousMatch, "", "the match before", false},
	{inMessage, "y", copyCell, "", "copy the MessageID", false},
	{inMessage, "Y", copyRow, "copy", "copy what the tab shows", false},
	{inMessage, "e", export, "save body", "write the body to a file", false},
	{inMessage, "v", reveal, "", "show what is masked, as far as the service tells it", false},

	{inEvents, "enter", open, "messages", "the messages of this event", false},
	{inEvents, "n", addNew, "subscribe", "subscribe somebody to this event", true},
	{inEvents, "S", showSubscribed, "who gets it", "the subscriptions that get this event", false},
	{inEvents, "/", askFilter, "search", "only the events with a word", false},
	{inEvents, "y", copyCell, "copy", "copy the name", false},

	{inRequests, "!", problemsOnly, "failed", "only those that failed, or all", false},

	{inText, "up k", goUp, "", "up", false},
	{inText, "down j", goDown, "", "down", false},
	{inText, "g home", goTop, "", "the beginning", false},
	{inText, "G end", goBottom, "", "the end", false},
	{inText, "pgup", pageUp, "", "a page up", false},
	{inText, "pgdown space", pageDown, "", "a page down", false},
	{inText, "/", askFilter, "find", "only the lines with a word", false},
	{inText, "y", copyCell, "", "copy what is to be copied", false},
	{inText, "esc q ? f1", goBack, "close", "close", false},

	{inSecret, "y", copyCell, "copy", "copy the secret", false},
	{inSecret, "up k", goUp, "", "what is above, where it is longer than the screen", false},
	{inSecret, "down j", goDown, "", "what is below", false},
	{inSecret, "esc", goBack, "close", "close: the secret is not shown again", false},

	{inConfirm, "y", accept, "", "yes", false},
	{inConfirm, "up k", goUp, "", "what is above, where it is longer than the screen", false},
	{inConfirm, "down j", goDown, "", "what is below", false},
	{inConfirm, "enter esc n q", decline, "", "no", false},

	{inRetryQuestion, "i", include, "", "with what is scheduled already, or without", false},
	{inTypedRetryQuestion, "tab", include, "", "with what is scheduled already, or without", false},

	{inTypedConfirm, "enter", accept, "", "yes, where the word was typed; else no", false},
	{inTypedConfirm, "up", goUp, "", "what is above, where it is longer than the screen", false},
	{inTypedConfirm, "down", goDown, "", "what is below", false},
	{inTypedConfirm, "esc", decline, "", "no", false},

	{inLine, "enter", submit, "", "do it", false},
	{inLine, "esc", goBack, "", "leave it", false},
	{inLine, "tab", complete, "", "take the first suggestion", false},
	{inLine, "up", older, "", "what was typed before", false},
	{inLine, "down", newer, "", "what was typed after that", false},

	{inColumns, "enter", accept, "apply", "show these columns", false},
	{inColumns, "esc q", goBack, "cancel", "leave it", false},
	{inColumns, "up k", goUp, "", "up", false},
	{inColumns, "down j", goDown, "", "down", false},
	{inColumns, "/", askFilter, "find", "only the fields with a word in their names", false},
	{inColumns, "space", toggle, "toggle", "show this column, or not", false},
	{inColumns, "*", toggleAll, "all", "all columns, or none where all are shown", false},
	{inColumns, "m", keysAndMoney, "money", "only what tells records apart, and amounts", false},
	{inColumns, "K shift+up", moveEarlier, "", "further to the left", false},
	{inColumns, "J shift+down", moveLater, "move", "further to the right", false},
	{inColumns, "r", resetChoice, "reset", "all columns in their own order", false},
	{inColumns, "h", hideEmpty, "hide empty", "hide those that are empty in all rows that are here", false},

	{inForm, "ctrl+s", submit, "do it", "do what the form is for", false},
	{inForm, "enter tab", nextField, "", "the next field, with what is picked; enter behind the last: do it", false},
	{inForm, "shift+tab", previousField, "", "the field before", false},
	{inForm, "down", lineDown, "", "the next of what can be picked, else the next field", false},
	{inForm, "up", lineUp, "", "the one before, else the field before", false},
	{inForm, "ctrl+t", submitAndTest, "test", "do it and send a test message", false},
	{inForm, "esc", goBack, "cancel", "leave it", false},

	{inMenu, "enter", accept, "do it", "do it", false},
	{inMenu, "up k", goUp, "", "up", false},
	{inMenu, "down j", goDown, "", "down", false},
	{inMenu, "esc q x", goBack, "close", "close", false},

	{inJobs, "up k", goUp, "", "up", false},
	{inJobs, "down j", goDown, "", "down", false},
	{inJobs, "D", cancelJob, "cancel it", "cancel the export; its file is taken away", false},
	{inJobs, "y", copyCell, "copy path", "copy the path of the file", false},
	{inJobs, "esc q J", goBack, "close", "close", false},

	{inErrors, "up k", goUp, "", "up", false},
	{inErrors, "down j", goDown, "", "down", false},
	{inErrors, "y", copyCell, "copy", "copy the error with its request id", false},
	{inErrors, "Y", copyRow, "copy all", "copy all errors", false},
	{inErrors, "esc q ctrl+e", goBack, "close", "close", false},
}
