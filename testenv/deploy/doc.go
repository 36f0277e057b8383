// Package deploy tests what this project is deployed with: manifests, units, dashboards and releases.
package deploy
