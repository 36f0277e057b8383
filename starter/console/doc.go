// Package console is where people decide: an approval inbox for the browser, and the JSON API that other approval
// interfaces use.
//
// Its one rule: it holds nothing that matters. What it shows is read from Temporal, what it decides is sent there,
// bound to the arguments that were shown, with the name of whoever was authenticated. Several may run side by side, and
// any of them may be restarted; what is lost are sessions.
//
// Everything that a program, a tool or a person wrote is text here and never markup; values under keys that look like
// secrets are masked before they reach a template or the API.
package console
