package activities

import (
	"fmt"
	"slices"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// lookupMethods are what programs ask codemode itself. Activities of codemode have names of the same form.
var lookupMethods = []string{
	signals.CatalogueSearch, signals.CatalogueDescribe, runMethod, signals.CatalogueUTCPSearch, signals.CatalogueUTCPList,
	signals.CatalogueUTCPInfo, signals.CatalogueUTCPKeys, signals.CatalogueUTCPInterface, signals.CatalogueUTCPInterfaces,
}

func admitLookup(method string) sandbox.Admission {
	if !slices.Contains(lookupMethods, method) {
		return refused(fmt.Errorf("Tool %q not found", method)) //nolint:staticcheck // the reference's words
	}
	return sandbox.Admission{Class: string(connectors.Read), EveryCall: true}
}

// check looks a call up, checks its arguments, and tells whether it needs a person's approval.
func check(set *connectors.Set, c sandbox.Call) (method *connectors.Bound, approval bool, err error) {
	if method, err = set.Lookup(c.Connector, c.Method); err != nil {
		return nil, false, err
	}
	if err = method.Validate(c.Args); err != nil {
		return nil, false, err
	}
	approval, err = method.NeedsApproval(c.Args)
	return method, approval, err
}

func refused(err error) sandbox.Admission {
	return sandbox.Admission{Refused: &sandbox.CallError{Message: signals.Cut(err.Error(), maxMessage)}, Class: string(signals.Read)}
}

// maxMessage cuts the texts of errors, in bytes.
const maxMessage = 8192
