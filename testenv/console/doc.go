// Package console tests the approval console as people use it: a headless Chromium on the real pages, over an embedded
// Temporal server and a real worker. Without a browser the tests are skipped, but for CODEMODE_BROWSER=required.
package console
