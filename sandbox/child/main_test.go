package child

import (
	"os"
	"testing"
)

// noUserNamespaces makes this process, which then runs in a user namespace of its own, refuse any further one.
const noUserNamespaces = "CODEMODE_TEST_NO_USER_NAMESPACES"

func TestMain(m *testing.M) {
	Main()
	if os.Getenv(noUserNamespaces) != "" {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
