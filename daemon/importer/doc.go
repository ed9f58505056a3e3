// Package importer copies subscribers, subscriptions, request headers and unfinished
// messages from the .NET service's tables on SQL Server into the store of webhooks.
//
// It only adds objects, with the RecID that they have there. An object that is here
// already stays as it is; differences are reported. Objects that were imported once and
// removed here are not imported again: their RecIDs are kept among the idempotency keys.
// So an import can be repeated, even after it was interrupted.
//
// Objects that delivery refuses for now, because the target guard does not allow their
// address or their event is not published, are imported and reported with the setting
// that allows them: the guard decides at each attempt, and a subscription that was left
// out would be forgotten. Objects that whd cannot store are refused.
package importer
