package server_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// broughtIn has, for each stand-in, a package that only what it replaces would bring in.
var broughtIn = map[string]string{
	"auto-scaled-workers": "k8s.io/",
	"aws-config":          "github.com/aws/aws-sdk-go-v2/service/sts",
	"aws-s3":              "github.com/aws/aws-sdk-go-v2/service/internal/checksum",
	"cloud-storage":       "github.com/envoyproxy/",
	"google-api":          "github.com/google/s2a-go",
	"pgx":                 "github.com/jackc/pgx/v5/pgtype",
}

// TestStandInsAreLinked: without them the server brings in three clouds and PostgreSQL, a third of all packages.
func TestStandInsAreLinked(t *testing.T) {
	packages, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err, "is a replace missing in go.mod?")
	for standIn, needless := range broughtIn {
		for _, name := range strings.Fields(string(packages)) {
			require.False(t, strings.HasPrefix(name, needless), "%s is linked instead of standins/%s", name, standIn)
		}
	}
}

func TestEveryStandInIsGuarded(t *testing.T) {
	entries, err := os.ReadDir("../standins")
	require.NoError(t, err)
	for _, entry := range entries {
		require.True(t, !entry.IsDir() || broughtIn[entry.Name()] != "", "add standins/%s to the table above", entry.Name())
	}
}
