// Package web sends the HTTP requests of connectors, one at a time, and tells whether the server may have seen one that
// failed.
//
// Its rule: a request is never sent twice, and redirects are followed only where they keep its meaning and its server.
package web
