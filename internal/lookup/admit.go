package lookup

import (
	"errors"
	"slices"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// Methods are what programs ask codemode itself. Activities of codemode have names of the same form.
var Methods = []string{
	signals.CatalogueSearch, signals.CatalogueDescribe, runMethod, signals.CatalogueUTCPSearch,
	signals.CatalogueUTCPList,
	signals.CatalogueUTCPInfo, signals.CatalogueUTCPKeys, signals.CatalogueUTCPInterface,
	signals.CatalogueUTCPInterfaces,
}

func Admit(method string) sandbox.Admission {
	if !slices.Contains(Methods, method) {
		return sandbox.Refuse(errors.New(signals.ToolNotFound(method, "")))
	}
	return sandbox.Admission{Class: signals.Read, EveryCall: true}
}
