// Package examples runs the programs of the folder examples with their configurations, as its README says.
package examples
