package connectors

// Warning is something that was accepted but is probably not meant.
type Warning struct {
	Connector string
	Kind      WarningKind
	Text      string
}

// WarningKind tells warnings apart.
type WarningKind string

// The kinds of warnings.
const (
	WarnUnavailable WarningKind = "unavailable" // the connector's methods could not be loaded
	WarnStale       WarningKind = "stale"       // they may have changed since
	WarnRule        WarningKind = "rule"        // a rule does not do what it seems to
	WarnSchema      WarningKind = "schema"      // an input schema is unusable
	WarnCredential  WarningKind = "credential"  // a credential is not used, or may not go where requests go
	WarnLeftOut     WarningKind = "left out"    // of a document
	WarnRenamed     WarningKind = "renamed"     // a method or parameter has another name than in its document
	WarnUnknown     WarningKind = "unknown"     // what a document means cannot be told
	WarnOther       WarningKind = "other"
)

// Mistake reports whether the operator's configuration is wrong, or does nothing, as long as the warning stands.
func (k WarningKind) Mistake() bool {
	return k == WarnUnavailable || k == WarnRule || k == WarnCredential
}

// Warner is implemented by connectors that accept what is probably not meant.
type Warner interface {
	// Warnings tell the operator what of the methods listed last was left out or
	// changed. It may look through the whole catalogue.
	Warnings() []string
}

// WarningLister is a Warner that tells its warnings apart.
type WarningLister interface {
	Warner
	WarningList() []Warning
}

// WarningList is what Warnings tell, with their kinds: connectors that are not available, rules without effect,
// unusable schemas. It compiles those that methods bring along, but none of [Method.Arguments].
func (s *Set) WarningList() []Warning {
	var list []Warning
	for _, name := range s.names {
		list = append(list, s.slots[name].warnings()...)
	}
	return list
}

// Warnings tell the operator what was accepted but is probably not meant; see [Set.WarningList].
func (s *Set) Warnings() []string {
	var list []string
	for _, w := range s.WarningList() {
		list = append(list, w.Text)
	}
	return list
}

// warned are the warnings of a connector itself.
func warned(name string, c Connector) (list []Warning) {
	if w, ok := as[WarningLister](c); ok {
		return w.WarningList()
	}
	if w, ok := as[Warner](c); ok {
		for _, text := range w.Warnings() {
			list = append(list, Warning{name, WarnOther, text})
		}
	}
	return list
}
