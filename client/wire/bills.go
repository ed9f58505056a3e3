package wire

// CustomFieldValue is what one custom field of a bill's stage holds. Of what is
// not known, or not stored, the member is left out.
type CustomFieldValue struct {
	SettingID   string  // of the field
	SettingName *string `json:",omitempty"`
	Contents    *string `json:",omitempty"`
	PluginID    *string `json:",omitempty"` // of the plugin that the field came with
	PluginName  *string `json:",omitempty"`
}
